/* The holder of a room: keeps its namespaces alive and its covers on. A cover on a file falls off in every namespace
   when the file is replaced outside (git config, npm login): the holder sees the rename and covers again. Between
   the two there is a moment. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 100 };
typedef struct { const char *path, *name; ItemKind kind; } Cover;
static Cover covers[ITEMS];
static int cover_count, changes = -1, root = -1, no_directory = -1, no_file = -1;

static bool lies_in(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* The directory that holds a name, as text. */
static bool parent_of(const Cover *cover, char *parent, size_t room) {
  size_t length = (size_t)(cover->name - cover->path);
  if (length == 0 || length >= room) return false;
  memcpy(parent, cover->path, length);
  parent[length > 1 ? length - 1 : 1] = 0;
  return true;
}

/* A name is covered when it stands on another mount than its directory. Whatever took the cover off, it is put on
   again; a name that is to be hidden is covered also when it comes into being. */
static void look_after(const Cover *cover) {
  char parent[PATH_MAX];
  int fd = open_within(root, cover->path), directory = parent_of(cover, parent, sizeof parent)
      ? open_within(root, parent) : -1;
  struct stat facts;
  bool bare = fd >= 0 && directory >= 0 && mount_id(fd) == mount_id(directory) && fstat(fd, &facts) == 0;
  /* what it leads to is hidden by an item of its own */
  if (bare && cover->kind == HIDE && S_ISLNK(facts.st_mode)) bare = false;
  if (bare && cover->kind == HIDE) cover_with(S_ISDIR(facts.st_mode) ? no_directory
      : no_file, fd, A_RDONLY | A_NOSUID | A_NODEV, false);
  else if (bare) cover_with(fd, fd, cover->kind == PROTECT ? A_RDONLY | A_NOSUID | A_NODEV : 0, true);
  if (fd >= 0) close(fd);
  if (directory >= 0) close(directory);
}

/* One watch per directory that holds a covered name; asking twice for the same gives the same watch. */
static void watch_parents(void) {
  for (int at = 0; at < cover_count; at++) {
    char parent[PATH_MAX];
    if (parent_of(&covers[at], parent, sizeof parent)) inotify_add_watch(changes, parent,
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR);
  }
}

static void look_at_changes(void) {
  char buffer[16384] __attribute__((aligned(8)));
  bool concerned = false;
  for (ssize_t got; (got = read(changes, buffer, sizeof buffer)) > 0;)
    for (char *at = buffer; at < buffer + got;) {
      const struct inotify_event *event = (const struct inotify_event *)at;
      if (event->mask & IN_Q_OVERFLOW) concerned = true;
      for (int n = 0; event->len > 0 && !concerned && n < cover_count; n++)
          concerned = strcmp(covers[n].name, event->name) == 0;
      at += sizeof *event + event->len;
    }
  if (!concerned) return;
  for (int at = 0; at < cover_count; at++) look_after(&covers[at]);
  watch_parents();
}

/* A socket of the machine is covered, also in a root: no mount keeps a program from connecting to it. With the
   machine's network the room's own sockets are on the list as well, so there those in the roots stay. What is only
   tried shows sockets that are dead. */
bool cover_socket(const char *path, const Policy *policy) {
  for (int at = 0; at < policy->count; at++) {
    const Item *item = &policy->items[at];
    if ((item->kind == TRY || (item->kind == WRITE && policy->all_network)) && lies_in(path, item->path)) return true;
    /* A socket that the policy shows by name is given on purpose. */
    if (item->kind == SHOW && strcmp(path, item->path) == 0) return true;
  }
  /* One that is removed as it is covered is looked for again: it may have been made anew. */
  bool covered = false;
  for (int tries = 0; !covered && tries < MOST_TRIES; tries++) {
    int fd = open_following(root, path);
    if (fd < 0) return true;
    struct stat facts;
    covered = fstat(fd, &facts) != 0 || !S_ISSOCK(facts.st_mode)
        || cover_with(no_file, fd, A_RDONLY | A_NOSUID | A_NODEV, false);
    close(fd);
  }
  return covered;
}

/* An order is a list of socket paths, each with its NUL; the answer is one byte: '1' when all of them are out of
   reach. */
static bool take_order(const Policy *policy, int orders) {
  static char text[1 << 17];
  ssize_t got = read(orders, text, sizeof text - 1);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  text[got] = 0;
  bool ok = true;
  for (char *at = text; at < text + got; at += strlen(at) + 1) if (*at == '/') ok &= cover_socket(at, policy);
  for (int at = 0; at < cover_count; at++) look_after(&covers[at]);
  return write(orders, ok ? "1" : "0", 1) == 1;
}

void hold_room(const Policy *policy, int orders) {
  prctl(PR_SET_NAME, "cerith-room");
  root = open("/", O_PATH | O_CLOEXEC);
  changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  no_directory = open(NONE, O_PATH | O_CLOEXEC);
  no_file = open(NOTHING, O_PATH | O_CLOEXEC);
  for (int at = 0; at < policy->count; at++) {
    const Item *item = &policy->items[at];
    if (item->kind != HIDE && item->kind != PROTECT && item->kind != BETWEEN) continue;
    covers[cover_count++] = (Cover){item->path, strrchr(item->path, '/') + 1, item->kind};
  }
  /* First the watches, then the look: nothing can change unseen in between. */
  if (changes >= 0) watch_parents();
  for (int at = 0; at < cover_count; at++) look_after(&covers[at]);
  for (;;) {
    struct pollfd set[2] = {{orders, POLLIN, 0}, {changes, POLLIN, 0}};
    if (poll(set, changes >= 0 ? 2 : 1, -1) < 0 && errno != EINTR) _exit(1);
    if (set[1].revents) look_at_changes();
    if (set[0].revents && !take_order(policy, orders)) _exit(0);
  }
}
