/* Small things every part needs: clocks, whole writes, event frames, files that appear at once. */
#define _GNU_SOURCE
#include "helper.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What is used here of sscanf: `%d u x c s n [^\n]` with l, a width and a star. The library's own also knows streams
   and fractions: 12 KB in each of the helpers that travel in a package. */
int scan_text(const char *text, const char *format, ...) {
  const char *at = text;
  int found = 0;
  va_list into;
  va_start(into, format);
  for (; *format; format++) {
    if (isspace((unsigned char)*format)) { while (isspace((unsigned char)*at)) at++; continue; }
    if (*format != '%') { if (*at++ != *format) break; continue; }
    bool dropped = format[1] == '*';
    if (dropped) format++;
    size_t width = 0, length;
    while (isdigit((unsigned char)*++format)) width = width * 10 + (size_t)(*format - '0');
    int longs = 0;
    for (; *format == 'l'; format++) longs++;
    if (*format == 'n') { *va_arg(into, int *) = (int)(at - text); continue; }
    if (*format != 'c' && *format != '[') while (isspace((unsigned char)*at)) at++;
    if (*format == 'c') length = *at != 0;
    else if (*format == 's') length = strcspn(at, " \t\n\v\f\r");
    else if (*format == '[') { length = strcspn(at, "\n"); format += 3; }
    else {
      char digits[32], *end;
      snprintf(digits, width > 0 && width < sizeof digits ? width + 1 : sizeof digits, "%s", at);
      unsigned long long number = strtoull(digits, &end, *format == 'x' ? 16 : 10);
      if (end == digits) break;
      at += end - digits;
      if (dropped) continue;
      if (longs == 2) *va_arg(into, unsigned long long *) = number;
      else if (longs == 1) *va_arg(into, unsigned long *) = (unsigned long)number;
      else *va_arg(into, unsigned *) = (unsigned)number;
      found++;
      continue;
    }
    if (length == 0) break;
    if (width > 0 && length > width) length = width;
    if (!dropped) {
      char *word = va_arg(into, char *);
      memcpy(word, at, length);
      if (*format != 'c') word[length] = 0;
      found++;
    }
    at += length;
  }
  va_end(into);
  return found;
}

static long long clock_ms(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (long long)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

long long now_ms(void) { return clock_ms(CLOCK_MONOTONIC); }
long long wall_ms(void) { return clock_ms(CLOCK_REALTIME); }

bool write_all(int fd, const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t wrote = write(fd, at, length);
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    at += wrote;
    length -= (size_t)wrote;
  }
  return true;
}

/* An engine that is stopped or busy must not stop a job: what it does not take now waits here, in order. */
bool said_may_wait;
static char *said;
static size_t said_length;

/* All or nothing: a frame this small is one message to the kernel. A reader that is gone takes everything. */
static bool send_now(int fd, const void *data, size_t length) {
  ssize_t sent;
  do sent = send(fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL); while (sent < 0 && errno == EINTR);
  if (sent >= 0) return true;
  if (errno == ENOTSOCK) { write_all(fd, data, length); return true; }
  return errno != EAGAIN && errno != ENOBUFS;
}

static void keep_said(int fd, const void *data, size_t length) {
  char *grown = realloc(said, said_length + length);
  /* Without memory it waits after all: an end that is never told would never settle a run. */
  if (!grown) {
    write_all(fd, said, said_length);
    write_all(fd, data, length);
    said_length = 0;
    return;
  }
  said = grown;
  memcpy(said + said_length, data, length);
  said_length += length;
}

bool flush_said(int fd) {
  size_t at = 0;
  uint32_t length;
  while (at < said_length) {
    memcpy(&length, said + at, 4);
    if (!send_now(fd, said + at, 4 + (size_t)length)) break;
    at += 4 + (size_t)length;
  }
  if (at > 0) memmove(said, said + at, said_length - at);
  said_length -= at;
  return said_length == 0;
}

/* One frame = u32 length, kind, text. Small enough that the kernel never interleaves two wardens' frames. */
void say(int fd, char kind, const char *format, ...) {
  char frame[1024];
  va_list list;
  va_start(list, format);
  int text = vsnprintf(frame + 5, sizeof frame - 5, format, list);
  va_end(list);
  if (text < 0) return;
  if ((size_t)text > sizeof frame - 6) text = sizeof frame - 6;
  uint32_t length = (uint32_t)text + 1;
  memcpy(frame, &length, 4);
  frame[4] = kind;
  if (!said_may_wait) write_all(fd, frame, (size_t)text + 5);
  else if (!flush_said(fd) || !send_now(fd, frame, (size_t)text + 5)) keep_said(fd, frame, (size_t)text + 5);
}

int write_file_atomically(int dir_fd, const char *name, const char *text) {
  char temporary[64];
  snprintf(temporary, sizeof temporary, ".%s.tmp", name);
  int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  bool whole = write_all(fd, text, strlen(text));
  if (close(fd) != 0) whole = false;
  if (!whole || renameat(dir_fd, temporary, dir_fd, name) != 0) {
    unlinkat(dir_fd, temporary, 0);
    return -1;
  }
  return 0;
}

/* By its first thread, whose file tells the same: emulators (qemu) make up what a process reads in the file of its
   own. */
unsigned long long start_time_of(pid_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = 0;
  char *after_name = strrchr(text, ')');   /* the name may hold spaces and brackets */
  if (!after_name) return 0;
  unsigned long long start = 0;
  char *at = after_name + 2;
  for (int field = 3; field < 22 && at; field++) {
    at = strchr(at, ' ');
    if (at) at++;
  }
  if (at) start = strtoull(at, NULL, 10);
  return start;
}

void close_from(int lowest) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)lowest, ~0u, 0u) == 0) return;
#endif
  long top = sysconf(_SC_OPEN_MAX);
  if (top < 0 || top > 65536) top = 65536;
  for (int fd = lowest; fd < top; fd++) close(fd);
}

/* False where the kernel cannot (before 5.11). */
bool close_on_exec_from(int lowest) {
#if defined SYS_close_range && defined CLOSE_RANGE_CLOEXEC
  return syscall(SYS_close_range, (unsigned)lowest, ~0u, (unsigned)CLOSE_RANGE_CLOEXEC) == 0;
#else
  (void)lowest;
  return false;
#endif
}
