/* The launcher: one small process per engine. It makes pipes ahead of need, forks a warden per command (so that
   starting one costs the same whatever the engine's memory), and passes orders on. When the engine is gone it ends,
   and every warden notices. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4096, ROOM_LOOK_MS = 250, SPARE_MS = 2 };
static struct { int ends[2]; bool used; } slots[SLOTS];
/* gate: what opened the way of a spare's command, until that was heard; NO_WAY = nothing was there to hear it. */
typedef struct { long id; pid_t pid; int control; bool detached; int gate; } Ward;
enum { NO_GATE = -1, NO_WAY = -2 };
static Ward *wards;
static size_t ward_count, ward_room;
static int lifeline[2];

/* Pipes at hand leave the last descriptors to what is started with them. */
enum { LEFT_FOR_STARTS = 16 };
static bool is_one_of_the_last(int fd) {
  struct rlimit most;
  return getrlimit(RLIMIT_NOFILE, &most) == 0 && (rlim_t)fd + LEFT_FOR_STARTS >= most.rlim_cur;
}

/* The engine opens its end through /proc/PID/fd/N: no round trip is spent on pipes when a command starts. */
static void make_slots(int wanted) {
  int why = EMFILE;   /* unless the kernel says otherwise: every slot is taken */
  for (int slot = 0; slot < SLOTS && wanted > 0; slot++) {
    if (slots[slot].used) continue;
    int *ends = slots[slot].ends;
    if (pipe2(ends, O_CLOEXEC) != 0) {
      why = errno;
      break;
    }
    if (is_one_of_the_last(ends[1])) {
      close(ends[0]);
      close(ends[1]);
      break;
    }
    slots[slot].used = true;
    wanted--;
    say(1, 'p', "slot=%d\nread=%d\nwrite=%d", slot, slots[slot].ends[0], slots[slot].ends[1]);
  }
  /* One answer for each pipe that was asked for: a run waits for it. */
  while (wanted-- > 0) say(1, 'q', "errno=%d", why);
}

/* The same with a name in the file system, for shells in a room: they cannot see the descriptors of this process. */
static void make_named_slot(const char *path) {
  int slot = 0;
  while (slot < SLOTS && slots[slot].used) slot++;
  int both = slot < SLOTS && mkfifo(path, 0600) == 0 ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
  if (slot == SLOTS) errno = EMFILE;
  if (both >= 0) {
    slots[slot].ends[0] = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    slots[slot].ends[1] = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    slots[slot].used = slots[slot].ends[0] >= 0 && slots[slot].ends[1] >= 0;
  }
  int saved = errno;
  if (both >= 0) close(both);
  if (both >= 0 && slots[slot].used) say(1, 'n', "slot=%d\npath=%s", slot, path);
  else say(1, 'n', "errno=%d\npath=%s", saved, path);
}

static void free_slot(int slot) {
  if (slot < 0 || slot >= SLOTS || !slots[slot].used) return;
  close(slots[slot].ends[0]);
  close(slots[slot].ends[1]);
  slots[slot].used = false;
}

static int slot_end(int slot, int end) { return slot >= 0 && slot < SLOTS
    && slots[slot].used ? slots[slot].ends[end] : -1; }

/* In the forked warden: put what it needs at low numbers and close the rest, above all the other runs' pipe ends.
   False, with errno, when the limit of descriptors is too low. */
