/* What a layer changes about its original: one record per change, a removed directory as one. */
#define _GNU_SOURCE
#include "try.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { const Try *tried; int index; char path[TRY_PATH]; size_t length; } Walk;

static char letter(mode_t mode) {
  return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : S_ISFIFO(mode) ? 'p' : S_ISSOCK(mode) ? 's'
      : 'n';
}

static void say_target(int directory, const char *name, const struct stat *facts) {
  char target[TRY_PATH] = "";
  if (facts && S_ISLNK(facts->st_mode)) {
    ssize_t got = readlinkat(directory, name, target, sizeof target - 1);
    target[got < 0 ? 0 : got] = 0;
  }
  fwrite(target, 1, strlen(target) + 1, stdout);
}

/* `above` NULL: removed because its directory is opaque. */
static void tell(Walk *walk, int upper, int lower, const char *name, char kind, const struct stat *above,
    const struct stat *below, const char *parts, char conflict) {
  char up[TRY_MARK] = "w", down[TRY_MARK] = "-";
  struct stat around;
  if (above) upper_mark(above, up);
  if (below) lower_mark(below, down);
  bool gone = kind == 'D';
  long long stamp = lower >= 0 && fstat(lower, &around) == 0
      ? around.st_mtim.tv_sec * 1000000000LL + around.st_mtim.tv_nsec : 0;
  printf("%d %c %c %c %o %o %lld %lld %s %c %lu %lu %s %s %lld", walk->index, kind, below ? letter(below->st_mode)
      : '-', gone ? '-' : letter(above->st_mode),
    below ? below->st_mode & 07777 : 0, gone ? 0 : above->st_mode & 07777, below ? (long long)below->st_size : 0LL, gone
        ? 0LL : (long long)above->st_size,
    *parts ? parts : "-", conflict, below ? (unsigned long)below->st_nlink : 0UL, gone ? 0UL
        : (unsigned long)above->st_nlink, up, down, stamp);
  putchar(0);
  fwrite(walk->path, 1, walk->length + 1, stdout);
  say_target(lower, name, below);
  say_target(upper, name, gone ? NULL : above);
}

static bool is_fresh(const Walk *walk, const struct stat *below) {
    return !is_before(&below->st_ctim, &walk->tried->since); }

/* What is overwritten or removed: did it change underneath? */
static char conflict_of(const Walk *walk, int lower, const char *name, const struct stat *below) {
  if (!S_ISDIR(below->st_mode)) return is_fresh(walk, below) ? 'c' : '-';
  int fd = open_beneath(lower, name, O_RDONLY | O_DIRECTORY);
  char conflict = fd < 0 ? 'm' : changed_within(fd, &walk->tried->since);
  if (fd >= 0) close(fd);
  return conflict;
}

static void compare_files(Walk *walk, int upper, int lower, const char *name, const struct stat *above,
    const struct stat *below) {
  char parts[8] = "", *at = parts;
  int one = openat(upper, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
      other = open_beneath(lower, name, O_RDONLY | O_NONBLOCK);
  if (above->st_size != below->st_size || one < 0 || other < 0 || !same_bytes(one, other)) *at++ = 'd';
  if ((above->st_mode & 07777) != (below->st_mode & 07777)) *at++ = 'm';
  if (above->st_uid != below->st_uid || above->st_gid != below->st_gid) *at++ = 'o';
  if (one >= 0 && other >= 0 && !same_attributes(one, other)) *at++ = 'x';
  if (one >= 0) close(one);
  if (other >= 0) close(other);
  if (*parts) tell(walk, upper, lower, name, 'C', above, below, parts, is_fresh(walk, below) ? 'c' : '-');
}

static void compare_links(Walk *walk, int upper, int lower, const char *name, const struct stat *above,
    const struct stat *below) {
  char one[TRY_PATH] = "", other[TRY_PATH] = "";
  if (readlinkat(upper, name, one, sizeof one - 1) < 0 || readlinkat(lower, name, other, sizeof other - 1) < 0
      || strcmp(one, other) != 0)
    tell(walk, upper, lower, name, 'C', above, below, "d", is_fresh(walk, below) ? 'c' : '-');
}

static void walk_directory(Walk *walk, int upper, int lower, bool opaque, int depth);

static void compare_directory(Walk *walk, int upper, int lower, const char *name, const struct stat *above,
    const struct stat *below, bool opaque, int depth) {
  int one = openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), other = -1;
  if (one < 0) { tell(walk, upper, lower, name, below ? 'C' : 'A', above, below, "d", 'm'); return; }
  if (below && S_ISDIR(below->st_mode)) {
    other = open_beneath(lower, name, O_RDONLY | O_DIRECTORY);
    char parts[4] = "", *at = parts;
    if ((above->st_mode & 01777) != (below->st_mode & 01777)) *at++ = 'm';
    if (other >= 0 && !same_attributes(one, other)) *at++ = 'x';
    if (*parts || other < 0) tell(walk, upper, lower, name, 'C', above, below, parts, other < 0 ? 'm'
        : is_fresh(walk, below) ? 'c' : '-');
  } else if (below) tell(walk, upper, lower, name, 'T', above, below, "d", is_fresh(walk, below) ? 'c' : '-');
  /* A directory that was copied up stood here. */
  else tell(walk, upper, lower, name, 'A', above, NULL, "d", has_mark(one, "origin") ? 'g' : '-');
  walk_directory(walk, one, other, opaque || has_mark(one, "opaque"), depth + 1);
  close(one);
  if (other >= 0) close(other);
}

