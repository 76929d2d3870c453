/* Landlock. In a room it is the second wall: writing (also into named pipes and devices) only where the policy says,
   and no abstract sockets of the machine. On the lower tier, without rooms, it is the only one. A ruleset is made
   once and entered by each command. */
#define _GNU_SOURCE
#include "confine.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NR_CREATE = 444, NR_ADD = 445, NR_RESTRICT = 446 };
struct attr { uint64_t files, network, scoped; };
struct beneath { uint64_t allowed; int32_t fd; } __attribute__((packed));
#define EXECUTE 1ULL
#define WRITE_FILE 2ULL
#define READ_FILE 4ULL
#define READ_DIR 8ULL
#define REFER (1ULL << 13)
#define TRUNCATE (1ULL << 14)
#define MAKE_DEVICES ((1ULL << 6) | (1ULL << 11))
enum { SCOPE_ABSTRACT = 1, SCOPE_SIGNAL = 2 };

long landlock_version(void) { return syscall(NR_CREATE, NULL, 0, 1); }

static int create(const struct attr *attr, long version) {
  return (int)syscall(NR_CREATE, attr, version >= 6 ? 24 : version >= 4 ? 16 : 8, 0);
}

/* Through no link: one that came into the way of a path since it was looked at gives no right to anything. */
static bool allow(int ruleset, const char *path, uint64_t rights) {
  int fd = open_source(path);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES;
  struct stat facts;
  bool ok = fstat(fd, &facts) == 0;
  if (ok && !S_ISDIR(facts.st_mode)) rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
  struct beneath rule = {rights, fd};
  ok = ok && (rights == 0 || syscall(NR_ADD, ruleset, 1, &rule, 0) == 0);
  close(fd);
  return ok;
}

int make_wall(const Policy *policy, bool scoped) {
  long version = landlock_version();
  if (version < 2 || (scoped && version < 6)) { errno = ENOSYS; return -1; }
  struct attr attr = {.files = WRITE_FILE | REFER, .scoped = scoped ? SCOPE_ABSTRACT : 0};
  int ruleset = create(&attr, version);
  if (ruleset < 0) return -1;
  bool ok = allow(ruleset, "/", REFER) && allow(ruleset, "/tmp", WRITE_FILE) && allow(ruleset, "/dev", WRITE_FILE);
  for (int at = 0; ok && at < policy->count; at++)
    if (policy->items[at].kind == WRITE || policy->items[at].kind == TRY)
        ok = allow(ruleset, policy->items[at].path, WRITE_FILE);
  /* The folder of a session is mounted on a file system of the command's own: the nearest directory that stays is
     two above. */
  if (ok && policy->inner) {
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", policy->inner);
    char *slash = strrchr(parent, '/');
    *slash = 0;
    ok = allow(ruleset, parent, WRITE_FILE);
  }
  if (ok) return ruleset;
  close(ruleset);
  return -1;
}

static bool lies_in(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == 0 || length == 1);
}

/* The lower tier. Everything below `directory` may be read but what is hidden: where something hidden lies deeper,
   its neighbours are named one by one. */
static bool allow_reading(int ruleset, const char *directory, const Policy *policy) {
  bool hidden_below = false;
  for (int at = 0; at < policy->count; at++) {
    if (policy->items[at].kind != HIDE) continue;
    if (strcmp(policy->items[at].path, directory) == 0) return true;
    hidden_below |= lies_in(policy->items[at].path, directory);
  }
  struct stat facts;
  if (lstat(directory, &facts) != 0 || S_ISLNK(facts.st_mode)) return true;
  if (!hidden_below) return allow(ruleset, directory, EXECUTE | READ_FILE | READ_DIR);
  DIR *listing = opendir(directory);
  if (!listing) return true;
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(listing));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", strcmp(directory, "/") ? directory : "", entry->d_name) < (int)sizeof path)
        ok = allow_reading(ruleset, path, policy);
  }
  closedir(listing);
  return ok;
}

int make_only_wall(const Policy *policy) {
  long version = landlock_version();
  if (version < 3) { errno = ENOSYS; return -1; }
  uint64_t all = (1ULL << 15) - 1;
  struct attr attr = {.files = all, .network = version >= 4
      && !policy->all_network ? 3 : 0, .scoped = version >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0};
  int ruleset = create(&attr, version);
  if (ruleset < 0) return -1;
  bool ok = true;
  if (!policy->strict) ok = allow_reading(ruleset, "/", policy);
  for (int at = 0; ok && at < policy->count; at++) {
    const Item *item = &policy->items[at];
    if (item->kind == SHOW) ok = allow(ruleset, item->path, EXECUTE | READ_FILE | READ_DIR);
    else if (item->kind == WRITE) ok = allow(ruleset, item->path, all & ~MAKE_DEVICES);
  }
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
      "/dev/tty"};
  for (size_t at = 0; ok && at < sizeof devices / sizeof devices[0]; at++)
      ok = allow(ruleset, devices[at], READ_FILE | WRITE_FILE);
  if (ok && policy->strict) ok = allow(ruleset, "/proc", READ_FILE | READ_DIR);
  if (ok) return ruleset;
  close(ruleset);
  return -1;
}

/* The switches of the kernel are files that root owns. Landlock refuses to open them; a mount of this process alone
   makes them read-only for programs that only ask. Where root may not do that (a container), they are read-only
   already. */
void shield_switches(void) {
  static const char *const switches[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
      "/sys"};
  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return;
  for (size_t at = 0; at < sizeof switches / sizeof switches[0]; at++) {
    int fd = open(switches[at], O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    cover_with(fd, fd, A_RDONLY, true);
    close(fd);
  }
}

bool enter_wall(int ruleset) { return syscall(NR_RESTRICT, ruleset, 0) == 0; }
