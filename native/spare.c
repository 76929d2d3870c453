/* A spare: a warden that was made before anything asked for it. One of a room has gone in, with the first of its new
   process ids. What is left to do when a command comes is to read what it is, and to start it. The request comes as
   one message, with the ends of its pipes. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENDS = 6, MOST_FDS = 8, MOST_BYTES = 100000 };

static void ends_of(WardenLink *link, int **ends) {
  int *all[ENDS] = {&link->in_read, &link->out_write, &link->err_write, &link->out_read, &link->err_read,
      &link->extra_in};
  memcpy(ends, all, sizeof all);
}

/* What was decided when it went in cannot be changed any more: control groups, what outlives the engine, files of a
   job. It is handed the ends of pipes only, no listener of a room. */
bool fits_spare(const Request *request) {
  return !request->detached && !request->keep && request->group_count == 0 && request->listener_room < 0
      && request->payload_length <= MOST_BYTES;
}

/* Sends a message with descriptors, at most MOST_FDS. Returns the bytes that went, or -1. */
ssize_t send_with(int to, struct iovec *parts, int part_count, const int *fds, int count, int flags) {
  char space[CMSG_SPACE(MOST_FDS * sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)part_count};
  if (count > 0) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(head), fds, (size_t)count * sizeof(int));
  }
  return sendmsg(to, &message, MSG_NOSIGNAL | flags);
}

/* False: it is not there any more, and nothing was started. */
bool hand_over(int spare, WardenLink *link) {
  int *ends[ENDS], fds[ENDS], count = 0;
  uint32_t present = 0;
  ends_of(link, ends);
  for (int at = 0; at < ENDS; at++) if (*ends[at] >= 0) { present |= 1u << at; fds[count++] = *ends[at]; }
  struct iovec parts[2] = {{&present, sizeof present}, {link->request->payload, link->request->payload_length}};
  return send_with(spare, parts, 2, fds, count, MSG_DONTWAIT) ==
      (ssize_t)(sizeof present + link->request->payload_length);
}

/* Waits for a command. False: none will come. */
bool take_over(WardenLink *link, Request *request) {
  char space[CMSG_SPACE(ENDS * sizeof(int))], *payload = malloc(MOST_BYTES);
  uint32_t present = 0;
  struct iovec parts[2] = {{&present, sizeof present}, {payload, MOST_BYTES}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = space, .msg_controllen = sizeof space};
  ssize_t got;
  do got = payload ? recvmsg(link->spare, &message, MSG_CMSG_CLOEXEC) : -1; while (got < 0 && errno == EINTR);
  if (got <= (ssize_t)sizeof present || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return false;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  int *ends[ENDS], fds[ENDS], next = 0;
  if (head) memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
  ends_of(link, ends);
  for (int at = 0; at < ENDS; at++) *ends[at] = present & (1u << at) ? fds[next++] : -1;
  close(link->spare);
  link->spare = -1;
  return parse_request(payload, (size_t)got - sizeof present, request);
}
