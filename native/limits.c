/* What a command and everything below it uses, looked at from time to time: for its limits, and for what the outcome
   says about it. The kernel's own limits count one process each, or all processes of a user; these count the command.
   */
#define _GNU_SOURCE
#include "helper.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A limit is looked at often; usage alone needs no more than a look now and then. */
enum { LOOK_MS = 50, SELDOM_MS = 250 };

static bool watched;
static Limits limits;
static long long look_at, base_cpu_ms, peak;

static long long kilobytes(const char *text, const char *key) {
  const char *at = strstr(text, key);
  return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static bool read_proc(pid_t pid, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, size - 1);
  close(fd);
  text[got > 0 ? got : 0] = 0;
  return got > 0;
}

/* Its own time, and that of children that it has waited for. */
static long long cpu_ms_of(pid_t pid) {
  char text[1024];
  if (!read_proc(pid, "stat", text, sizeof text)) return 0;
  char *after_name = strrchr(text, ')');
  unsigned long own = 0, own_kernel = 0;
  long children = 0, children_kernel = 0;
  if (!after_name || scan_text(after_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &own,
      &own_kernel, &children, &children_kernel) != 4) return 0;
  return ((long long)own + (long long)own_kernel + children + children_kernel) * 1000 / sysconf(_SC_CLK_TCK);
}

void usage_below(pid_t root, Usage *usage) {
  PidList list = {0};
  collect_descendants(root, &list);
  *usage = (Usage){.processes = (long long)list.count};
  for (size_t at = 0; at < list.count; at++) {
    char text[4096];
    usage->cpu_ms += cpu_ms_of(list.pids[at]);
    if (!read_proc(list.pids[at], "status", text, sizeof text)) continue;
    /* Pages of programs and libraries are the files', and most of them are shared. */
    usage->memory += (kilobytes(text, "\nRssAnon:") + kilobytes(text, "\nRssShmem:")) * 1024;
    long long largest = kilobytes(text, "\nVmHWM:") * 1024;
    if (largest > usage->largest) usage->largest = largest;
  }
  free(list.pids);
}

void watch_usage(const Limits *given, long long base) {
  watched = true;
  limits = *given;
  base_cpu_ms = base;
  peak = 0;
  look_at = now_ms();
}

void unwatch_usage(void) { watched = false; }

long long next_look(void) { return watched ? look_at : -1; }

long long peak_seen(void) { return peak; }

long long cpu_since(long long cpu_ms) { return cpu_ms > base_cpu_ms ? cpu_ms - base_cpu_ms : 0; }

const char *look_at_usage(long long reaped_cpu_ms, long long *used) {
  if (!watched || now_ms() < look_at) return NULL;
  bool bounded = limits.cpu_ms > 0 || limits.memory > 0 || limits.processes > 0;
  Usage usage;
  usage_below(getpid(), &usage);
  if (usage.largest > peak) peak = usage.largest;
  look_at = now_ms() + (bounded ? LOOK_MS : SELDOM_MS);
  long long cpu_ms = cpu_since(usage.cpu_ms + reaped_cpu_ms);
  if (limits.memory > 0 && usage.memory > limits.memory) return *used = usage.memory, "memory";
  if (limits.processes > 0 && usage.processes > limits.processes) return *used = usage.processes, "processes";
  if (limits.cpu_ms > 0 && cpu_ms > limits.cpu_ms) return *used = cpu_ms, "cpu";
  return NULL;
}
