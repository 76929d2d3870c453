/* The launcher's rooms: built on order, refreshed before a command enters, gone with the last process that needs
   them. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include "try.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS = 3, ROOMS = 256, PORTS = 256, BUILD_MS = 20000, ANSWER_MS = 5000, REMOVE_TRIES = 200 };
static Room rooms[ROOMS];
static int room_count;
Room outside = {.id = -1, .orders = -1, .wall = -1, .listener = -1, .lock = -1, .spaces = {-1, -1, -1, -1, -1}};
static struct { pid_t pid; int room; } ports[PORTS];
static int port_count;

Room *find_room(int id) {
  for (int at = 0; at < room_count; at++) if (rooms[at].id == id) return &rooms[at];
  return NULL;
}

bool any_room(void) { return room_count > 0; }

typedef struct { int32_t error; uint32_t lacks; char what[120]; } Built;

static bool send_built(int to, const Built *built, const int *fds, int count) {
  struct iovec body = {(void *)built, sizeof *built};
  return send_with(to, &body, 1, fds, count, 0) == (ssize_t)sizeof *built;
}

static bool receive_built(int from, Built *built, int *fds, int *count) {
  char space[CMSG_SPACE(FDS * sizeof(int))];
  struct iovec body = {built, sizeof *built};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct pollfd ready = {from, POLLIN, 0};
  int answered;
  do answered = poll(&ready, 1, BUILD_MS); while (answered < 0 && errno == EINTR);
  if (answered <= 0 || recvmsg(from, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *built) return false;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *count = head && head->cmsg_type == SCM_RIGHTS ? (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
  if (*count > 0) memcpy(fds, CMSG_DATA(head), (size_t)*count * sizeof(int));
  return true;
}

/* In the forked child. Everything of the launcher's is closed first: pipe ends of other commands, the lifeline, the
   engine's events. */
static void become_holder(char *payload, size_t length, int orders) {
  static Policy policy;
  RoomParts parts = {-1, -1, -1, -1, 0};
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
  orders = dup2(orders, 3);
  fcntl(orders, F_SETFD, FD_CLOEXEC);
  close_from(4);
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  errno = 0;
  const char *failed = read_policy(&policy, payload, length);
  if (!failed) failed = room_build(&policy, &parts);
  Built built = {.error = failed ? errno : 0, .lacks = parts.lacks};
  if (failed) snprintf(built.what, sizeof built.what, "%s", failed);
  /* Nothing holds the layers by the time that is heard: another look may come at once. */
  if (failed && parts.lock >= 0) { close(parts.lock); parts.lock = -1; }
  int fds[FDS], count = 0;
  if (parts.lock >= 0) fds[count++] = parts.lock;
  if (parts.wall >= 0) fds[count++] = parts.wall;
  if (parts.listener >= 0) fds[count++] = parts.listener;
  if (!send_built(orders, &built, fds, count) || failed) _exit(1);
  for (int at = 0; at < count; at++) close(fds[at]);
  hold_room(&policy, orders);
}

static bool wants_network(const char *payload, size_t length) {
  const char *network = field_text(payload, length, "network");
  return network && strcmp(network, "all") == 0;
}

/* Where no room can be built: a ruleset alone, which each command enters. */
static void build_wall(int id, char *payload, size_t length) {
  static Policy policy;
  const char *failed = read_policy(&policy, payload, length);
  int wall = failed ? -1 : make_only_wall(&policy);
  if (wall < 0) { say(1, 'F', "room=%d\nerrno=%d\nwhat=%s", id, errno, failed ? failed : "landlock"); return; }
  char *text = malloc(length);
  if (!text) { close(wall); say(1, 'F', "room=%d\nerrno=%d\nwhat=memory", id, ENOMEM); return; }
  memcpy(text, payload, length);
  rooms[room_count++] = (Room){.id = id, .inner = policy.inner ? strdup(policy.inner)
      : NULL, .text = text, .text_length = length, .orders = -1, .wall = wall, .listener = -1, .lock = -1,
      .spaces = {-1, -1, -1, -1, -1}, .only_wall = true, .all_network = wants_network(payload, length)};
  say(1, 'R', "room=%d\nholder=0\nlacks=0", id);
}

