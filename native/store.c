/* Output of a job on disk: a head file, then tail segments whose names carry their byte offset. The oldest segments
   are removed, so the disk never fills; what is missing is known exactly from the names. A failed write loses bytes,
   never the job. */
#define _GNU_SOURCE
#include "helper.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { RETRY_MS = 1000, SEGMENTS = 64, RESERVE_BYTES = 16 << 20, LOOK_EVERY_BYTES = 1 << 20 };

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
  if (store->segment_count == SEGMENTS) {   /* cannot happen with eight segments of tail, but never overrun */
    segment_name(store, store->segments[0].start, name, sizeof name);
    unlinkat(store->dir_fd, name, 0);
    memmove(store->segments, store->segments + 1, (SEGMENTS - 1) * sizeof store->segments[0]);
    store->segment_count--;
  }
  store->segments[store->segment_count].start = store->segment_start;
  store->segments[store->segment_count++].size = 0;
  return true;
}

/* Segments that an engine wrote before this keeper took over: they count, are joined at the end and dropped when they
   are old. */
static void find_segments(Store *store) {
  int fd = openat(store->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) return;
  size_t length = strlen(store->name);
  struct dirent *entry;
  while ((entry = readdir(dir)) && store->segment_count < SEGMENTS) {
    if (strncmp(entry->d_name, store->name, length) != 0 || entry->d_name[length] != '.') continue;
    char *end;
    long long start = strtoll(entry->d_name + length + 1, &end, 10);
    struct stat facts;
    if (*end || fstatat(store->dir_fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
        continue;
    int at = store->segment_count++;
    for (; at > 0 && store->segments[at - 1].start > start; at--) store->segments[at] = store->segments[at - 1];
    store->segments[at].start = start;
    store->segments[at].size = facts.st_size;
  }
  closedir(dir);
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

bool store_open(Store *store, int dir_fd, const char *name, long long head_max, long long tail_max,
    long long start_at) {
  memset(store, 0, sizeof *store);
  store->dir_fd = dir_fd;
  store->name = name;
  store->head_max = head_max;
  store->tail_max = tail_max;
  store->segment_max = tail_max / 8 > 65536 ? tail_max / 8 : 65536;
  store->total = start_at;
  store->in_head = true;
  store->last_byte = '\n';
  /* O_EXCL unless an engine already wrote the beginning: a link that was planted there is never followed. */
  int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (start_at == 0 ? O_EXCL : 0);
  store->fd = openat(dir_fd, name, flags, 0600);
  if (store->fd < 0 && errno == EEXIST) store->fd = openat(dir_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (store->fd < 0) store->failed_once = true;
  struct stat facts;
  if (start_at > 0) {
    store->head_size = store->fd >= 0 && fstat(store->fd, &facts) == 0 ? facts.st_size : 0;
    find_segments(store);
    if (store->segment_count > 0 || start_at > store->head_size) open_segment(store);
  }
  return store->fd >= 0 && !store->failed_once;
}

static void remember_last(Store *store, const char *data, size_t length) {
  size_t room = sizeof store->last;
  if (length > room) { data += length - room; length = room; }
  size_t kept = store->last_length + length > room ? room - length : store->last_length;
  memmove(store->last, store->last + store->last_length - kept, kept);
  memcpy(store->last + kept, data, length);
  store->last_length = kept + length;
}

static void note_loss(Store *store, const char *data, size_t length) {
  remember_last(store, data, length);
  store->failed_once = true;
  store->lost += (long long)length;
  store->total += (long long)length;
  if (store->fd >= 0) close(store->fd);
  store->fd = -1;
  store->retry_at = now_ms() + RETRY_MS;
  /* An empty segment holds nothing but a place in the list, and a full disk would fill that too. */
  if (!store->in_head && store->segment_count > 0 && store->segments[store->segment_count - 1].size == 0) {
    char name[96];
    segment_name(store, store->segments[--store->segment_count].start, name, sizeof name);
    unlinkat(store->dir_fd, name, 0);
  }
}

/* Output gives way before the disk is full: the next command needs a little of it. A small disk keeps a quarter. */
static bool disk_has_room(Store *store) {
  struct statvfs disk;
  if (store->unlooked > 0) return true;
  store->unlooked = LOOK_EVERY_BYTES;
  if (fstatvfs(store->dir_fd, &disk) != 0) return true;
  long long size = (long long)disk.f_blocks * (long long)disk.f_frsize,
      left = (long long)disk.f_bavail * (long long)disk.f_frsize;
  long long room = left - (size / 4 < RESERVE_BYTES ? size / 4 : RESERVE_BYTES);
  if (room < store->unlooked) store->unlooked = room;
  return room > 0;
}

void store_write(Store *store, const char *data, size_t length) {
  if (length == 0) return;
  store->last_byte = data[length - 1];
  while (length > 0) {
    if (store->fd < 0) {
      /* The disk was full: after a while a new segment begins at the present offset, the gap shows in the names. */
      if (now_ms() < store->retry_at || !open_segment(store)) {
        note_loss(store, data, length);
        return;
      }
    }
    long long room = store->in_head ? store->head_max - store->total : store->segment_max - store->segment_size;
    if (room <= 0) {
      if (!open_segment(store)) {
        note_loss(store, data, length);
        return;
      }
      drop_old_segments(store);
      continue;
    }
    if (!disk_has_room(store)) {
      note_loss(store, data, length);
      return;
    }
    if (room > store->unlooked) room = store->unlooked;
    size_t part = (long long)length < room ? length : (size_t)room;
    /* Written at its own place: bytes that another process (a command can) adds to the file are written over, never
       counted. */
    ssize_t wrote = pwrite(store->fd, data, part, store->in_head ? store->head_size : store->segment_size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      note_loss(store, data, length);
      return;
    }
    store->last_length = 0;
    store->unlooked -= wrote;
    data += wrote;
    length -= (size_t)wrote;
    store->total += wrote;
    if (store->in_head) store->head_size += wrote;
    else {
      store->segment_size += wrote;
      store->segments[store->segment_count - 1].size += wrote;
    }
  }
}

long long store_omitted(const Store *store) {
  long long kept = store->head_size;
  for (int at = 0; at < store->segment_count; at++) kept += store->segments[at].size;
  return store->total - kept - (long long)store->last_length;
}

static int gap_text(long long bytes, char *text, size_t size) {
    return bytes > 0 ? snprintf(text, size, "\n[... %lld bytes omitted ...]\n", bytes) : 0; }

/* Says where every kept byte will be in the joined file: `start:size@place` for the head and each segment. */
void store_map(const Store *store, char *text, size_t size) {
  char gap[64];
  size_t used = 0;
  if (store->head_size > 0) used += (size_t)snprintf(text, size, "0:%lld@0", store->head_size);
  long long place = store->head_size, end = store->head_size;
  for (int at = 0; at < store->segment_count && used < size; at++) {
    long long start = store->segments[at].start, length = store->segments[at].size;
    place += gap_text(start - end, gap, sizeof gap);
    used += (size_t)snprintf(text + used, size - used, "%s%lld:%lld@%lld", used ? " " : "", start, length, place);
    place += length;
    end = start + length;
  }
  if (used == 0) text[0] = 0;
}

/* The head file is what people open: at the end it gets the kept tail and the completion line. A segment goes away
   when all of it has been joined, so a full disk costs the convenience, not the bytes: readers look for the segment
   first. */
void store_finish(Store *store, const char *completion_line) {
  if (store->fd >= 0) close(store->fd);
  store->fd = -1;
  int head = openat(store->dir_fd, store->name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (head < 0) return;
  char gap[64];
  /* Otherwise what follows would be written over the beginning. */
  if (lseek(head, store->head_size, SEEK_SET) < 0) { close(head); return; }
  bool room = ftruncate(head, store->head_size) == 0;
  long long end = store->head_size;
  for (int at = 0; room && at < store->segment_count; at++) {
    char name[96];
    static char block[65536];
    room = write_all(head, gap, (size_t)gap_text(store->segments[at].start - end, gap, sizeof gap));
    segment_name(store, store->segments[at].start, name, sizeof name);
    int fd = openat(store->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) break;
    long long left = store->segments[at].size;
    ssize_t got = 1;
    while (room && left > 0 && (got = read(fd, block, left < (long long)sizeof block ? (size_t)left
        : sizeof block)) > 0) {
      room = write_all(head, block, (size_t)got);
      left -= got;
    }
    close(fd);
    if (left > 0) break;
    unlinkat(store->dir_fd, name, 0);
    end = store->segments[at].start + store->segments[at].size;
  }
  if (room) room = write_all(head, gap, (size_t)gap_text(store->total - (long long)store->last_length - end, gap,
      sizeof gap));
  if (room) write_all(head, store->last, store->last_length);
  if (completion_line) {
    if (store->last_byte != '\n') write_all(head, "\n", 1);
    write_all(head, completion_line, strlen(completion_line));
  }
  close(head);
}
