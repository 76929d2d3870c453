/* Output of a job on disk: a head file, then tail segments whose names carry their byte offset. The oldest segments are removed,
   so the disk never fills; what is missing is known exactly from the names. A failed write loses bytes, never the job. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_MS = 1000 };

static void segment_name(const Store *store, long long start, char *name, size_t size) {
  snprintf(name, size, "%s.%lld", store->name, start);
}

static bool open_segment(Store *store) {
  char name[96];
  if (store->fd >= 0) close(store->fd);
  store->fd = -1;
  segment_name(store, store->total, name, sizeof name);
  int fd = openat(store->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  store->fd = fd;
  store->in_head = false;
  store->segment_start = store->total;
  store->segment_size = 0;
  if (store->segment_count == 64) {   /* cannot happen with eight segments of tail, but never overrun */
    segment_name(store, store->segments[0].start, name, sizeof name);
    unlinkat(store->dir_fd, name, 0);
    memmove(store->segments, store->segments + 1, 63 * sizeof store->segments[0]);
    store->segment_count--;
  }
  store->segments[store->segment_count].start = store->segment_start;
  store->segments[store->segment_count++].size = 0;
  return true;
}

/* Removes the oldest segments while the others still hold the promised tail. */
static void drop_old_segments(Store *store) {
  long long kept = 0;
  for (int at = 0; at < store->segment_count; at++) kept += store->segments[at].size;
  while (store->segment_count > 1 && kept - store->segments[0].size >= store->tail_max) {
    char name[96];
    segment_name(store, store->segments[0].start, name, sizeof name);
    unlinkat(store->dir_fd, name, 0);
    kept -= store->segments[0].size;
    memmove(store->segments, store->segments + 1, (size_t)(store->segment_count - 1) * sizeof store->segments[0]);
    store->segment_count--;
  }
}

bool store_open(Store *store, int dir_fd, const char *name, long long head_max, long long tail_max, long long start_at) {
  memset(store, 0, sizeof *store);
  store->dir_fd = dir_fd;
  store->name = name;
  store->head_max = head_max;
  store->tail_max = tail_max;
  store->segment_max = tail_max / 8 > 65536 ? tail_max / 8 : 65536;
  store->total = start_at;
  store->in_head = true;
  store->last_byte = '\n';
  /* O_EXCL unless an engine already wrote the beginning: a link somebody planted is never followed. */
  int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (start_at == 0 ? O_EXCL : 0);
  store->fd = openat(dir_fd, name, flags, 0600);
  if (store->fd < 0 && errno == EEXIST) store->fd = openat(dir_fd, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (store->fd < 0) store->failed_once = true;
  if (start_at >= head_max) open_segment(store);
  return store->fd >= 0;
}

static void note_loss(Store *store, size_t length) {
  store->failed_once = true;
  store->lost += (long long)length;
  store->total += (long long)length;
  if (store->fd >= 0) close(store->fd);
  store->fd = -1;
  store->retry_at = now_ms() + RETRY_MS;
}

void store_write(Store *store, const char *data, size_t length) {
  if (length == 0) return;
  store->last_byte = data[length - 1];
  while (length > 0) {
    if (store->fd < 0) {
      /* The disk was full: after a while a new segment begins at the present offset, the gap shows in the names. */
      if (now_ms() < store->retry_at || !open_segment(store)) {
        note_loss(store, length);
        return;
      }
    }
    long long room = store->in_head ? store->head_max - store->total : store->segment_max - store->segment_size;
    if (room <= 0) {
      if (!open_segment(store)) {
        note_loss(store, length);
        return;
      }
      drop_old_segments(store);
      continue;
    }
    size_t part = (long long)length < room ? length : (size_t)room;
    ssize_t wrote = write(store->fd, data, part);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      note_loss(store, length);
      return;
    }
    data += wrote;
    length -= (size_t)wrote;
    store->total += wrote;
    if (!store->in_head) {
      store->segment_size += wrote;
      store->segments[store->segment_count - 1].size += wrote;
    }
  }
}

long long store_omitted(const Store *store) {
  if (store->segment_count == 0) return store->lost;
  long long kept = store->total < store->head_max ? store->total : store->head_max;
  if (store->failed_once && store->segments[0].start < store->head_max) kept = store->segments[0].start - store->lost > 0 ? store->segments[0].start - store->lost : 0;
  for (int at = 0; at < store->segment_count; at++) kept += store->segments[at].size;
  long long omitted = store->total - kept;
  return omitted > store->lost ? omitted : store->lost;
}

/* The head file is what people open: at the end it gets the kept tail and the completion line. Readers that count offsets use
   the recorded total and never look past the head there. */
void store_finish(Store *store, const char *completion_line) {
  if (store->fd >= 0) close(store->fd);
  store->fd = -1;
  int head = openat(store->dir_fd, store->name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (head < 0) return;
  if (store->segment_count > 0) {
    char text[160];
    int length = snprintf(text, sizeof text, "\n[... %lld bytes omitted ...]\n", store_omitted(store));
    bool room = write_all(head, text, (size_t)length);
    for (int at = 0; room && at < store->segment_count; at++) {
      char name[96], block[65536];
      segment_name(store, store->segments[at].start, name, sizeof name);
      int fd = openat(store->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) continue;
      ssize_t got;
      while (room && (got = read(fd, block, sizeof block)) > 0) room = write_all(head, block, (size_t)got);
      close(fd);
    }
  }
  if (completion_line) {
    if (store->last_byte != '\n') write_all(head, "\n", 1);
    write_all(head, completion_line, strlen(completion_line));
  }
  close(head);
}
