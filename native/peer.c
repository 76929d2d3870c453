/* Tells who is at the other end of a unix socket, which is descriptor 3. Asked by an engine before it answers a peer
   of its live socket: Node cannot ask the kernel itself. A pidfd names the process beyond doubt: its facts are read
   while it is known to be alive. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { SOCKET_FD = 3 };

/* -1: it has ended; 0: it is in another pid namespace. */
static long pid_behind(int pidfd) {
  char path[64], line[128];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  long pid = -1;
  while (fgets(line, sizeof line, file)) if (scan_text(line, "Pid: %ld", &pid) == 1) break;
  fclose(file);
  struct pollfd set = {pidfd, POLLIN, 0};
  return poll(&set, 1, 0) == 0 ? pid : -1;   /* readable: it is a zombie */
}

static void namespace_of(long pid, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/ns/%s", pid, name);
  ssize_t got = readlink(path, text, size - 1);
  text[got < 0 ? 0 : got] = '\0';
}

int run_peer(void) {
  struct ucred who;
  socklen_t length = sizeof who;
  if (getsockopt(SOCKET_FD, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return 1;
  long pid = (long)who.pid;
  int pidfd = -1;
  length = sizeof pidfd;
  bool sure = getsockopt(SOCKET_FD, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0;
  if (sure && pid_behind(pidfd) != pid) return 1;
  unsigned long long start = start_time_of((pid_t)pid);
  char user[64], pids[64], mounts[64];
  namespace_of(pid, "user", user, sizeof user);
  namespace_of(pid, "pid", pids, sizeof pids);
  namespace_of(pid, "mnt", mounts, sizeof mounts);
  if (pid <= 0 || start == 0 || (sure ? pid_behind(pidfd) != pid : start_time_of((pid_t)pid) != start)) return 1;
  printf("pid=%ld\nuid=%ld\nstart=%llu\nsure=%d\nuser=%s\npids=%s\nmnt=%s\n", pid, (long)who.uid, start, sure ? 1
      : 0, user, pids, mounts);
  return 0;
}
