/* The kernel's mount interface by descriptors: a path is looked up once, through no link, and never becomes a string
   again. */
#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The C library of a static build may not know these; the numbers are the same on every architecture. */
enum { NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429, NR_OPENAT2 = 437, NR_MOUNT_SETATTR = 442 };
enum { TREE_CLONE = 1, RECURSIVE = 0x8000, FROM_EMPTY = 4, TO_EMPTY = 0x40 };
enum { NO_MAGICLINKS = 2, NO_SYMLINKS = 4, IN_ROOT = 16 };
enum { TMPFS = 0x01021994 };
struct how { uint64_t flags, mode, resolve; };
struct attr { uint64_t set, clr, propagation, userns_fd; };

static int open_how(int at, const char *path, uint64_t resolve) {
  struct how how = {.flags = O_PATH | O_CLOEXEC | (resolve & NO_SYMLINKS ? O_NOFOLLOW : 0), .resolve = resolve};
  return (int)syscall(NR_OPENAT2, at, path, &how, sizeof how);
}

int open_source(const char *path) { return open_how(AT_FDCWD, path, NO_SYMLINKS | NO_MAGICLINKS); }
int open_within(int root, const char *path) { return open_how(root, path, IN_ROOT | NO_SYMLINKS | NO_MAGICLINKS); }
int open_following(int root, const char *path) { return open_how(root, path, IN_ROOT | NO_MAGICLINKS); }

int clone_mount(int fd, bool deep) {
  return (int)syscall(NR_OPEN_TREE, fd, "", TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | (deep ? RECURSIVE : 0));
}

bool change_mount(int fd, unsigned long long set, bool deep) {
  struct attr attr = {.set = set};
  return syscall(NR_MOUNT_SETATTR, fd, "", AT_EMPTY_PATH | (deep ? RECURSIVE : 0), &attr, sizeof attr) == 0;
}

bool place_mount(int mount, int target) {
  return syscall(NR_MOVE_MOUNT, mount, "", target, "", FROM_EMPTY | TO_EMPTY) == 0;
}

/* The cover carries its flags before it is attached: a change afterwards would not reach copies of the room. */
bool cover_with(int source, int target, unsigned long long set, bool deep) {
  int mount = clone_mount(source, deep);
  if (mount < 0) return false;
  bool ok = (set == 0 || change_mount(mount, set, deep)) && place_mount(mount, target);
  int saved = errno;
  close(mount);
  errno = saved;
  return ok;
}

/* Which mount a descriptor stands on; 0 when unknown. */
long long mount_id(int fd) {
  /* struct statx; stx_mnt_id at byte 144 */
  struct { uint32_t mask; char before[140]; uint64_t id; char after[104]; } facts;
  memset(&facts, 0, sizeof facts);
  if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0x1000 /* STATX_MNT_ID */, &facts) != 0) return 0;
  return (long long)facts.id;
}

static bool is_ours(int fd) {
  struct statfs facts;
  return fstatfs(fd, &facts) == 0 && facts.f_type == TMPFS;
}

/* Makes a mount point where it is missing, only on file systems in memory that the room made: the machine gets no
   ghost files. A private /tmp on disk is the caller's to prepare. */
bool make_within(int root, const char *path, bool directory) {
  char part[PATH_MAX];
  size_t length = strlen(path);
  if (length >= sizeof part) { errno = ENAMETOOLONG; return false; }
  for (size_t at = 1; at <= length; at++) {
    if (path[at] != '/' && path[at] != 0) continue;
    memcpy(part, path, at);
    part[at] = 0;
    int there = open_within(root, part);
    if (there >= 0) { close(there); continue; }
    if (errno != ENOENT) return false;
    char *slash = strrchr(part, '/');
    *slash = 0;
    int parent = slash == part ? fcntl(root, F_DUPFD_CLOEXEC, 3) : open_within(root, part);
    if (parent < 0) return false;
    bool last = at == length, made = false;
    if (!is_ours(parent)) errno = EROFS;
    else if (!last || directory) made = mkdirat(parent, slash + 1, 0755) == 0;
    else made = mknodat(parent, slash + 1, S_IFREG | 0644, 0) == 0;
    int saved = errno;
    close(parent);
    errno = saved;
    if (!made) return false;
  }
  return true;
}