static bool settle_descriptors(WardenLink *link) {
  int *kept[] = {&link->lifeline, &link->control, &link->in_read, &link->out_write, &link->err_write, &link->out_read,
      &link->err_read, &link->extra_in,
    &link->room_orders, &link->wall, &link->listener, &link->lock, &link->spaces[0], &link->spaces[1], &link->spaces[2],
        &link->spaces[3], &link->spaces[4], &link->gate, &link->spare};
  enum { KEPT = sizeof kept / sizeof kept[0], FIRST = 3 };
  int lifted[KEPT];
  for (int at = 0; at < KEPT; at++) {
    lifted[at] = *kept[at] < 0 ? -1 : fcntl(*kept[at], F_DUPFD_CLOEXEC, FIRST + KEPT);
    if (*kept[at] >= 0 && lifted[at] < 0) return false;
  }
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || (nothing != 0 && dup3(nothing, 0, O_CLOEXEC) < 0)) return false;
  int next = FIRST;
  for (int at = 0; at < KEPT; at++) {
    if (lifted[at] < 0) { *kept[at] = -1; continue; }
    if (dup3(lifted[at], next, O_CLOEXEC) < 0) return false;
    *kept[at] = next++;
  }
  close_from(next);
  return true;
}

/* An end that is asked for by a slot must be there: a command without its stdout would look like one that prints
   nothing. */
static bool lacks_end(const Request *request) {
  const int asked[] = {request->in_slot, request->out_slot, request->err_slot, request->extra_in_slot};
  for (size_t at = 0; at < sizeof asked / sizeof asked[0]; at++) if (asked[at] >= 0 && slot_end(asked[at], 0) < 0)
      return true;
  return false;
}

/* Descriptors of the room; the rest comes with the request. */
static WardenLink link_to(const Room *room) {
  WardenLink link = {.events = 1, .lifeline = lifeline[0], .control = -1, .in_read = -1, .out_write = -1,
      .err_write = -1, .out_read = -1, .err_read = -1,
    .extra_in = -1, .listener = -1, .gate = -1, .spare = -1,
    .room_orders = room->orders, .wall = room->wall, .lock = room->lock, .holder = room->holder,
    .inner = room->inner, .all_network = room->all_network, .nested = room->nested, .only_wall = room->only_wall};
  memcpy(link.spaces, room->spaces, sizeof link.spaces);
  return link;
}

static pid_t fork_warden(WardenLink *link) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  signal(SIGCHLD, SIG_DFL);
  if (settle_descriptors(link)) run_warden(*link);
  if (link->request) say(1, 'f', "id=%ld\nerrno=%d\nwhat=descriptors", link->request->id, errno == EINVAL ? EMFILE
      : errno);
  _exit(0);
}

/* For the next command, when this one has begun. Where it cannot be made, the next command goes in by itself. */
static void make_spare(Room *room) {
  room->wants_spare = false;
  int requests[2], control[2] = {-1, -1}, gate[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests) != 0) return;
  pid_t pid = -1;
  if (pipe2(control, O_CLOEXEC) == 0 && pipe2(gate, O_CLOEXEC) == 0) {
    WardenLink link = link_to(room);
    link.control = control[0];
    link.gate = gate[0];
    link.spare = requests[1];
    link.oom = room->spare.oom;
    pid = fork_warden(&link);
  }
  int theirs[] = {requests[1], control[0], gate[0]}, ours[] = {requests[0], control[1], gate[1]};
  for (size_t at = 0; at < sizeof theirs / sizeof theirs[0]; at++) {
    if (theirs[at] >= 0) close(theirs[at]);
    if (pid < 0 && ours[at] >= 0) close(ours[at]);
  }
  if (pid > 0) room->spare = (Spare){pid, requests[0], control[1], gate[1], room->spare.oom};
}

/* The command has its ends, or will never come: others are made in their place. */
static void let_go_of_ends(const Request *request) {
  int used[] = {request->in_slot, request->out_slot, request->err_slot, request->extra_in_slot};
  int freed = 0;
  for (size_t at = 0; at < sizeof used / sizeof used[0]; at++) if (used[at] >= 0) { free_slot(used[at]); freed++; }
  make_slots(freed);
}

