/* Puts one name of a layer into its original: whole or not at all, also when this process is killed in between. A
   journal in the layer says what is on its way; the next look at the try finishes it or undoes it. */
#define _GNU_SOURCE
#include "try.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NOREPLACE = 1, EXCHANGE = 2 };
static int rename_how(int from, const char *name, int to, const char *new_name, unsigned how) {
  return (int)syscall(SYS_renameat2, from, name, to, new_name, how);
}

/* Names of one file that came over in this call: they become one file again. */
static struct { dev_t dev; ino_t ino; int index; char *path, *mark; } *brothers;
static size_t brother_count;

/* It was looked at as this file, before its first name went over. */
bool is_brother(const struct stat *above, const char *mark) {
  for (size_t at = 0; at < brother_count; at++)
    if (brothers[at].dev == above->st_dev && brothers[at].ino == above->st_ino
        && (!mark || strcmp(brothers[at].mark, mark) == 0)) return true;
  return false;
}

static bool note(Try *tried, int index, const char *way, const struct stat *thing, const char *path) {
  char text[TRY_PATH + 128];
  int length = snprintf(text, sizeof text, "%s %llu %llu %s", way, thing ? (unsigned long long)thing->st_dev : 0, thing
      ? (unsigned long long)thing->st_ino : 0, path);
  /* One file for the whole call, written over: making and removing one for each name would cost more than the rest. */
  TryRoot *root = &tried->roots[index];
  if (root->journal <= 0) root->journal = openat(root->layer, "journal", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
      0600);
  return root->journal > 0 && length < (int)sizeof text
      && pwrite(root->journal, text, (size_t)length + 1, 0) == length + 1;
}

static void settle(const Try *tried, int index) {
  /* Where even this cannot be written, the next look finds that everything stands as it should. */
  if (tried->roots[index].journal > 0 && pwrite(tried->roots[index].journal, "-", 1, 0) != 1) return;
}

void close_journals(const Try *tried) {
  for (int index = 0; index < tried->count; index++) unlinkat(tried->roots[index].layer, "journal", 0);
}

/* What stands there now, and its directory, are no change underneath. */
static void remember(const Try *tried, int index, int parent, const char *path, const char *name) {
  char text[2 * (TRY_PATH + TRY_MARK)], mark[TRY_MARK];
  struct stat facts, around;
  int length = 0;
  if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    lower_mark(&facts, mark);
    length = snprintf(text, sizeof text, "%d %s %s", index, mark, path) + 1;
  }
  if (fstat(parent, &around) == 0)
    length += snprintf(text + length, sizeof text - (size_t)length, "%d p%lld %.*s", index,
        around.st_mtim.tv_sec * 1000000000LL + around.st_mtim.tv_nsec,
      name == path ? 0 : (int)(name - path - 1), path) + 1;
  if (tried->known >= 0 && write(tried->known, text, (size_t)length) != length) return;
}

/* What was taken out of the original is what was there when it was looked at. */
static bool is_what_was_seen(const Try *tried, int parent, const char *name, const struct stat *seen, bool forced) {
  struct stat now;
  if (fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) != 0 || now.st_ino != seen->st_ino || now.st_dev != seen->st_dev)
      return false;
  if (!S_ISDIR(now.st_mode)) return now.st_size == seen->st_size
      && memcmp(&now.st_mtim, &seen->st_mtim, sizeof now.st_mtim) == 0;
  int fd = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
  char changed = fd < 0 ? 'm' : changed_within(fd, &tried->since);
  if (fd >= 0) close(fd);
  return changed == '-' || (forced && changed == 's');
}

static const char *failed_with(const char *what) { return errno == EEXIST || errno == ENOENT ? "moved" : what; }

/* Not all of it could be removed: what is left stands in its place again. */
static const char *put_back(int from, const char *aside, int to, const char *name, unsigned how) {
  int saved = errno;
  rename_how(from, aside, to, name, how);
  errno = saved;
  return "remove";
}

