/* Shared words of the cerith helper: one small process that starts commands for an engine and never loses sight of
   their children. */
#ifndef CERITH_HELPER_H
#define CERITH_HELPER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine.h"

#define HELPER_VERSION "1"

/* ---- text.c: fields, events, small files ---- */
int scan_text(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));
long long now_ms(void);                 /* monotonic */
long long wall_ms(void);
void say(int fd, char kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
extern bool said_may_wait;              /* frames that the engine does not take are kept; the sender does not wait */
bool flush_said(int fd);                /* true when nothing that was said is still waiting for its reader */
bool write_all(int fd, const void *data, size_t length);
int write_file_atomically(int dir_fd, const char *name, const char *text);
unsigned long long start_time_of(pid_t pid);   /* field 22 of /proc/PID/stat; 0 when unknown */
void close_from(int lowest);
bool close_on_exec_from(int lowest);

/* ---- request.c: what the engine asks for ---- */
typedef struct {
  char *payload; size_t payload_length;
  long id;
  char *cwd, *path, *dir;
  char **argv, **envp;
  int in_slot, out_slot, err_slot;      /* -1 = not a slot */
  bool in_fifo, keep, merge, detached, pty;
  int cols, rows;
  int extra_in_fd, extra_in_slot;       /* child descriptor fed by a slot, e.g. secret values */
  long long deadline_ms, grace_ms, head_bytes, tail_bytes;
  int oom;
  int room, listener_room;              /* the room it enters, and the one whose listener it is given; -1 = none */
  char *folder;                         /* its folder of the room's session files */
  char *groups[4];                      /* control groups that it enters before its room */
  int group_count;
  long long cpu_seconds, memory_bytes, processes, file_bytes;
} Request;
bool parse_request(char *payload, size_t length, Request *request);
void free_request(Request *request);
long long field_number(const char *payload, size_t length, const char *key, long long fallback);
const char *field_text(const char *payload, size_t length, const char *key);

/* ---- tree.c: every descendant of a process ---- */
typedef struct { pid_t *pids; size_t count, room; } PidList;
void list_add(PidList *list, pid_t pid);
bool list_holds(const PidList *list, pid_t pid);
void collect_children(pid_t pid, PidList *list);   /* adds them to the list */
void collect_descendants(pid_t root, PidList *list);
int signal_descendants(pid_t root, int signal_number);   /* how many were signalled */

/* ---- limits.c: what a command and everything below it uses ---- */
typedef struct { long long cpu_ms, memory, processes; } Limits;               /* 0 = none */
/* memory of all together; the peak of the largest process */
typedef struct { long long cpu_ms, memory, processes, largest; } Usage;
void usage_below(pid_t root, Usage *usage);
void watch_usage(const Limits *limits, long long base_cpu_ms);   /* from now on; CPU time counts from the base */
void unwatch_usage(void);
long long next_look(void);                                       /* -1 = not watched */
long long peak_seen(void);
long long cpu_since(long long cpu_ms);
const char *look_at_usage(long long reaped_cpu_ms, long long *used);   /* the limit that is exceeded, or NULL */

/* ---- store.c: output on disk, bounded, with offsets in the names ---- */
typedef struct {
  int dir_fd, fd;
  const char *name;                     /* output.log or stderr.log */
  long long head_max, tail_max, segment_max;
  long long total, head_size, segment_start, segment_size, lost;
  bool failed_once, in_head;
  long long retry_at;
  long long unlooked;                   /* bytes that may be written before the disk is looked at again */
  char last_byte;
  /* the end of what could not be stored: the last words of a command on a full disk */
  char last[1024];
  size_t last_length;
  struct { long long start, size; } segments[64];
  int segment_count;
} Store;
bool store_open(Store *store, int dir_fd, const char *name, long long head_max, long long tail_max, long long start_at);
void store_write(Store *store, const char *data, size_t length);
long long store_omitted(const Store *store);
void store_map(const Store *store, char *text, size_t size);
/* joins head, gap and tail in the head file, then the line */
void store_finish(Store *store, const char *completion_line);

/* ---- mask.c: known values never reach the disk ---- */
typedef struct Mask Mask;
Mask *mask_new(void);
void mask_add(Mask *mask, const char *name, size_t name_length, const unsigned char *needle, size_t length);
bool mask_empty(const Mask *mask);
typedef void (*MaskSink)(void *context, const char *data, size_t length);
typedef struct { char *held; size_t held_length, held_room, shown; } MaskState;
void mask_push(Mask *mask, MaskState *state, const char *data, size_t length, MaskSink sink, void *context);
void mask_flush(Mask *mask, MaskState *state, MaskSink sink, void *context);
void mask_release(Mask *mask, MaskState *state, MaskSink sink, void *context);

/* ---- pass.c: what is printed goes straight into a pipe ---- */
bool begin_passing(const char *path);
bool is_passing(void);
struct pollfd passing_wait(int from);
const char *pass_some(int from);        /* why it cannot go on, or NULL */
long long end_passing(void);            /* how many bytes went that way */

/* ---- terminal.c: the command's terminal ---- */
typedef struct { int master, held; char path[64]; } Terminal;
bool terminal_open(Terminal *terminal, int cols, int rows);
void terminal_let_go(Terminal *terminal);   /* from now on the last program that closes it ends it */
void terminal_size(Terminal *terminal, int cols, int rows);
char terminal_eof_key(const Terminal *terminal);
void terminal_describe(const Terminal *terminal, char *text, size_t size);

/* ---- warden.c: one per command ---- */
typedef struct {
  Request *request;
  int events, lifeline, control;        /* descriptors of this warden */
  int in_read, out_write, err_write;    /* the command's ends, -1 = /dev/null or none */
  int out_read, err_read;               /* reading ends kept for a later move to the background, -1 = none */
  int extra_in;
  int room_orders, wall, listener, lock, spaces[SPACES];   /* of the room, -1 = none */
  /* opens when the launcher has covered what came into being on the machine, -1 = none */
  int gate;
  /* where the request comes from, of a warden that has none yet; -1 = it has one */
  int spare;
  int oom;                              /* of a spare: the score that its command will have */
  pid_t holder;                         /* 0 = outside any room */
  const char *inner;
  bool all_network, nested;
  bool only_wall;                       /* confined without a room: Landlock and seccomp alone */
} WardenLink;
void run_warden(WardenLink link) __attribute__((noreturn));

/* ---- spare.c: wardens that wait for a command ---- */
struct iovec;
ssize_t send_with(int to, struct iovec *parts, int part_count, const int *fds, int count, int flags);
bool fits_spare(const Request *request);
bool hand_over(int spare, WardenLink *link);
bool take_over(WardenLink *link, Request *request);

/* ---- launcher.c ---- */
int run_launcher(void);

/* ---- peer.c: who is at the other end of a socket ---- */
int run_peer(void);

/* ---- link.c: the far end of a link to an engine on this machine ---- */
int run_link(const char *path, int wait_ms, const char *log, const char *pid_file, int silence_ms);
int run_probe(const char *path);
int run_start(const char *log, const char *pid_file, char **argv);

#endif