static void reap_wardens(void);
static void start(char *payload, size_t length) {
  static Request request;
  if (!parse_request(payload, length, &request)) {
    say(1, 'f', "id=%ld\nerrno=%d\nwhat=request", request.id, EINVAL);
    free_request(&request);
    return;
  }
  if (lacks_end(&request)) {
    say(1, 'f', "id=%ld\nerrno=%d\nwhat=pipe", request.id, EBADF);
    let_go_of_ends(&request);
    free_request(&request);
    return;
  }
  /* A warden that is not in the list could be given no orders, and its death would not be told. */
  if (ward_count == ward_room) {
    size_t room = ward_room ? ward_room * 2 : 64;
    Ward *grown = realloc(wards, room * sizeof *wards);
    if (!grown) {
      say(1, 'f', "id=%ld\nerrno=%d\nwhat=memory", request.id, ENOMEM);
      let_go_of_ends(&request);
      free_request(&request);
      return;
    }
    wards = grown;
    ward_room = room;
  }
  /* A room whose holder was killed, or its spare, may not have been noticed yet. */
  bool confined = request.room >= 0;
  if (confined) reap_wardens();
  /* A command that asks for a room runs in it or not at all. */
  Room *room = confined ? find_room(request.room) : &outside, *listened = request.listener_room >= 0
      ? find_room(request.listener_room) : NULL;
  const char *failed = room ? NULL : ROOM_GONE;
  int own_wall = room && room->only_wall && request.folder ? wall_with(room, request.folder) : -1;
  if (!failed && request.listener_room >= 0 && (!listened || listened->listener < 0)) failed = ROOM_GONE;
  if (!failed && room && room->only_wall && request.folder && own_wall < 0) failed = "landlock";
  if (failed) {
    if (own_wall >= 0) close(own_wall);
    say(1, 'f', "id=%ld\nerrno=%d\nwhat=sandbox: %s", request.id, ESRCH, failed);
    free_request(&request);
    return;
  }
  WardenLink link = link_to(room);
  link.request = &request;
  link.in_read = slot_end(request.in_slot, 0);
  link.out_write = slot_end(request.out_slot, 1);
  link.err_write = slot_end(request.err_slot, 1);
  link.out_read = slot_end(request.out_slot, 0);
  link.err_read = slot_end(request.err_slot, 0);
  link.extra_in = slot_end(request.extra_in_slot, 0);
  link.listener = listened ? listened->listener : -1;
  if (own_wall >= 0) link.wall = own_wall;
  bool fits = !room->only_wall && room->lock < 0 && fits_spare(&request);
  bool spared = fits && room->spare.pid > 0 && room->spare.oom == request.oom && hand_over(room->spare.requests, &link);
  int control[2] = {-1, -1}, gate[2] = {-1, -1};
  pid_t pid;
  int fork_error = 0, heard = NO_GATE;
  if (spared) {
    pid = room->spare.pid;
    kill(-pid, SIGCONT);   /* a spare that was stopped while it waited goes on with its command */
    control[1] = room->spare.control;
    gate[1] = room->spare.gate;
    close(room->spare.requests);
    room->spare = (Spare){0};
  } else if (pipe2(control, O_CLOEXEC) != 0 || (confined && pipe2(gate, O_CLOEXEC) != 0)) {
    say(1, 'f', "id=%ld\nerrno=%d\nwhat=pipe", request.id, errno);
    if (own_wall >= 0) close(own_wall);
    if (control[0] >= 0) { close(control[0]); close(control[1]); }
    let_go_of_ends(&request);
    free_request(&request);
    return;
  } else {
    link.control = control[0];
    link.gate = gate[0];
    pid = fork_warden(&link);
    fork_error = errno;
    if (own_wall >= 0) close(own_wall);
    close(control[0]);
    if (gate[0] >= 0) close(gate[0]);
  }
  /* While the command is being made; it waits for the answer before its first instruction. */
  if (gate[1] >= 0) {
    const char *closed = confined ? refresh_room(room) : NULL;
    /* Its holder was killed a moment ago. The command waits at the gate, and its pipes stay for another order. */
    if (pid > 0 && closed && strcmp(closed, ROOM_GONE) == 0) {
      kill(pid, SIGKILL);
      close(gate[1]);
      close(control[1]);
      /* Told first: the engine that gives its order again must not give it to the same room. */
      say(1, 'd', "room=%d", room->id);
      close_room(room->id);
      say(1, 'f', "id=%ld\nerrno=%d\nwhat=sandbox: %s", request.id, ESRCH, closed);
      free_request(&request);
      return;
    }
    char open_it = pid > 0 && !closed;
    if (!write_all(gate[1], &open_it, 1) && spared) heard = NO_WAY;
    if (spared && heard != NO_WAY) heard = gate[1];
    else close(gate[1]);
  }
  if (pid < 0) {
    say(1, 'f', "id=%ld\nerrno=%d\nwhat=fork", request.id, fork_error);
    close(control[1]);
  } else wards[ward_count++] = (Ward){request.id, pid, control[1], request.detached, heard};
  let_go_of_ends(&request);
  free_request(&request);
  /* The first command may be the only one: the second asks for a spare. */
  if (fits && room->used && room->spare.pid == 0) {
    room->wants_spare = true;
    room->spare.oom = request.oom;
  }
  room->used = true;
}

