/* Files of a try: opened beneath a root, compared, copied, removed. */
#define _GNU_SOURCE
#include "try.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NR_OPENAT2 = 437, NO_XDEV = 1, NO_MAGICLINKS = 2, NO_SYMLINKS = 4, BENEATH = 8 };
#define CLONE_FILE _IOW(0x94, 9, int)

int open_beneath(int root, const char *path, int flags) {
  struct { uint64_t flags, mode, resolve; } how = {(uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW), 0,
      NO_XDEV | NO_MAGICLINKS | NO_SYMLINKS | BENEATH};
  return (int)syscall(NR_OPENAT2, root, *path ? path : ".", &how, sizeof how);
}

int open_parent(int root, const char *path, const char **name) {
  char directory[TRY_PATH];
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 0, path);
  return open_beneath(root, directory, O_RDONLY | O_DIRECTORY);
}

bool is_whiteout(const struct stat *facts) { return S_ISCHR(facts->st_mode) && facts->st_rdev == makedev(0, 0); }

bool has_mark(int fd, const char *name) {
  char text[64];
  snprintf(text, sizeof text, "user.overlay.%s", name);
  char value[256];
  ssize_t got = fgetxattr(fd, text, value, sizeof value);
  return strcmp(name, "opaque") == 0 ? got == 1 && value[0] == 'y' : got >= 0 || errno == ERANGE;
}

bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* What belongs to the layer, to the kernel or to root alone is no business of a change. */
static bool counts(const char *name) {
  return strncmp(name, "user.overlay.", 13) != 0 && strncmp(name, "security.", 9) != 0
      && strncmp(name, "trusted.", 8) != 0;
}

enum { NAMES = 65536, VALUE = 65536 };

static bool holds_all(int a, int b) {
  static char names[NAMES], one[VALUE], other[VALUE];
  ssize_t length = flistxattr(a, names, sizeof names);
  for (char *at = names; at < names + length; at += strlen(at) + 1) {
    if (!counts(at)) continue;
    ssize_t first = fgetxattr(a, at, one, sizeof one), second = fgetxattr(b, at, other, sizeof other);
    if (first != second || (first > 0 && memcmp(one, other, (size_t)first) != 0)) return false;
  }
  return true;
}

bool same_attributes(int a, int b) { return holds_all(a, b) && holds_all(b, a); }

bool copy_attributes(int from, int to) {
  static char names[NAMES], value[VALUE];
  ssize_t length = flistxattr(from, names, sizeof names);
  if (length < 0) return errno == ENOTSUP;
  for (char *at = names; at < names + length; at += strlen(at) + 1) {
    if (!counts(at)) continue;
    ssize_t got = fgetxattr(from, at, value, sizeof value);
    if (got < 0 || fsetxattr(to, at, value, (size_t)got, 0) != 0) return false;
  }
  /* What is gone in the layer goes. */
  static char others[NAMES];
  length = flistxattr(to, others, sizeof others);
  for (char *at = others; at < others + length; at += strlen(at) + 1)
    if (counts(at) && fgetxattr(from, at, value, sizeof value) < 0 && errno == ENODATA) fremovexattr(to, at);
  return true;
}

void strip_layer_marks(int fd) {
  static char names[NAMES];
  ssize_t length = flistxattr(fd, names, sizeof names);
  for (char *at = names; at < names + length; at += strlen(at) + 1) if (strncmp(at, "user.overlay.", 13) == 0)
      fremovexattr(fd, at);
}