/* Layer and original lie on one mount: the thing itself goes over, in one step. NULL, "elsewhere", or what failed. */
static const char *move_over(Try *tried, int index, const char *path, int upper, int lower, const char *name,
    const struct stat *above, const struct stat *below, bool forced) {
  if (!note(tried, index, "x", above, path)) return "journal";
  if (rename_how(upper, name, lower, name, below ? EXCHANGE : NOREPLACE) != 0)
      return errno == EXDEV || errno == EINVAL ? "elsewhere" : failed_with("rename");
  if (!below) return NULL;
  if (is_what_was_seen(tried, upper, name, below, forced))
      return remove_tree(upper, name) ? NULL : put_back(upper, name, lower, name, EXCHANGE);
  return rename_how(upper, name, lower, name, EXCHANGE) == 0 ? "moved" : "rename";
}

static bool copy_file(Try *tried, int lower, int from, const struct stat *above) {
  int to = openat(lower, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  bool nameless = to >= 0;
  if (to < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
      to = openat(lower, tried->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (to < 0) return false;
  struct stat made;
  struct timespec times[2] = {above->st_atim, above->st_mtim};
  bool ok = copy_bytes(from, to) && fstat(to, &made) == 0;
  if (ok && (made.st_uid != above->st_uid || made.st_gid != above->st_gid))
      ok = fchown(to, above->st_uid, above->st_gid) == 0;
  ok = ok && copy_attributes(from, to) && fchmod(to, above->st_mode & 01777) == 0 && futimens(to, times) == 0
      && fdatasync(to) == 0;
  if (ok && nameless) {
    char place[64];
    snprintf(place, sizeof place, "/proc/self/fd/%d", to);
    ok = linkat(AT_FDCWD, place, lower, tried->fresh, AT_SYMLINK_FOLLOW) == 0;
  }
  int saved = errno;
  close(to);
  errno = saved;
  return ok;
}

static bool copy_link(Try *tried, int lower, int upper, const char *name, const struct stat *above) {
  char target[TRY_PATH];
  ssize_t got = readlinkat(upper, name, target, sizeof target - 1);
  if (got < 0) return false;
  target[got] = 0;
  struct timespec times[2] = {above->st_atim, above->st_mtim};
  return symlinkat(target, lower, tried->fresh) == 0 && utimensat(lower, tried->fresh, times, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool copy_directory(Try *tried, int lower, int from, const struct stat *above) {
  if (mkdirat(lower, tried->fresh, 0700) != 0) return false;
  int to = openat(lower, tried->fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat made;
  bool ok = to >= 0 && fstat(to, &made) == 0;
  if (ok && (made.st_uid != above->st_uid || made.st_gid != above->st_gid))
      ok = fchown(to, above->st_uid, above->st_gid) == 0;
  /* A directory inherits the group of its parent where that is set; no command gives it such a bit. */
  ok = ok && copy_attributes(from, to) && fchmod(to, (above->st_mode & 01777) | (made.st_mode & S_ISGID)) == 0;
  int saved = errno;
  if (to >= 0) close(to);
  errno = saved;
  return ok;
}

static bool make_fresh(Try *tried, int upper, int lower, const char *name, int from, const struct stat *above) {
  for (size_t at = 0; S_ISREG(above->st_mode) && at < brother_count; at++) {
    if (brothers[at].dev != above->st_dev || brothers[at].ino != above->st_ino) continue;
    const char *other;
    int parent = open_parent(tried->roots[brothers[at].index].lower, brothers[at].path, &other);
    bool linked = parent >= 0 && linkat(parent, other, lower, tried->fresh, 0) == 0;
    if (parent >= 0) close(parent);
    if (linked) return true;
  }
  if (S_ISREG(above->st_mode)) return copy_file(tried, lower, from, above);
  return S_ISLNK(above->st_mode) ? copy_link(tried, lower, upper, name, above)
      : copy_directory(tried, lower, from, above);
}

/* Another mount, another name of the same file, or a directory: made anew beside its place, then put there. */
static const char *copy_over(Try *tried, int index, const char *path, int upper, int lower, const char *name, int from,
    const struct stat *above, const struct stat *below, const char *mark, bool forced) {
  struct stat made;
  if (!note(tried, index, "c", NULL, path)) return "journal";
  if (!remove_tree(lower, tried->fresh)) return "remove";
  if (!make_fresh(tried, upper, lower, name, from, above)) {
    int saved = errno;
    remove_tree(lower, tried->fresh);
    errno = saved;
    return "copy";
  }
  if (fstatat(lower, tried->fresh, &made, AT_SYMLINK_NOFOLLOW) != 0 || !note(tried, index, "c", &made, path))
      return "journal";
  int placed = rename_how(lower, tried->fresh, lower, name, below ? EXCHANGE : NOREPLACE);
  bool plain = placed != 0 && errno == EINVAL && !(below && (S_ISDIR(below->st_mode) || S_ISDIR(made.st_mode)));
  if (plain && (!below || is_what_was_seen(tried, lower, name, below, forced)))
      placed = renameat(lower, tried->fresh, lower, name);
  const char *failed = placed == 0 ? NULL : failed_with("rename");
  if (!failed && below && !plain && !is_what_was_seen(tried, lower, tried->fresh, below, forced))
    failed = rename_how(lower, tried->fresh, lower, name, EXCHANGE) == 0 ? "moved" : "rename";
  int saved = errno;
  if (!remove_tree(lower, tried->fresh) && !failed) {
    failed = put_back(lower, tried->fresh, lower, name, EXCHANGE);
    saved = errno;
    remove_tree(lower, tried->fresh);
  }
  errno = saved;
  if (failed) return failed;
  /* what it covered is gone; what lies in it follows */
  if (S_ISDIR(above->st_mode)) fremovexattr(from, "user.overlay.opaque");
  else if (unlinkat(upper, name, 0) != 0) return "remove";
  if (S_ISREG(above->st_mode) && above->st_nlink > 1 && !is_brother(above, NULL)) {
    brothers = realloc(brothers, (brother_count + 1) * sizeof *brothers);
    if (!brothers) abort();
    brothers[brother_count].dev = above->st_dev;
    brothers[brother_count].ino = above->st_ino;
    brothers[brother_count].index = index;
    brothers[brother_count].mark = strdup(mark);
    if (!(brothers[brother_count].path = strdup(path)) || !brothers[brother_count].mark) abort();
    brother_count++;
  }
  return NULL;
}

/* A directory that is there on both sides: its mode and attributes. */
static const char *change_directory(int lower, const char *name, int from, const struct stat *above,
    const struct stat *below) {
  int to = openat(lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (to < 0) return "moved";
  struct stat now;
  bool same = fstat(to, &now) == 0 && now.st_ino == below->st_ino && now.st_dev == below->st_dev;
  bool ok = same && copy_attributes(from, to) && fchmod(to, (above->st_mode & 01777) | (below->st_mode & S_ISGID)) == 0;
  int saved = errno;
  close(to);
  errno = saved;
  return ok ? NULL : same ? "mode" : "moved";
}

const char *install(Try *tried, int index, const char *path, const struct stat *above, const struct stat *below,
    const char *mark, bool forced) {
  const TryRoot *root = &tried->roots[index];
  const char *name, *failed;
  int upper = open_parent(root->upper, path, &name), lower = open_parent(root->lower, path, &name), from = -1;
  if (upper < 0 || lower < 0) failed = lower < 0 ? "way" : "layer";
  else if (!S_ISLNK(above->st_mode) && (from = openat(upper, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) < 0)
      failed = "layer";
  else if (S_ISDIR(above->st_mode) && below && S_ISDIR(below->st_mode))
      failed = change_directory(lower, name, from, above, below);
  else {
    if (S_ISREG(above->st_mode)) {
      strip_layer_marks(from);
      if (above->st_mode & 06000) fchmod(from, above->st_mode & 01777);
    }
    /* One of several names would tie the layer to the original: a later write there would be one here. */
    bool alone = !S_ISDIR(above->st_mode) && above->st_nlink == 1 && !is_brother(above, NULL);
    failed = alone ? move_over(tried, index, path, upper, lower, name, above, below, forced) : "elsewhere";
    if (failed && strcmp(failed, "elsewhere") == 0) failed =
        copy_over(tried, index, path, upper, lower, name, from, above, below, mark, forced);
    int saved = errno;
    settle(tried, index);
    errno = saved;
  }
  if (!failed) remember(tried, index, lower, path, name);
  int saved = errno, open_ones[] = {upper, lower, from};
  for (size_t at = 0; at < 3; at++) if (open_ones[at] >= 0) close(open_ones[at]);
  errno = saved;
  return failed;
}

const char *remove_below(Try *tried, int index, const char *path, const struct stat *below, bool forced) {
  const TryRoot *root = &tried->roots[index];
  const char *name, *failed = NULL;
  int upper = open_parent(root->upper, path, &name), lower = open_parent(root->lower, path, &name);
  if (upper < 0 || lower < 0) failed = lower < 0 ? "way" : "layer";
  else if (!note(tried, index, "d", below, path)) failed = "journal";
  else if (!remove_tree(lower, tried->old)) failed = "remove";
  else if (renameat(lower, name, lower, tried->old) != 0) failed = failed_with("rename");
  else if (!is_what_was_seen(tried, lower, tried->old, below, forced))
    failed = rename_how(lower, tried->old, lower, name, NOREPLACE) == 0 ? "moved" : "rename";
  else if (!remove_tree(lower, tried->old)) failed = put_back(lower, tried->old, lower, name, NOREPLACE);
  else if (unlinkat(upper, name, 0) != 0) failed = "remove";
  int saved = errno;
  settle(tried, index);
  if (!failed) remember(tried, index, lower, path, name);
  if (upper >= 0) close(upper);
  if (lower >= 0) close(lower);
  errno = saved;
  return failed;
}

static bool recover_one(Try *tried, int index) {
  const TryRoot *root = &tried->roots[index];
  char text[TRY_PATH + 128];
  int fd = openat(root->layer, "journal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno == ENOENT;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  text[got < 0 ? 0 : got] = 0;
  char way;
  unsigned long long dev, ino;
  int at = 0;
  if (scan_text(text, "%c %llu %llu%n", &way, &dev, &ino, &at) != 3 || text[at] != ' ') {
      unlinkat(root->layer, "journal", 0); return true; }
  const char *path = text + at + 1, *name;
  int upper = open_parent(root->upper, path, &name), lower = open_parent(root->lower, path, &name);
  struct stat there, above;
  bool came = lower >= 0 && ino != 0 && fstatat(lower, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == ino
      && there.st_dev == dev;
  bool ok = lower >= 0;
  /* It stands in its place: what it took the place of, and what it was copied from, go. */
  if (way == 'x' && came && upper >= 0) ok = remove_tree(upper, name);
  if (way == 'c' && lower >= 0) ok = remove_tree(lower, tried->fresh);
  if (way == 'c' && came && upper >= 0 && fstatat(upper, name, &above, AT_SYMLINK_NOFOLLOW) == 0) {
    int own = S_ISDIR(above.st_mode) ? openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (own >= 0) { fremovexattr(own, "user.overlay.opaque"); close(own); }
    else ok = remove_tree(upper, name);
  }
  /* Moved aside, and not yet removed: removed now if it is the one that was meant, and put back otherwise. */
  if (way == 'd' && lower >= 0 && fstatat(lower, tried->old, &there, AT_SYMLINK_NOFOLLOW) == 0)
    ok = there.st_ino == ino && there.st_dev == dev ? remove_tree(lower, tried->old)
        : rename_how(lower, tried->old, lower, name, NOREPLACE) == 0;
  if (upper >= 0) close(upper);
  if (lower >= 0) close(lower);
  if (ok) unlinkat(root->layer, "journal", 0);
  return ok;
}

bool is_unfinished(const Try *tried) {
  for (int index = 0; index < tried->count; index++) if (faccessat(tried->roots[index].layer, "journal", F_OK, 0) == 0)
      return true;
  return false;
}

bool recover(Try *tried) {
  bool ok = true;
  for (int index = 0; index < tried->count; index++) ok &= recover_one(tried, index);
  return ok;
}
