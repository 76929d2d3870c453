/* Builds a room: namespaces first, then its files, all of them below a stage in memory that becomes the root at the
   end. */
#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAGE "/tmp"
#define NEW STAGE "/new"
enum { PROXY_PORT = 3128 };

static int new_root = -1, no_directory = -1, no_file = -1;
static int filled[ITEMS], filled_count;   /* covers in memory that get mount points, and are closed at the end */

static bool put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return ok;
}

bool keep_identity(uid_t uid, gid_t gid) {
  char text[64];
  if (!put("/proc/self/setgroups", "deny")) return false;
  snprintf(text, sizeof text, "%u %u 1", uid, uid);
  if (!put("/proc/self/uid_map", text)) return false;
  snprintf(text, sizeof text, "%u %u 1", gid, gid);
  return put("/proc/self/gid_map", text);
}

static bool loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strcpy(request.ifr_name, "lo");
  bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  if (fd >= 0) close(fd);
  return ok;
}

/* Belongs to the room's network, is accepted by a process outside: no file and no further process is needed between
   them. */
static int listen_inside(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons(PROXY_PORT),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd >= 0 && bind(fd, (struct sockaddr *)&where, sizeof where) == 0 && listen(fd, 128) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

enum { SHARED_BYTES = 512 << 20, BYTES_PER_FILE = 2048 };

/* Of a file system in memory that commands write to. Empty files take none of its bytes, so they are counted. */
static void own_memory(char *options, size_t room, long long bytes, bool limited) {
  int length = snprintf(options, room, "mode=1777");
  if (bytes > 0) length += snprintf(options + length, room - (size_t)length, ",size=%lld", bytes);
  if (limited) snprintf(options + length, room - (size_t)length, ",nr_inodes=%lld", bytes / BYTES_PER_FILE + 64);
}

static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty"};

/* A /dev of harmless devices; its terminals and its shared memory are the room's own. */
static const char *make_devices(const Policy *policy, const int *sources) {
  char path[64], options[96];
  if (mkdir(STAGE "/dev", 0755) != 0 || mount("dev", STAGE "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC,
      "mode=755,size=64k") != 0) return "dev";
  for (size_t at = 0; at < sizeof DEVICES / sizeof DEVICES[0]; at++) {
    snprintf(path, sizeof path, STAGE "/dev/%s", DEVICES[at]);
    if (mknod(path, S_IFREG | 0666, 0) != 0) return "a device";
    int target = open(path, O_PATH | O_CLOEXEC);
    if (target < 0 || sources[at] < 0 || !place_mount(sources[at], target)) return "a device";
    close(target);
  }
  static const char *const links[][2] = {{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"},
      {"/proc/self/fd/1", "stdout"},
    {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}};
  for (size_t at = 0; at < sizeof links / sizeof links[0]; at++) {
    snprintf(path, sizeof path, STAGE "/dev/%s", links[at][1]);
    if (symlink(links[at][0], path) != 0) return "dev";
  }
  if (mkdir(STAGE "/dev/pts", 0755) != 0 || mount("devpts", STAGE "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
      "newinstance,ptmxmode=0666,mode=620") != 0) return "devpts";
  /* Two empty things that the holder covers with; they outlive the stage. */
  if (mkdir(STAGE "/dev/.cerith", 0755) != 0 || mkdir(STAGE "/dev/.cerith/none", 0555) != 0
      || mknod(STAGE "/dev/.cerith/nothing", S_IFREG | 0444, 0) != 0) return "dev";
  bool limited = policy->tmp_bytes > 0 && policy->tmp_bytes < SHARED_BYTES;
  own_memory(options, sizeof options, limited ? policy->tmp_bytes : SHARED_BYTES, limited);
  if (mkdir(STAGE "/dev/shm", 01777) != 0 || mount("shm", STAGE "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options)
      != 0) return "shared memory";
  int made = open(STAGE "/dev", O_PATH | O_CLOEXEC), target = open_within(new_root, "/dev");
  /* Not the devices below it: those stay writable, the directory does not. */
  bool ok = made >= 0 && target >= 0 && change_mount(made, A_RDONLY, false) && cover_with(made, target, 0, true);
  if (made >= 0) close(made);
  if (target >= 0) close(target);
  return ok ? NULL : "dev";
}

static bool holds_later(const Policy *policy, int at) {
  size_t length = strlen(policy->items[at].path);
  for (int next = at + 1; next < policy->count; next++) {
    const Item *item = &policy->items[next];
    if (item->kind != BLANK && item->kind != LAYER && strncmp(item->path, policy->items[at].path, length) == 0
        && item->path[length] == '/') return true;
  }
  return policy->inner && strncmp(policy->inner, policy->items[at].path, length) == 0 && policy->inner[length] == '/';
}

/* Mounts a file system in memory over a directory of the new root; mount points can be made in it until the end. */
static bool fill(int target, const char *options) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", target);
  return mount("room", path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

static const char *hide(const Policy *policy, int at) {
  const char *path = policy->items[at].path;
  int target = open_within(new_root, path);
  /* In a /tmp of the room's own it is not there yet, but something that lies in it will be. */
  if (target < 0 && errno == ENOENT && holds_later(policy, at) && make_within(new_root, path, true))
      target = open_within(new_root, path);
  if (target < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EROFS ? NULL : "hide";
  struct stat facts;
  bool ok = fstat(target, &facts) == 0;
  if (ok && S_ISLNK(facts.st_mode)) { close(target); return NULL; }   /* its target is an item of its own */
  if (ok && S_ISDIR(facts.st_mode) && holds_later(policy, at)) {
    ok = filled_count < ITEMS && fill(target, "mode=755,size=1m");
    if (ok) ok = (filled[filled_count++] = open_within(new_root, path)) >= 0;
  } else if (ok) ok = cover_with(S_ISDIR(facts.st_mode) ? no_directory
      : no_file, target, A_RDONLY | A_NOSUID | A_NODEV, false);
  int saved = errno;
  close(target);
  errno = saved;
  return ok ? NULL : "hide";
}

/* The upper layer of a view holds a whiteout for every blank name, so that the name is absent whatever is put there
   outside. */
static bool blank_out(const char *layer, const char *name) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", layer, name) >= (int)sizeof path) return false;
  for (char *slash = path + strlen(layer) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = 0;
    bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return mknod(path, S_IFCHR, 0) == 0 || errno == EEXIST;
}

static const char *show_view(Policy *policy, int at, unsigned *lacks) {
  char layer[64], options[200], place[64];
  Item *item = &policy->items[at];
  struct stat facts;
  if (fstat(item->fd, &facts) != 0) return "view";
  snprintf(layer, sizeof layer, STAGE "/view%d", at);
  if (mkdir(layer, facts.st_mode & 0777) != 0) return "view";
  for (int next = at + 1; next < policy->count && policy->items[next].kind == BLANK; next++)
    if (!blank_out(layer, policy->items[next].path)) return "blank";
  int target = open_within(new_root, item->path);
  if (target < 0) return "view";
  snprintf(options, sizeof options, "lowerdir=%s:/proc/self/fd/%d,userxattr", layer, item->fd);
  snprintf(place, sizeof place, "/proc/self/fd/%d", target);
  bool ok = mount("view", place, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, options) == 0;
  close(target);
  /* Something is mounted below it that the kernel would have to uncover: then each name is covered where it stands. */
  if (!ok) *lacks |= LACKS_VIEW;
  for (int next = at + 1; !ok && next < policy->count && policy->items[next].kind == BLANK; next++) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", item->path, policy->items[next].path) >= (int)sizeof path) return "blank";
    char *kept = strdup(path);
    if (!kept) return "blank";
    policy->items[next] = (Item){HIDE, kept, -1};
    const char *failed = hide(policy, next);
    if (failed) return failed;
  }
  return NULL;
}

static const char *apply(Policy *policy, int at, unsigned *lacks) {
  Item *item = &policy->items[at];
  if (item->kind == BLANK || item->kind == LAYER) return NULL;
  if (item->kind == HIDE) return hide(policy, at);
  struct stat facts;
  if (item->fd >= 0 && fstat(item->fd, &facts) != 0) return "stat";
  if (item->kind == VIEW) return make_within(new_root, item->path, true) ? show_view(policy, at, lacks) : "view";
  if (item->kind == SHOW || item->kind == WRITE || item->kind == TRY) {
    if (!make_within(new_root, item->path, S_ISDIR(facts.st_mode))) return "mount point";
    int target = open_within(new_root, item->path);
    if (target >= 0 && item->kind == TRY) {
      const char *failed = lay_over(target, item->fd, policy->items[at + 1].fd);
      int saved = errno;
      close(target);
      errno = saved;
      return failed;
    }
    unsigned long long flags = A_NOSUID | A_NODEV | (item->kind == SHOW ? A_RDONLY : 0);
    bool ok = target >= 0 && cover_with(item->fd, target, flags, true);
    int saved = errno;
    if (target >= 0) close(target);
    errno = saved;
    return ok ? NULL : item->kind == SHOW ? "show" : "write";
  }
  /* BETWEEN and PROTECT: bound onto itself. What is a mount point can be neither moved nor removed; a link too, and
     it still leads on. */
  int target = open_within(new_root, item->path);
  if (target < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? NULL : "protect";
  bool ok = cover_with(target, target, item->kind == PROTECT ? A_RDONLY | A_NOSUID | A_NODEV : 0, true);
  int saved = errno;
  close(target);
  errno = saved;
  return ok ? NULL : "protect";
}

/* Links of the root directory (bin, lib ...) are part of a system; they lead nowhere but into what is shown. */
static bool copy_links(void) {
  static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
  char text[256], path[64];
  for (size_t at = 0; at < sizeof names / sizeof names[0]; at++) {
    ssize_t length = readlink(names[at], text, sizeof text - 1);
    if (length <= 0) continue;
    text[length] = 0;
    snprintf(path, sizeof path, NEW "%s", names[at]);
    if (symlink(text, path) != 0) return false;
  }
  return true;
}

static const char *make_root(const Policy *policy, int machine, int processes) {
  if (mkdir(NEW, 0755) != 0 || mkdir(STAGE "/none", 0555) != 0 || mknod(STAGE "/nothing", S_IFREG | 0444, 0) != 0)
      return "stage";
  int target = open(NEW, O_PATH | O_CLOEXEC);
  if (policy->strict) {
    if (!fill(target, "mode=755,size=4m") || !copy_links()) return "root";
    if (mkdir(NEW "/proc", 0755) != 0 || mkdir(NEW "/dev", 0755) != 0 || mkdir(NEW "/tmp", 0755) != 0) return "root";
    if (mkdir(NEW "/var", 0755) != 0 || mkdir(NEW "/var/tmp", 0755) != 0 || mkdir(NEW "/run", 0755) != 0) return "root";
  } else if (!change_mount(machine, A_RDONLY | A_NOSUID | A_NODEV, true) || !place_mount(machine, target))
      return "root";
  close(target);
  new_root = open(NEW, O_PATH | O_CLOEXEC);
  no_directory = open(STAGE "/none", O_PATH | O_CLOEXEC);
  no_file = open(STAGE "/nothing", O_PATH | O_CLOEXEC);
  if (new_root < 0 || no_directory < 0 || no_file < 0) return "root";
  if (!policy->strict) return NULL;
  /* A new /proc may only be mounted where a whole one can be seen already; each command's own covers this one. */
  target = open_within(new_root, "/proc");
  if (target < 0 || !change_mount(processes, A_RDONLY | A_NOSUID | A_NODEV, true) || !place_mount(processes, target))
      return "proc";
  close(target);
  return NULL;
}

static const char *make_temporary(const Policy *policy) {
  char options[96];
  own_memory(options, sizeof options, policy->tmp_bytes, policy->tmp_bytes > 0);
  int target = open_within(new_root, "/tmp");
  if (target < 0 || !fill(target, options)) return "tmp";
  close(target);
  int made = open_within(new_root, "/tmp");
  target = open_following(new_root, "/var/tmp");
  if (target >= 0 && mount_id(target) != mount_id(made) && !cover_with(made, target, 0, false)) return "var-tmp";
  close(made);
  if (target >= 0) close(target);
  return NULL;
}

static const char *make_files(Policy *policy, unsigned *lacks) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return "private";
  /* What is taken from the machine is taken before anything covers it. */
  int sources[sizeof DEVICES / sizeof DEVICES[0]];
  for (size_t at = 0; at < sizeof DEVICES / sizeof DEVICES[0]; at++) {
    char path[64];
    snprintf(path, sizeof path, "/dev/%s", DEVICES[at]);
    int fd = open_source(path);
    sources[at] = fd < 0 ? -1 : clone_mount(fd, false);
    if (fd >= 0) close(fd);
  }
  for (int at = 0; at < policy->count; at++) {
    Item *item = &policy->items[at];
    bool taken = item->kind == SHOW || item->kind == WRITE || item->kind == VIEW || item->kind == TRY
        || item->kind == LAYER;
    if (taken && (item->fd = open_source(item->path)) < 0) return item->path;
    /* Held as a copy: nothing mounted later changes what was taken. */
    if (taken && (item->kind == SHOW || item->kind == WRITE)) {
      int copy = clone_mount(item->fd, true);
      close(item->fd);
      if ((item->fd = copy) < 0) return item->path;
    }
  }
  int inner = policy->inner ? open_source(policy->inner) : -1;
  int inner_copy = inner >= 0 ? clone_mount(inner, false) : -1;
  if (policy->inner && inner_copy < 0) return "session files";
  int slash = open("/", O_PATH | O_CLOEXEC), proc = open("/proc", O_PATH | O_CLOEXEC);
  int machine = policy->strict ? -1 : clone_mount(slash, true), processes = policy->strict ? clone_mount(proc, true)
      : -1;
  if (machine < 0 && processes < 0) return "root";
  if (mount("stage", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=8m") != 0) return "stage";
  const char *failed = make_root(policy, machine, processes);
  if (!failed) failed = make_devices(policy, sources);
  if (!failed) failed = make_temporary(policy);
  for (int at = 0; !failed && at < policy->count; at++) failed = apply(policy, at, lacks);
  if (failed) return failed;
  if (inner_copy >= 0) {
    if (!make_within(new_root, policy->inner, true)) return "session files";
    int target = open_within(new_root, policy->inner);
    if (target < 0 || !change_mount(inner_copy, A_NOSUID | A_NODEV, false) || !place_mount(inner_copy, target))
        return "session files";
    close(target);
  }
  for (int at = 0; at < filled_count; at++) if (!change_mount(filled[at], A_RDONLY, false)) return "hide";
  if (policy->strict && !change_mount(new_root, A_RDONLY, false)) return "root";
  /* The old root goes out of sight for good. */
  if (fchdir(new_root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0
      || chdir("/") != 0) return "pivot";
  /* Covers that the holder puts up later reach the commands' own copies, which are slaves of these mounts. */
  if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) != 0) return "shared";
  for (int at = 0; at < policy->count; at++) if (policy->items[at].fd >= 0) {
      close(policy->items[at].fd); policy->items[at].fd = -1; }
  return NULL;
}

/* A new /proc may be mounted only where a whole one can be seen; in many containers parts of it are covered. Every
   command would fail at its own, so one is tried before any comes. */
static bool can_show_processes(void) {
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid == 0) _exit(mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0
      && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) == 0 ? 0 : errno);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0) if (errno != EINTR) return false;
  if (pid > 0) errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
  return pid > 0 && status == 0;
}

const char *room_build(Policy *policy, RoomParts *parts) {
  *parts = (RoomParts){-1, -1, -1, -1, 0};
  uid_t uid = geteuid();
  gid_t gid = getegid();
  umask(0);
  if (policy->lock && (parts->lock = lock_layers(policy->lock)) < 0) return "try lock";
  /* Files of every owner can be copied up only where their owners exist in the room. */
  pid_t mapper = -1;
  int go = -1;
  bool everyone = policy->lock && uid == 0 && map_everyone(&mapper, &go);
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (policy->all_network ? 0 : CLONE_NEWNET))
      != 0) return "user namespace";
  if (everyone ? !mapped(mapper, go) : !keep_identity(uid, gid)) return "identity";
  if (!policy->all_network && !loopback_up()) return "loopback";
  if (policy->listens && (parts->listener = listen_inside()) < 0) return "listener";
  const char *failed = make_files(policy, &parts->lacks);
  if (failed) return failed;
  if (!can_show_processes()) return "init";
  if (policy->nested) { parts->lacks |= LACKS_WALL; return NULL; }
  /* Without a scope of its own the machine's abstract sockets would be open to a room that has the machine's
     network. */
  parts->wall = make_wall(policy, policy->all_network);
  if (parts->wall >= 0) return NULL;
  parts->lacks |= LACKS_WALL;
  return policy->weaker && !policy->all_network ? NULL : "landlock";
}