static ssize_t read_whole(int fd, char *buffer, size_t room) {
  size_t got = 0;
  while (got < room) {
    ssize_t more = read(fd, buffer + got, room - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return -1;
    if (more == 0) break;
    got += (size_t)more;
  }
  return (ssize_t)got;
}

bool same_bytes(int a, int b) {
  static char one[1 << 17], other[1 << 17];
  for (;;) {
    ssize_t first = read_whole(a, one, sizeof one), second = read_whole(b, other, sizeof other);
    if (first < 0 || first != second || memcmp(one, other, (size_t)first) != 0) return false;
    if (first == 0) return true;
  }
}

/* Holes stay holes: a file of one terabyte that a command made in no time would fill the disk otherwise. */
bool copy_bytes(int from, int to) {
  if (ioctl(to, CLONE_FILE, from) == 0) return true;
  static char buffer[1 << 18];
  off_t end = lseek(from, 0, SEEK_END), data;
  for (off_t hole = 0; (data = lseek(from, hole, SEEK_DATA)) >= 0;) {
    hole = lseek(from, data, SEEK_HOLE);
    if (hole < 0 || lseek(from, data, SEEK_SET) < 0 || lseek(to, data, SEEK_SET) < 0) return false;
    while (data < hole) {
      size_t room = hole - data < (off_t)sizeof buffer ? (size_t)(hole - data) : sizeof buffer;
      ssize_t got = read_whole(from, buffer, room);
      if (got < 0 || (size_t)got < room) return false;
      data += got;
      for (ssize_t at = 0; at < got;) {
        ssize_t put = write(to, buffer + at, (size_t)(got - at));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
      }
    }
  }
  return errno == ENXIO && end >= 0 && ftruncate(to, end) == 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **names_in(int fd, size_t *count) {
  int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = own < 0 ? NULL : fdopendir(own);
  *count = 0;
  if (!listing) { if (own >= 0) close(own); return NULL; }
  size_t room = 64;
  char **names = malloc(room * sizeof *names);
  for (struct dirent *entry; names && (entry = readdir(listing));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (*count == room) {
      char **grown = realloc(names, (room *= 2) * sizeof *names);
      if (!grown) abort();
      names = grown;
    }
    if (!(names[(*count)++] = strdup(entry->d_name))) abort();
  }
  closedir(listing);
  if (names) qsort(names, *count, sizeof *names, by_name);
  return names;
}

bool has_name(char **names, size_t count, const char *name) {
    return names && bsearch(&name, names, count, sizeof *names, by_name) != NULL; }

void free_names(char **names, size_t count) {
  for (size_t at = 0; names && at < count; at++) free(names[at]);
  free(names);
}

/* A tree can be deeper than there are descriptors: what lies too deep is moved up and removed from there. What is
   mounted in it is another file system, and stays as it is. */
static bool remove_from(int top, int parent, const char *name, int depth, unsigned *moved) {
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  if (depth > TRY_DEPTH) {
    char up[64];
    snprintf(up, sizeof up, ".cerith-deep-%d-%u", (int)getpid(), (*moved)++);
    return renameat(parent, name, top, up) == 0;
  }
  int fd = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
  if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
      fd = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;
  struct stat facts;
  if (fstat(fd, &facts) == 0 && (facts.st_mode & 0700) != 0700) fchmod(fd, 0700);
  size_t count;
  char **names = names_in(fd, &count);
  bool ok = names != NULL;
  for (size_t at = 0; ok && at < count; at++) ok = remove_from(top, fd, names[at], depth + 1, moved);
  free_names(names, count);
  int saved = errno;
  close(fd);
  errno = saved;
  return ok && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool remove_tree(int parent, const char *name) {
  unsigned moved = 0;
  if (!remove_from(parent, parent, name, 0, &moved)) return false;
  for (unsigned at = 0; at < moved; at++) {
    char up[64];
    snprintf(up, sizeof up, ".cerith-deep-%d-%u", (int)getpid(), at);
    if (!remove_from(parent, parent, up, 0, &moved)) return false;
  }
  return true;
}

static char changed_below(int directory, const struct timespec *since, int depth) {
  struct stat facts;
  if (depth > TRY_DEPTH || fstat(directory, &facts) != 0) return 's';
  char found = is_before(&facts.st_mtim, since) ? '-' : 's';
  size_t count;
  char **names = names_in(directory, &count);
  if (!names) return 'm';
  for (size_t at = 0; found != 'm' && at < count; at++) {
    bool there = fstatat(directory, names[at], &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there || !is_before(&facts.st_ctim, since)) found = 's';
    if (!there || !S_ISDIR(facts.st_mode)) continue;
    int fd = open_beneath(directory, names[at], O_RDONLY | O_DIRECTORY);
    char below = fd < 0 ? 'm' : changed_below(fd, since, depth + 1);
    if (below != '-') found = below;
    if (fd >= 0) close(fd);
  }
  free_names(names, count);
  return found;
}

char changed_within(int directory, const struct timespec *since) { return changed_below(directory, since, 0); }

void upper_mark(const struct stat *f, char *mark) {
  if (is_whiteout(f)) { strcpy(mark, "w"); return; }
  if (S_ISDIR(f->st_mode)) snprintf(mark, TRY_MARK, "d%llu.%o", (unsigned long long)f->st_ino, f->st_mode);
  else snprintf(mark, TRY_MARK, "%llu.%o.%lld.%lld.%09ld.%lld.%09ld", (unsigned long long)f->st_ino, f->st_mode,
      (long long)f->st_size,
    (long long)f->st_mtim.tv_sec, f->st_mtim.tv_nsec, (long long)f->st_ctim.tv_sec, f->st_ctim.tv_nsec);
}

void lower_mark(const struct stat *f, char *mark) {
  if (S_ISDIR(f->st_mode)) snprintf(mark, TRY_MARK, "d%llu.%llu.%o", (unsigned long long)f->st_dev,
      (unsigned long long)f->st_ino, f->st_mode);
  else snprintf(mark, TRY_MARK, "%llu.%llu.%o.%lld.%lld.%09ld.%lld.%09ld", (unsigned long long)f->st_dev,
      (unsigned long long)f->st_ino, f->st_mode,
    (long long)f->st_size, (long long)f->st_mtim.tv_sec, f->st_mtim.tv_nsec, (long long)f->st_ctim.tv_sec,
        f->st_ctim.tv_nsec);
}