/* Kinds in lower case go to the launcher itself, the others to the warden named by `id`. */
static void obey(char kind, char *payload, size_t length) {
  if (kind == 'S') { start(payload, length); return; }
  if (kind == 'R') { build_room(payload, length); return; }
  if (kind == 'C') { close_room((int)field_number(payload, length, "room", -1)); return; }
  if (kind == 'P') { publish_port(payload, length); return; }
  if (kind == 'n') { const char *path = field_text(payload, length, "path"); if (path) make_named_slot(path); return; }
  if (kind == 'p') { make_slots((int)field_number(payload, length, "count", 1)); return; }
  if (kind == 'r') { free_slot((int)field_number(payload, length, "slot", -1)); return; }
  long id = (long)field_number(payload, length, "id", -1);
  for (size_t at = 0; at < ward_count; at++) {
    if (wards[at].id != id) continue;
    uint32_t size = (uint32_t)length + 1;
    write_all(wards[at].control, &size, 4);
    write_all(wards[at].control, &kind, 1);
    write_all(wards[at].control, payload, length);
    return;
  }
}

static bool is_warden(pid_t pid) {
  if (is_room_process(pid)) return true;
  for (size_t at = 0; at < ward_count; at++) if (wards[at].pid == pid) return true;
  return false;
}

/* What a destroyed warden kept comes to the launcher, which is a subreaper too. It ends here, unless it was to
   outlive the engine: then no process can keep it any more, and none ends it. */
static void end_strays(bool left_alone) {
  static PidList tolerated;
  for (int pass = 0; pass < 20; pass++) {
    PidList children = {0};
    int strays = 0;
    collect_children(getpid(), &children);
    for (size_t at = 0; at < children.count; at++) {
      pid_t child = children.pids[at];
      if (is_warden(child) || list_holds(&tolerated, child)) continue;
      if (left_alone) { list_add(&tolerated, child); continue; }
      signal_descendants(child, SIGKILL);
      if (kill(child, SIGKILL) == 0) strays++;
      waitpid(child, NULL, WNOHANG);
    }
    free(children.pids);
    if (strays == 0) return;
  }
}

/* What was written there is still unread: the first instruction of the command waits for it. */
static bool waits_at_gate(const Ward *ward) {
  int unread = 0;
  return ward->gate == NO_WAY || (ward->gate >= 0 && ioctl(ward->gate, FIONREAD, &unread) == 0 && unread > 0);
}

