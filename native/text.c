/* Small things every part needs: clocks, whole writes, event frames, files that appear at once. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
  write_all(fd, frame, (size_t)text + 5);
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

unsigned long long start_time_of(pid_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
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
