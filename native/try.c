/* `cerith-helper try VERB DIRECTORY SECONDS NANOSECONDS ROOT...`, each root as DEVICE:INODE:PATH, its layer in a
   folder of the directory that has its number. scan tells changes, read gives contents, accept brings over, remove
   takes the directory away. */
#define _GNU_SOURCE
#include "try.h"
#include "helper.h"
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int fail(const char *what, const char *detail) {
  printf("%s %d", what, errno);
  putchar(0);
  fwrite(detail, 1, strlen(detail) + 1, stdout);
  fflush(stdout);
  return 3;
}

/* A directory that its owner may not read is still his: in a namespace of his own he has the rights of root over his
   own files. */
static void own_everything(void) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) { limit.rlim_cur = limit.rlim_max; setrlimit(RLIMIT_NOFILE, &limit); }
  umask(077);
  if (uid == 0 || unshare(CLONE_NEWUSER) != 0) return;
  keep_identity(uid, gid);
}

static const char *open_root(TryRoot *root, int directory, int index, const char *text) {
  char number[16];
  unsigned long long dev, ino;
  int at = 0;
  snprintf(number, sizeof number, "%d", index);
  if (scan_text(text, "%llu:%llu:%n", &dev, &ino, &at) != 2 || at == 0) { errno = EINVAL; return "root"; }
  root->layer = openat(directory, number, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  root->upper = root->layer < 0 ? -1 : openat(root->layer, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (root->upper < 0) return "layer";
  int held = open_source(text + at);
  root->lower = held < 0 ? -1 : openat(held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat facts;
  if (root->lower < 0 || fstat(root->lower, &facts) != 0) return "root";
  close(held);
  if (facts.st_ino != ino || facts.st_dev != dev) { errno = ESTALE; return "root"; }
  return NULL;
}

/* "SIDE INDEX PATH" -> the size, and so many bytes; -1 for what is no readable file, and no bytes of what is too
   large. */
static void read_contents(const Try *tried, long long most) {
  char *line = NULL;
  size_t room = 0;
  while (getdelim(&line, &room, 0, stdin) > 0) {
    char side;
    int index, at = 0, fd = -1;
    if (scan_text(line, "%c %d%n", &side, &index, &at) == 2 && line[at] == ' ' && index >= 0 && index < tried->count)
      fd = open_beneath(side == 'u' ? tried->roots[index].upper
          : tried->roots[index].lower, line + at + 1, O_RDONLY | O_NONBLOCK);
    struct stat facts;
    long long size = fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? (long long)facts.st_size : -1;
    printf("%lld\n", size > most ? -2LL : size);
    static char buffer[65536];
    for (long long left = size > most ? 0 : size; left > 0;) {
      ssize_t got = read(fd, buffer, left < (long long)sizeof buffer ? (size_t)left : sizeof buffer);
      /* A file that shrank meanwhile is filled up: the size has been said. */
      if (got <= 0) { memset(buffer, 0, sizeof buffer);
          got = left < (long long)sizeof buffer ? (ssize_t)left : (ssize_t)sizeof buffer; }
      fwrite(buffer, 1, (size_t)got, stdout);
      left -= got;
    }
    if (fd >= 0) close(fd);
  }
}

int run_try(int argc, char **argv) {
  static Try tried;
  const char *verb = argv[2], *place = argv[3];
  bool changes = strcmp(verb, "accept") == 0 || strcmp(verb, "remove") == 0, looks = strcmp(verb, "free") == 0;
  char lock_path[TRY_PATH];
  int lock = -1;
  snprintf(lock_path, sizeof lock_path, "%s/lock", place);
  if ((changes || looks) && (lock = lock_layers(lock_path)) < 0) return fail("busy", place);
  if (looks) return 0;
  own_everything();
  int directory = open_source(place);
  if (directory < 0) return fail("layer", place);
  if (strcmp(verb, "remove") == 0) {
    char parent[TRY_PATH];
    snprintf(parent, sizeof parent, "%s", place);
    char *slash = strrchr(parent, '/');
    *slash = 0;
    int above = open_source(parent), held = above < 0 ? -1 : openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return held >= 0 && remove_tree(held, slash + 1) ? 0 : fail("remove", place);
  }
  const char *id = strrchr(place, '/') + 1;
  snprintf(tried.fresh, sizeof tried.fresh, ".cerith-%.40s.new", id);
  snprintf(tried.old, sizeof tried.old, ".cerith-%.40s.old", id);
  tried.since = (struct timespec){atoll(argv[4]), atol(argv[5])};
  tried.known = changes ? openat(directory, "known", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  if (argc - 6 > TRY_ROOTS) { errno = E2BIG; return fail("root", place); }
  for (; tried.count < argc - 6; tried.count++) {
    const char *failed = open_root(&tried.roots[tried.count], directory, tried.count, argv[6 + tried.count]);
    if (failed) return fail(failed, argv[6 + tried.count]);
  }
  static char buffer[1 << 16];
  if (!changes) setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  /* A killed accept is finished or undone before anything is looked at; while a room lives there can be none. */
  if (!changes && is_unfinished(&tried) && (lock = lock_layers(lock_path)) >= 0) recover(&tried);
  if (strcmp(verb, "accept") == 0) return recover(&tried) && accept_all(&tried) ? 0 : fail("recover", place);
  if (strcmp(verb, "scan") == 0) for (int index = 0; index < tried.count; index++) scan_root(&tried, index);
  else if (strcmp(verb, "read") == 0) read_contents(&tried, 4LL << 20);
  else return 2;
  fflush(stdout);
  return 0;
}