static void reap_wardens(void) {
  pid_t pid;
  int status;
  for (size_t at = 0; at < ward_count; at++)
    if (wards[at].gate >= 0 && !waits_at_gate(&wards[at])) {
      close(wards[at].gate);
      wards[at].gate = NO_GATE;
    }
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    room_process_ended(pid);
    for (size_t at = 0; at < ward_count; at++) {
      if (wards[at].pid != pid) continue;
      /* A warden that was itself killed can tell nothing any more; say so, or a run would never settle. */
      bool destroyed = WIFSIGNALED(status), detached = wards[at].detached;
      if (destroyed) say(1, 'l', "id=%ld\nsignal=%d\nbegun=%d", wards[at].id, WTERMSIG(status),
          !waits_at_gate(&wards[at]));
      close(wards[at].control);
      if (wards[at].gate >= 0) close(wards[at].gate);
      wards[at] = wards[--ward_count];
      if (destroyed) end_strays(detached);
      break;
    }
  }
}

static void on_child(int number) { (void)number; }

int run_launcher(void) {
  /* Values to be masked are in this memory: never in a core file. One byte, not none: with none the kernel still
     feeds a program that collects cores. A limit that is lower already stays. */
  struct rlimit one_byte = {1, 1};
  if (setrlimit(RLIMIT_CORE, &one_byte) != 0) {
    struct rlimit none_left = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none_left) != 0) return 1;
  }
  /* The engine's terminal must not reach it. It fails only for the leader of a group, which a process that was just
     started is not. */
  if (setsid() < 0 && errno != EPERM) return 1;
  /* Signals that the engine's host ignores would be ignored by every command. The kernel is asked itself: the C
     library refuses to touch the few that it keeps for its own threads, of which there are none here. */
  static const unsigned long by_default[16];
  for (int number = 1; number <= 64; number++) syscall(SYS_rt_sigaction, number, by_default, NULL, (size_t)8);
  prctl(PR_SET_NAME, "cerith-launch");   /* for people who look at a list of processes; nothing depends on it */
  /* Without it what leaves its command is never found again: the engine then uses the lower tier, which says what it
     cannot promise. */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    dprintf(2, "this kernel or emulator knows no subreapers (errno %d)\n", errno);
    return 1;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  struct sigaction act = {.sa_handler = on_child};
  sigset_t child, none;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigaction(SIGCHLD, &act, NULL) != 0 || sigprocmask(SIG_BLOCK, &child, &none) != 0) return 1;
  sigdelset(&none, SIGCHLD);
  if (pipe2(lifeline, O_CLOEXEC) != 0) return 1;
  size_t room = 1 << 16, have = 0;
  char *buffer = malloc(room);
  if (!buffer) return 1;
  say(1, 'v', "version=%s\npid=%d", HELPER_VERSION, (int)getpid());
  for (;;) {
    struct pollfd set = {0, POLLIN, 0};
    /* While commands run in rooms, sockets that come into being on the machine are covered soon, not only before the
       next command. */
    bool looks = any_room() && ward_count > 0;
    Room *bare = room_without_spare();
    struct timespec soon = {0, (bare ? SPARE_MS : ROOM_LOOK_MS) * 1000000L};
    int ready = ppoll(&set, 1, looks || bare ? &soon : NULL, &none);
    if (ready == 0 && bare) make_spare(bare);
    else if (ready == 0 && looks) refresh_rooms();
    reap_wardens();
    if (ready <= 0 || !set.revents) continue;
    if (have == room) {
      char *grown = realloc(buffer, room * 2);
      if (!grown) return 1;
      buffer = grown;
      room *= 2;
    }
    ssize_t got = read(0, buffer + have, room - have);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) {
      end_spares();
      remove_session_files();
      return 0;
    }
    have += (size_t)got;
    size_t at = 0;
    uint32_t length;
    while (have - at >= 5 && (memcpy(&length, buffer + at, 4), have - at >= 4 + (size_t)length)) {
      if (length > 0) obey(buffer[at + 4], buffer + at + 5, length - 1);
      at += 4 + (size_t)length;
    }
    /* Start requests may hold values to be masked: nothing of them stays behind. */
    memmove(buffer, buffer + at, have - at);
    explicit_bzero(buffer + (have - at), at);
    have -= at;
  }
}