/* Files of sessions lie beside each other there: what one could open, it could open of all. */
int wall_with(const Room *room, const char *folder) {
  static Policy policy;
  char path[PATH_MAX];
  if (read_policy(&policy, room->text, room->text_length) || !policy.inner || policy.count == ITEMS) return -1;
  if (snprintf(path, sizeof path, "%s/%s", policy.inner, folder) >= (int)sizeof path) return -1;
  policy.items[policy.count++] = (Item){WRITE, path, -1};
  return make_only_wall(&policy);
}

/* By descriptor: a holder that is being killed has left its namespaces some time before its end can be seen here. */
static bool open_spaces(Room *room) {
  static const char *const names[SPACES] = {"user", "mnt", "ipc", "uts", "net"};
  for (int at = 0; at < SPACES; at++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)room->holder, names[at]);
    bool shared = room->all_network && at == SPACES - 1;
    room->spaces[at] = shared ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (!shared && room->spaces[at] < 0) return false;
  }
  return true;
}

void build_room(char *payload, size_t length) {
  int id = (int)field_number(payload, length, "room", -1), ends[2];
  if (find_room(id) || room_count == ROOMS) { say(1, 'F', "room=%d\nerrno=%d\nwhat=too many rooms", id, EAGAIN); return;
      }
  if (field_text(payload, length, "tier")) { build_wall(id, payload, length); return; }
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      say(1, 'F', "room=%d\nerrno=%d\nwhat=socket", id, errno); return; }
  pid_t holder = fork();
  if (holder == 0) become_holder(payload, length, ends[1]);
  int saved = errno;
  close(ends[1]);
  Built built = {.error = holder < 0 ? saved : EIO, .what = "the holder ended"};
  int fds[FDS] = {-1, -1, -1}, count = 0, next = 0;
  bool answered = holder > 0 && receive_built(ends[0], &built, fds, &count);
  if (!answered || built.error != 0 || built.what[0] != 0) {
    close(ends[0]);
    if (holder > 0) kill(holder, SIGKILL);
    say(1, 'F', "room=%d\nerrno=%d\nwhat=%s", id, built.error, built.what);
    return;
  }
  bool walled = !(built.lacks & LACKS_WALL);
  const char *inner = field_text(payload, length, "inner");
  int lock = field_text(payload, length, "lock") ? fds[next++] : -1, wall = walled ? fds[next++] : -1;
  rooms[room_count++] = (Room){.id = id, .holder = holder, .orders = ends[0], .lock = lock, .wall = wall,
      .listener = next < count ? fds[next] : -1,
    .spaces = {-1, -1, -1, -1, -1},
    .all_network = wants_network(payload, length),
    .nested = field_number(payload, length, "nested", 0) != 0, .inner = inner ? strdup(inner) : NULL};
  const char *failed = open_spaces(&rooms[room_count - 1]) ? refresh_room(&rooms[room_count - 1]) : "namespaces";
  if (failed) { say(1, 'F', "room=%d\nerrno=%d\nwhat=%s", id, EIO, failed); close_room(id); return; }
  prepare_filter(rooms[room_count - 1].nested, IN_ROOM);
  say(1, 'R', "room=%d\nholder=%d\nlacks=%u", id, (int)holder, built.lacks);
}

const char *refresh_room(Room *room) {
  if (room->only_wall) return NULL;
  const char *list;
  size_t length;
  unsigned long number = machine_sockets(&list, &length);
  if (number == 0) return "more sockets than can be covered";
  if (number == room->told) return NULL;
  char answer = '0';
  struct pollfd ready = {room->orders, POLLIN, 0};
  if (send(room->orders, length > 0 ? list : "-", length > 0 ? length : 1, MSG_NOSIGNAL) < 0) return ROOM_GONE;
  int answered;
  do answered = poll(&ready, 1, ANSWER_MS); while (answered < 0 && errno == EINTR);
  if (answered <= 0) return "room does not answer";
  if (read(room->orders, &answer, 1) != 1) return ROOM_GONE;
  if (answer != '1') return "a socket could not be covered";
  room->told = number;
  return NULL;
}

