/* The far end of a link. `link SOCKET WAIT_MS LOG PIDFILE SILENCE_MS` joins the stdin and stdout of an exec channel
   with the far engine's socket and answers beats itself, so that a busy engine does not look like a dead link.
   `start LOG PIDFILE ARGV...` starts that engine in a session of its own. `probe SOCKET` tells whether one listens. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (2u * 1024 * 1024 + 1)   /* kind and payload; the engine closes the link on longer ones */
#define BEAT_MAX 64
#define ROOM (FRAME_MAX + 4)

typedef struct {
  char *data;
  size_t length, room, sent;
} Bytes;

/* Keeps what is unread at the front, so that the buffer does not grow with the stream. */
static void compact(Bytes *bytes) {
  if (bytes->sent == 0) return;
  memmove(bytes->data, bytes->data + bytes->sent, bytes->length - bytes->sent);
  bytes->length -= bytes->sent;
  bytes->sent = 0;
}

static bool bytes_add(Bytes *bytes, const char *data, size_t length) {
  if (bytes->sent == bytes->length) bytes->sent = bytes->length = 0;
  /* Also where it never runs empty; not for less than half of it, which would move it again and again. */
  if (bytes->length + length > bytes->room && bytes->sent >= bytes->length / 2) compact(bytes);
  if (bytes->length + length > bytes->room) {
    size_t room = bytes->room ? bytes->room : 65536;
    while (room < bytes->length + length) room *= 2;
    char *grown = realloc(bytes->data, room);
    if (!grown) return false;
    bytes->data = grown;
    bytes->room = room;
  }
  memcpy(bytes->data + bytes->length, data, length);
  bytes->length += length;
  return true;
}

static size_t bytes_left(const Bytes *bytes) { return bytes->length - bytes->sent; }

static void bytes_drop(Bytes *bytes) { bytes->sent = bytes->length; }

/* False when the reader is gone. */
static bool bytes_write(Bytes *bytes, int fd) {
  while (bytes_left(bytes) > 0) {
    ssize_t wrote = write(fd, bytes->data + bytes->sent, bytes_left(bytes));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    bytes->sent += (size_t)wrote;
  }
  return true;
}

/* One direction: whole frames are passed on; `beats` gets the answers to beats, which go no further. */
typedef struct {
  Bytes in, out;
} Direction;

static bool pass_frames(Direction *way, Bytes *beats) {
  for (;;) {
    size_t left = bytes_left(&way->in);
    const char *at = way->in.data + way->in.sent;
    uint32_t length;
    if (left < 5) return true;
    memcpy(&length, at, 4);
    if (length < 1 || length > FRAME_MAX) return false;
    if (left < 4 + (size_t)length) return true;
    if (beats && at[4] == 'P') {
      char beat[4 + BEAT_MAX];
      if (length > BEAT_MAX) return false;
      memcpy(beat, at, 4 + length);
      beat[4] = 'p';
      if (!bytes_add(beats, beat, 4 + length)) return false;
    } else if (!bytes_add(&way->out, at, 4 + length)) return false;
    way->in.sent += 4 + length;
  }
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) { errno = ENAMETOOLONG; return -1; }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    int why = errno;
    close(fd);
    errno = why;
    return -1;
  }
  struct ucred peer;
  socklen_t size = sizeof peer;
  /* The engine of another user would get our calls. */
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
    close(fd);
    errno = EACCES;
    return -1;
  }
  return fd;
}

/* The engine that was started has ended, also as a zombie that no parent reaps (a container without an init). */
static bool has_ended(const char *pid_file) {
  char text[64], path[64], stat[512];
  FILE *file = fopen(pid_file, "re");
  if (!file) return false;
  long pid = fgets(text, sizeof text, file) ? strtol(text, NULL, 10) : 0;
  fclose(file);
  if (pid <= 1) return false;
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  file = fopen(path, "re");
  if (!file) return true;
  bool read = fgets(stat, sizeof stat, file) != NULL;
  fclose(file);
  const char *after = read ? strrchr(stat, ')') : NULL;
  return after && (after[2] == 'Z' || after[2] == 'X');
}

