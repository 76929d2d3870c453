/* Publishes a port of a room: a listener on the machine's loopback whose connections are passed to the same port
   inside. A socket keeps the network it was made in, so the process that passes bytes on accepts in one and connects
   in the other. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int loopback_socket(int port, bool listens) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0) return -1;
  if (listens) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  bool ok = listens ? bind(fd, (struct sockaddr *)&where, sizeof where) == 0
      && listen(fd, 64) == 0 : connect(fd, (struct sockaddr *)&where, sizeof where) == 0;
  int saved = errno;
  if (!ok) close(fd);
  errno = saved;
  return ok ? fd : -1;
}

static bool pass_on(int from, int to) {
  char block[65536];
  ssize_t got = read(from, block, sizeof block);
  if (got < 0) return errno == EINTR;
  if (got == 0) { shutdown(to, SHUT_WR); return false; }
  return write_all(to, block, (size_t)got);
}

static void carry(int outside, int port) {
  int inside = loopback_socket(port, false);
  if (inside < 0) _exit(1);
  struct pollfd set[2] = {{outside, POLLIN, 0}, {inside, POLLIN, 0}};
  while (set[0].fd >= 0 || set[1].fd >= 0) {
    if (poll(set, 2, -1) < 0 && errno != EINTR) break;
    if (set[0].fd >= 0 && set[0].revents && !pass_on(outside, inside)) set[0].fd = -1;
    if (set[1].fd >= 0 && set[1].revents && !pass_on(inside, outside)) set[1].fd = -1;
  }
  _exit(0);
}

int forward_port(pid_t holder, int port, pid_t *forwarder) {
  int listener = loopback_socket(port, true);
  if (listener < 0) return errno;
  int room = (int)syscall(434 /* pidfd_open */, holder, 0);
  *forwarder = room < 0 ? -1 : fork();
  if (*forwarder == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "cerith-port");
    signal(SIGCHLD, SIG_IGN);
    listener = dup3(listener, 3, O_CLOEXEC);
    room = dup3(room, 4, O_CLOEXEC);
    if (setns(room, CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(1);
    for (int fd = 0; fd < 3; fd++) close(fd);
    close_from(4);
    if (lock_down(false, IN_ROOM) != NULL) _exit(1);
    for (;;) {
      int outside = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
      if (outside < 0) { if (errno == EINTR || errno == ECONNABORTED) continue; _exit(1); }
      pid_t carrier = fork();
      if (carrier == 0) { prctl(PR_SET_PDEATHSIG, SIGKILL); close(listener); carry(outside, port); }
      close(outside);
    }
  }
  int saved = errno;
  close(listener);
  if (room >= 0) close(room);
  return *forwarder > 0 ? 0 : saved;
}