static void compare(Walk *walk, int upper, int lower, const char *name, bool opaque, int depth) {
  struct stat above, below_facts, *below = NULL;
  if (fstatat(upper, name, &above, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (lower >= 0 && fstatat(lower, name, &below_facts, AT_SYMLINK_NOFOLLOW) == 0) below = &below_facts;
  if (is_whiteout(&above)) {
    if (below) tell(walk, upper, lower, name, 'D', &above, below, "", conflict_of(walk, lower, name, below));
  } else if (S_ISDIR(above.st_mode)) compare_directory(walk, upper, lower, name, &above, below, opaque, depth);
  else if (!below) {
    /* Copied up, and in a directory that changed underneath: it stood here, or was renamed to this name; both cannot
       be told apart. */
    struct stat around;
    int fd = S_ISREG(above.st_mode) ? openat(upper, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    bool copied = fd >= 0 && has_mark(fd, "origin") && lower >= 0 && fstat(lower, &around) == 0
        && !is_before(&around.st_mtim, &walk->tried->since);
    if (fd >= 0) close(fd);
    tell(walk, upper, lower, name, 'A', &above, NULL, "d", copied ? 'g' : '-');
  } else if (below->st_dev == above.st_dev && below->st_ino == above.st_ino) return;
  else if (S_ISREG(above.st_mode) && S_ISREG(below->st_mode)) compare_files(walk, upper, lower, name, &above, below);
  else if (S_ISLNK(above.st_mode) && S_ISLNK(below->st_mode)) compare_links(walk, upper, lower, name, &above, below);
  else tell(walk, upper, lower, name, 'T', &above, below, "d", conflict_of(walk, lower, name, below));
}

static void walk_directory(Walk *walk, int upper, int lower, bool opaque, int depth) {
  size_t count, others = 0, length = walk->length;
  char **names = names_in(upper, &count), **below = opaque && lower >= 0 ? names_in(lower, &others) : NULL;
  for (size_t pass = 0; pass < 2; pass++)
    for (size_t at = 0; at < (pass ? others : count); at++) {
      const char *name = pass ? below[at] : names[at];
      if (pass && has_name(names, count, name)) continue;
      int wrote = snprintf(walk->path + length, sizeof walk->path - length, "%s%s", length ? "/" : "", name);
      struct stat facts;
      if ((size_t)wrote >= sizeof walk->path - length || depth > TRY_DEPTH) {
        walk->path[length] = 0;
        walk->length = length;
        printf("%d X - - 0 0 0 0 - m 0 0 - - 0", walk->index);
        putchar(0);
        fwrite(walk->path, 1, length + 1, stdout);
        fwrite("\0", 1, 2, stdout);
        continue;
      }
      walk->length = length + (size_t)wrote;
      if (!pass) compare(walk, upper, lower, name, opaque, depth);
      else if (fstatat(lower, name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
          tell(walk, upper, lower, name, 'D', NULL, &facts, "", conflict_of(walk, lower, name, &facts));
    }
  free_names(names, count);
  free_names(below, others);
  walk->path[length] = 0;
  walk->length = length;
}

void scan_root(const Try *tried, int index) {
  static Walk walk;
  walk = (Walk){.tried = tried, .index = index};
  const TryRoot *root = &tried->roots[index];
  walk_directory(&walk, root->upper, root->lower, has_mark(root->upper, "opaque"), 0);
}