static int tell_log(const char *log) {
  fputs("cerith: the engine there did not start\n", stderr);
  int fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 3;
  char text[2048];
  off_t size = lseek(fd, 0, SEEK_END);
  lseek(fd, size > (off_t)sizeof text ? size - (off_t)sizeof text : 0, SEEK_SET);
  ssize_t length = read(fd, text, sizeof text);
  if (length > 0) write_all(2, text, (size_t)length);
  close(fd);
  return 3;
}

static bool unblock(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Reads what is there; false at the end of the stream. */
static bool take(int fd, Bytes *into) {
  static char block[65536];
  ssize_t length = read(fd, block, sizeof block);
  if (length < 0) return errno == EAGAIN || errno == EINTR;
  compact(into);
  return length > 0 && bytes_add(into, block, (size_t)length);
}

int run_link(const char *path, int wait_ms, const char *log, const char *pid_file, int silence_ms) {
  int engine = -1;
  for (long long until = now_ms() + wait_ms;;) {
    engine = connect_to(path);
    if (engine >= 0) break;
    if (errno == EACCES || errno == ENAMETOOLONG) { perror("cerith: the socket of the engine"); return 2; }
    if (now_ms() >= until || has_ended(pid_file)) return tell_log(log);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
  }
  signal(SIGPIPE, SIG_IGN);
  if (!unblock(0) || !unblock(1) || !unblock(engine)) return 1;
  Direction there = {0}, back = {0};
  long long heard = now_ms();
  for (;;) {
    if (engine < 0) {
      /* It has closed: its last words still go out, and what comes for it goes nowhere. */
      if (bytes_left(&back.out) == 0) return 0;
      bytes_drop(&there.out);
    }
    /* A side that does not take its bytes is not read for more: the other end waits, not our memory. */
    bool there_full = bytes_left(&there.out) > ROOM, back_full = bytes_left(&back.out) > ROOM;
    struct pollfd set[4] = {
        {there_full ? -1 : 0, POLLIN, 0},
        {back_full ? -1 : engine, POLLIN, 0},
        {bytes_left(&back.out) > 0 ? 1 : -1, POLLOUT, 0},
        {bytes_left(&there.out) > 0 ? engine : -1, POLLOUT, 0},
    };
    /* The other end beats all the time. Without a word for so long it has vanished, whatever its connection says. */
    if (there_full) heard = now_ms();
    long long left = heard + silence_ms - now_ms();
    if (left <= 0) return 0;
    if (poll(set, 4, there_full ? -1 : (int)left) < 0) {
      if (errno == EINTR) continue;
      return 1;
    }
    if (set[0].revents) heard = now_ms();
    if (set[0].revents && (!take(0, &there.in) || !pass_frames(&there, &back.out))) return 0;
    if (set[1].revents && (!take(engine, &back.in) || !pass_frames(&back, NULL))) {
      close(engine);
      engine = -1;
    }
    /* An engine that takes nothing more may have said something before: that is read until its end. */
    if (engine >= 0 && !bytes_write(&there.out, engine)) bytes_drop(&there.out);
    if (!bytes_write(&back.out, 1)) return 0;
  }
}

int run_probe(const char *path) {
  int fd = connect_to(path);
  if (fd >= 0) close(fd);
  return fd >= 0 ? 0 : 1;
}

/* The engine gets our stdin (its key), a log, and nothing else of the channel that started it. */
int run_start(const char *log, const char *pid_file, char **argv) {
  pid_t pid = fork();
  if (pid < 0) { perror("cerith: fork"); return 1; }
  if (pid > 0) {
    /* Written before we return: the link that comes next must not read the pid of an engine before this one. */
    int file = open(pid_file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) { perror(pid_file); return 1; }
    dprintf(file, "%ld\n", (long)pid);
    close(file);
    return 0;
  }
  setsid();
  int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(1);
  close_from(3);
  execvp(argv[0], argv);
  perror(argv[0]);
  _exit(127);
}
