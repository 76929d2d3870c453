/* Which unix sockets of the machine have a path and an ear: streams that listen, datagrams, and those bound by a
   relative name. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_BYTES = 1 << 17, LISTENS = 0x10000, DATAGRAM = 2 };
static char list[2][LIST_BYTES];
static size_t used[2];
static bool lost[2];   /* more than the list can hold */

static void add(int which, const char *path) {
  size_t length = strlen(path) + 1;
  if (used[which] + length > LIST_BYTES) { lost[which] = true; return; }
  memcpy(list[which] + used[which], path, length);
  used[which] += length;
}

/* The kernel tells the name that a socket was bound by. Where that name is gone, or is one of several, the others
   are in the same directory. */
static void add_names(int which, const char *path) {
  struct stat facts;
  add(which, path);
  if (lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode) && facts.st_nlink == 1) return;
  char directory[PATH_MAX], other[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (slash == path || (size_t)(slash - path) >= sizeof directory) return;
  memcpy(directory, path, (size_t)(slash - path));
  directory[slash - path] = 0;
  DIR *listing = opendir(directory);
  if (!listing) return;
  for (struct dirent *entry; (entry = readdir(listing));)
    if ((entry->d_type == DT_SOCK || entry->d_type == DT_UNKNOWN)
        && snprintf(other, sizeof other, "%s/%s", directory, entry->d_name) < (int)sizeof other) add(which, other);
  closedir(listing);
}

static char relative[LIST_BYTES];
static size_t relative_used;

static bool holds(const char *texts, size_t length, const char *text) {
  for (const char *at = texts; at < texts + length; at += strlen(at) + 1) if (strcmp(at, text) == 0) return true;
  return false;
}

/* Each name once, and each directory: how many sockets have it, and how many processes stand there, does not
   matter. */
static void note_relative(int which, const char *name) {
  if (holds(relative, relative_used, name)) return;
  size_t length = strlen(name) + 1;
  if (relative_used + length > LIST_BYTES) { lost[which] = true; return; }
  memcpy(relative + relative_used, name, length);
  relative_used += length;
}

/* The kernel does not say where a relative name was bound: where a process stands that could have done it. */
static void add_relative(int which) {
  DIR *processes = relative_used > 0 ? opendir("/proc") : NULL;
  if (!processes) return;
  for (struct dirent *entry; (entry = readdir(processes));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    char link[300], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%s/cwd", entry->d_name);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/') continue;
    for (const char *name = relative; name < relative + relative_used; name += strlen(name) + 1) {
      int rest = snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
      if (rest <= 0 || (size_t)(length + rest) >= sizeof path) continue;
      struct stat facts;
      bool is_there = lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode);
      if (is_there && !holds(list[which], used[which], path)) add(which, path);
    }
  }
  closedir(processes);
}

unsigned long machine_sockets(const char **found, size_t *length) {
  static unsigned long number = 1;
  static int current;
  int next = !current;
  used[next] = relative_used = 0;
  lost[next] = false;
  char *line = NULL;
  size_t room = 0;
  FILE *file = fopen("/proc/net/unix", "re");
  while (file && getline(&line, &room, file) > 0) {
    unsigned flags = 0, type = 0;
    int at = 0;
    if (scan_text(line, "%*s %*s %*s %x %x %*s %*s %n", &flags, &type, &at) < 2 || at == 0) continue;
    char *path = line + at, *end = strchr(path, '\n');
    if (end) *end = 0;
    if (path[0] == 0 || path[0] == '@' || (!(flags & LISTENS) && type != DATAGRAM)) continue;
    if (path[0] == '/') add_names(next, path);
    else note_relative(next, path);
  }
  add_relative(next);
  free(line);
  if (file) fclose(file);
  if (used[next] != used[current] || memcmp(list[next], list[current], used[next]) != 0) { current = next; number++; }
  *found = list[current];
  *length = used[current];
  return lost[next] ? 0 : number;
}
