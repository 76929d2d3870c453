/* Finds every descendant of a process through /proc. A warden is a child subreaper, so daemons that forked twice,
   left the session and cleared their environment are still its descendants: nothing escapes but what the kernel
   itself re-parents. */
#define _GNU_SOURCE
#include "helper.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void list_add(PidList *list, pid_t pid) {
  if (list->count == list->room) {
    size_t room = list->room ? list->room * 2 : 64;
    pid_t *grown = realloc(list->pids, room * sizeof(pid_t));
    if (!grown) return;
    list->pids = grown;
    list->room = room;
  }
  list->pids[list->count++] = pid;
}

/* Children are listed per thread: a process forked by a worker thread stands under that thread. */
void collect_children(pid_t pid, PidList *list) {
  char path[80];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (!tasks) return;
  struct dirent *task;
  while ((task = readdir(tasks))) {
    if (!isdigit((unsigned char)task->d_name[0])) continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
    FILE *file = fopen(path, "re");
    if (!file) continue;
    int child;
    while (fscanf(file, "%d", &child) == 1) list_add(list, (pid_t)child);
    fclose(file);
  }
  closedir(tasks);
}

bool list_holds(const PidList *list, pid_t pid) {
  for (size_t at = 0; at < list->count; at++) if (list->pids[at] == pid) return true;
  return false;
}

void collect_descendants(pid_t root, PidList *list) {
  list->count = 0;
  collect_children(root, list);
  for (size_t at = 0; at < list->count; at++) collect_children(list->pids[at], list);
}

int signal_descendants(pid_t root, int signal_number) {
  PidList list = {0};
  collect_descendants(root, &list);
  int signalled = 0;
  for (size_t at = 0; at < list.count; at++)
    if (kill(list.pids[at], signal_number) == 0) signalled++;
  free(list.pids);
  return signalled;
}
