/* Accepts what it is told to: each entry with the marks of what a person or a policy looked at. */
#define _GNU_SOURCE
#include "try.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An opaque directory hides everything below it, also what has just been accepted. So it is put into single words
   first: a whiteout for each name that it removes, and its own mark last. */
static void settle_directory(int upper, int lower, int depth) {
  size_t count, others;
  char **names = names_in(upper, &count);
  if (has_mark(upper, "opaque")) {
    char **below = names_in(lower, &others);
    bool ok = below != NULL;
    for (size_t at = 0; ok && at < others; at++) {
      struct stat one, other;
      if (!has_name(names, count, below[at])) ok = mknodat(upper, below[at], S_IFCHR, makedev(0, 0)) == 0;
      else if (fstatat(upper, below[at], &one, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(one.st_mode)
          && fstatat(lower, below[at], &other, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(other.st_mode)) {
        int fd = openat(upper, below[at], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = fd >= 0 && fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) == 0;
        if (fd >= 0) close(fd);
      }
    }
    if (ok) fremovexattr(upper, "user.overlay.opaque");
    free_names(below, others);
  }
  for (size_t at = 0; at < count && depth < TRY_DEPTH; at++) {
    int one = openat(upper, names[at], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), other = one < 0 ? -1
        : open_beneath(lower, names[at], O_RDONLY | O_DIRECTORY);
    if (other >= 0) settle_directory(one, other, depth + 1);
    if (one >= 0) close(one);
    if (other >= 0) close(other);
  }
  free_names(names, count);
}

void settle_opaque(const TryRoot *root) { settle_directory(root->upper, root->lower, 0); }

/* "INDEX FORCE UPPER LOWER", and a path. NULL, or what became of it instead. */
static const char *accept_one(Try *tried, const char *order, const char *path) {
  int index;
  char force, up[TRY_MARK], down[TRY_MARK], now[TRY_MARK] = "-";
  if (scan_text(order, "%d %c %191s %191s", &index, &force, up, down) != 4 || index < 0 || index >= tried->count
      || !*path) { errno = EINVAL; return "order"; }
  const TryRoot *root = &tried->roots[index];
  struct stat above, below;
  const char *name;
  int upper = open_parent(root->upper, path, &name);
  bool has = upper >= 0 && fstatat(upper, name, &above, AT_SYMLINK_NOFOLLOW) == 0;
  if (upper >= 0) close(upper);
  if (!has) return "layer";
  upper_mark(&above, now);
  if (strcmp(now, up) != 0 && !is_brother(&above, up)) return "moved";
  int lower = open_parent(root->lower, path, &name);
  bool stands = lower >= 0 && fstatat(lower, name, &below, AT_SYMLINK_NOFOLLOW) == 0;
  int saved = errno;
  if (lower >= 0) close(lower);
  errno = saved;
  if (lower < 0) return errno == ELOOP || errno == ENOTDIR || errno == EXDEV || errno == ENOENT ? "way" : "open";
  strcpy(now, "-");
  if (stands) lower_mark(&below, now);
  if (strcmp(now, down) != 0) return "moved";
  if (is_whiteout(&above)) return stands ? remove_below(tried, index, path, &below, force == 'f') : NULL;
  if (!S_ISREG(above.st_mode) && !S_ISDIR(above.st_mode) && !S_ISLNK(above.st_mode)) { errno = EPERM; return "kind"; }
  return install(tried, index, path, &above, stands ? &below : NULL, up, force == 'f');
}

bool accept_all(Try *tried) {
  char *order = NULL, *path = NULL;
  size_t room = 0, other = 0;
  for (int index = 0; index < tried->count; index++) {
    syncfs(tried->roots[index].upper);   /* what is renamed into its place is on the disk by then */
    settle_opaque(&tried->roots[index]);
  }
  while (getdelim(&order, &room, 0, stdin) > 0 && getdelim(&path, &other, 0, stdin) > 0) {
    errno = 0;
    const char *failed = accept_one(tried, order, path);
    int error = errno;
    printf("%s %d", failed ? failed : "ok", failed ? error : 0);
    putchar(0);
    fwrite(path, 1, strlen(path) + 1, stdout);
    fflush(stdout);
    /* No room, or no disk any more: the rest is kept, and can be accepted later. */
    if (failed && (error == ENOSPC || error == EDQUOT || error == EIO || error == EROFS)) break;
  }
  close_journals(tried);
  return true;
}