void refresh_rooms(void) {
  for (int at = 0; at < room_count; at++) refresh_room(&rooms[at]);
}

Room *room_without_spare(void) {
  for (int at = 0; at < room_count; at++) if (rooms[at].wants_spare) return &rooms[at];
  return outside.wants_spare ? &outside : NULL;
}

static Room *room_of_spare(pid_t pid) {
  for (int at = 0; at < room_count; at++) if (rooms[at].spare.pid == pid) return &rooms[at];
  return outside.spare.pid == pid ? &outside : NULL;
}

bool is_room_process(pid_t pid) {
  for (int at = 0; at < room_count; at++) if (rooms[at].holder == pid) return true;
  for (int at = 0; at < port_count; at++) if (ports[at].pid == pid) return true;
  return room_of_spare(pid) != NULL;
}

void forget_spare(Spare *spare) {
  if (spare->pid == 0) return;
  close(spare->requests);
  close(spare->control);
  close(spare->gate);
  *spare = (Spare){0};
}

void end_spares(void) {
  for (int at = -1; at < room_count; at++) {
    pid_t pid = at < 0 ? outside.spare.pid : rooms[at].spare.pid;
    if (pid > 0 && kill(pid, SIGKILL) == 0) waitpid(pid, NULL, 0);
  }
}

void close_room(int id) {
  Room *room = find_room(id);
  if (!room) return;
  for (int at = port_count - 1; at >= 0; at--) if (ports[at].room == id) {
      kill(ports[at].pid, SIGKILL); ports[at] = ports[--port_count]; }
  int open_ones[] = {room->orders, room->wall, room->listener, room->lock};
  for (size_t at = 0; at < sizeof open_ones / sizeof open_ones[0]; at++) if (open_ones[at] >= 0) close(open_ones[at]);
  for (int at = 0; at < SPACES; at++) if (room->spaces[at] >= 0) close(room->spaces[at]);
  forget_spare(&room->spare);
  free(room->inner);
  free(room->text);
  *room = rooms[--room_count];
}

/* The engine is gone, and nothing opens the files of its sessions any more. */
void remove_session_files(void) {
  for (int at = 0; at < room_count; at++) {
    char *name = rooms[at].inner ? strrchr(rooms[at].inner, '/') : NULL;
    if (!name) continue;
    *name = 0;
    int parent = open_source(rooms[at].inner);
    /* A shell that leaves meanwhile writes its state: where the name of the pipe is gone, it makes a file of it. */
    for (int tries = 0; parent >= 0 && !remove_tree(parent, name + 1) && tries < REMOVE_TRIES; tries++) poll(NULL, 0, 2);
    if (parent >= 0) close(parent);
    *name = '/';
  }
}

/* A holder that was killed: what runs in its room goes on, nothing new enters it. The engine builds another. */
void room_process_ended(pid_t pid) {
  for (int at = 0; at < port_count; at++) if (ports[at].pid == pid) { ports[at] = ports[--port_count]; return; }
  Room *spared = room_of_spare(pid);
  if (spared) { forget_spare(&spared->spare); return; }
  for (int at = 0; at < room_count; at++) {
    if (rooms[at].holder != pid) continue;
    say(1, 'd', "room=%d", rooms[at].id);
    close_room(rooms[at].id);
    return;
  }
}

void publish_port(char *payload, size_t length) {
  int id = (int)field_number(payload, length, "room", -1), port = (int)field_number(payload, length, "port", 0),
      error = ENOENT;
  Room *room = find_room(id);
  pid_t pid = -1;
  if (room && !room->only_wall && port > 0 && port < 65536 && port_count < PORTS)
      error = forward_port(room->holder, port, &pid);
  if (error == 0) { ports[port_count].pid = pid; ports[port_count++].room = id; }
  say(1, 'P', "room=%d\nport=%d\nerrno=%d", id, port, error);
}
