/* A warden watches one command: it is the child subreaper of everything the command starts, tells the engine how the
   leader ended, ends the whole tree when asked (or when the engine is gone), and, for a job, keeps its output and
   records its end on disk. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { DRAIN_MS = 100, KILL_TICK_MS = 10, GIVE_UP_MS = 5000, ORPHANED_GRACE_MS = 1000, TOLD_EVERY_MS = 20,
    RELEASE_MS = 100, RECORD_BYTES = 12288 };

typedef struct { int fd; Store store; MaskState held; long long held_at; bool used, wide; } Source;

static WardenLink link_;
static pid_t leader;
static bool leader_gone, everything_gone, recorded;
static int leader_status;
static long long leader_gone_at, kill_deadline, give_up_at, deadline;
static bool killing, forced;
static char kill_why[16];
static Source sources[2];
static Source late;
static int source_count, dir_fd = -1, job_control = -1, job_stdin = -1;
static Terminal terminal = {-1, -1, ""};
static Mask *mask;
static char pending_input[65536];
static size_t pending_length;
static long long told_at;
static bool untold, held_back;   /* held_back: the engine is behind, the command waits for it */
static int child_pipe[2];
static pid_t init;                        /* the first process of the command's own ids, in a room; 0 = none */
static int init_ready = -1;               /* a gate that the init of a room opens */
static int own_mounts = -1;               /* of the command, in a room; closed with this process */
static int leave_pipe[2] = {-1, -1};      /* its end tells the init that the leader has ended */
static struct rusage leader_usage;
static long long orphans_cpu_ms;          /* of processes that were reaped here because their own parents were gone */
static long orphans_peak;
static char kill_by[128], over_limit[16]; /* the client that ended the command; the limit that it exceeded */
static long long over_used;
/* what was used when it was told to end: its own parent may not live to add it up */
static Usage at_kill;
/* a command over its limit is ended here; of a session's command the engine is told */
static bool limits_end = true;

static void on_child(int signal_number) {
  (void)signal_number;
  int saved = errno;
  ssize_t ignored = write(child_pipe[1], "c", 1);
  (void)ignored;
  errno = saved;
}

/* ---- starting the command ---- */

/* A limit that is stricter already stays as it is. */
static bool limit(int what, long long soft, long long hard) {
  if (soft < 0) return true;
  struct rlimit now;
  if (getrlimit(what, &now) != 0) return false;
  if (now.rlim_max == RLIM_INFINITY || (rlim_t)hard < now.rlim_max) now.rlim_max = (rlim_t)hard;
  now.rlim_cur = (rlim_t)soft < now.rlim_max ? (rlim_t)soft : now.rlim_max;
  return setrlimit(what, &now) == 0;
}

static long long most_tasks = -1;
static bool limit_command(const Request *request) {
  /* The soft limit speaks first (SIGXCPU), so that the record can tell it from any other kill. */
  return limit(RLIMIT_CPU, request->cpu_seconds > 0 ? request->cpu_seconds : -1, request->cpu_seconds + 2)
    && limit(RLIMIT_DATA, request->memory_bytes > 0 ? request->memory_bytes * 2 : -1, request->memory_bytes * 2)
    && limit(RLIMIT_FSIZE, request->file_bytes > 0 ? request->file_bytes : -1, request->file_bytes)
    && limit(RLIMIT_NPROC, most_tasks, most_tasks);
}

/* The kernel's limits stand behind those of limits.c, for what happens between two looks: they count other things
   (reserved memory, all tasks of the user), so they leave room. */
static long long backstop_tasks(const Request *request) {
  struct sysinfo now;
  return request->processes > 0 && sysinfo(&now) == 0 ? now.procs + request->processes * 2 : -1;
}

static long long cpu_ms_of(const struct rusage *usage) {
  return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec)
      * 1000LL + (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

/* Of the leader with everything that it waited for, and of what was reaped here until then. */
static long long ended_cpu_ms(void) {
  long long waited = cpu_ms_of(&leader_usage) + orphans_cpu_ms;
  return waited > at_kill.cpu_ms ? waited : at_kill.cpu_ms;
}
static long ended_peak(void) {
  long peak = leader_usage.ru_maxrss > orphans_peak ? leader_usage.ru_maxrss : orphans_peak;
  return peak > at_kill.largest / 1024 ? peak : (long)(at_kill.largest / 1024);
}

static void fail_child(int report, const char *what) {
  char text[64];
  /* F_DUPFD says EINVAL where the lowest number that will do is above the limit. */
  int length = snprintf(text, sizeof text, "%d %s", errno == EINVAL
      && strcmp(what, "descriptors") == 0 ? EMFILE : errno, what);
  write_all(report, text, (size_t)length);
  _exit(127);
}

static void set_oom_score(int score) {
  int fd = score < 0 ? -1 : open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[16];
  int length = snprintf(text, sizeof text, "%d", score);
  write_all(fd, text, (size_t)length);
  close(fd);
}

/* What comes from this process is in the groups too. */
static bool enter_groups(const Request *request) {
  for (int at = 0; at < request->group_count; at++) {
    char path[4352];
    if (snprintf(path, sizeof path, "%s/cgroup.procs", request->groups[at]) >= (int)sizeof path) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool entered = fd >= 0 && write(fd, "0", 1) == 1;
    if (fd >= 0) close(fd);
    if (!entered) return false;
  }
  return true;
}

/* Runs in the child, before its exec. The order matters: a new session first, so that no terminal of the engine can
   be reached. */
static void become_command(Request *request, int report) {
  if (setsid() < 0) fail_child(report, "session");
  /* What is caught becomes the default by the exec itself; the launcher began with nothing ignored, so only these
     are. */
  int ignored[] = {SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGTERM};
  for (size_t at = 0; at < sizeof ignored / sizeof ignored[0]; at++) signal(ignored[at], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) fail_child(report, "signals");
  if (!request->detached) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail_child(report, "pdeathsig");
    if (getppid() == 1) _exit(127);   /* the warden is gone: no process reads the answer */
  }
  /* In a room /proc is read-only: there the porter, from which this process comes, has done it. */
  if (link_.holder == 0) set_oom_score(request->oom);
  /* The memory is the warden's own until the exec: nothing of it may be changed. */
  int in = link_.in_read, out = link_.out_write, err = request->merge ? link_.out_write : link_.err_write;
  if (request->pty) {
    in = out = err = open(terminal.path, O_RDWR | O_CLOEXEC);
    if (in < 0) fail_child(report, "pty");
    if (ioctl(in, TIOCSCTTY, 0) != 0) fail_child(report, "pty");
  }
  /* Lift everything that is needed above the numbers it will be given, no higher than that, then put each in its
     place. */
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) fail_child(report, "descriptors");
  enum { ENDS = 5, LISTENER_FD = 3 };
  int ends[ENDS] = {in, out, err, link_.extra_in, link_.listener};
  int places[ENDS] = {0, 1, 2, request->extra_in_fd, link_.listener < 0 ? -1 : LISTENER_FD};
  int base = 3;
  for (int at = 3; at < ENDS; at++) if (places[at] >= base) base = places[at] + 1;
  int lifted = fcntl(report, F_DUPFD_CLOEXEC, base);
  if (lifted < 0) fail_child(report, "descriptors");
  report = lifted;
  int wall = link_.wall < 0 ? -1 : fcntl(link_.wall, F_DUPFD_CLOEXEC, base);
  if (link_.wall >= 0 && wall < 0) fail_child(report, "descriptors");
  int gates[] = {link_.gate, init_ready};
  for (size_t at = 0; at < sizeof gates / sizeof gates[0]; at++)
    if (gates[at] >= 0 && (gates[at] = fcntl(gates[at], F_DUPFD_CLOEXEC, base)) < 0) fail_child(report, "descriptors");
  for (int at = 0; at < ENDS; at++) {
    int source = ends[at] >= 0 ? ends[at] : (at < 3 ? nothing : -1);
    ends[at] = source < 0 ? -1 : fcntl(source, F_DUPFD_CLOEXEC, base);
    if (source >= 0 && ends[at] < 0) fail_child(report, "descriptors");
  }
  /* Whatever is open goes with the exec, except what is put in its place now. An old kernel cannot do it at once;
     everything here was opened to go with the exec anyway. */
  close_on_exec_from(3);
  for (int at = 0; at < ENDS; at++) if (ends[at] >= 0 && places[at] >= 0 && dup2(ends[at], places[at]) < 0)
      fail_child(report, "descriptors");
  if (!limit_command(request)) fail_child(report, "limits");
  if (request->cwd && chdir(request->cwd) != 0) fail_child(report, "cwd");
  if (link_.holder != 0 || link_.only_wall) {
    /* Without a room there are no capabilities that would do instead: only a process that can gain no rights may
       enter a ruleset. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_child(report, "sandbox");
    if (link_.only_wall && !enter_groups(request)) fail_child(report, "sandbox");
    if (link_.only_wall) shield_switches();
    bool walled = link_.wall >= 0 ? wall >= 0 && enter_wall(wall) : !link_.only_wall;
    Around around = !link_.only_wall ? IN_ROOM : link_.all_network ? ALONE : ALONE_OFFLINE;
    const char *failed = walled ? lock_down(link_.nested, around) : "landlock";
    for (size_t at = 0; !failed && at < sizeof gates / sizeof gates[0]; at++)
        if (gates[at] >= 0 && !gate_is_open(gates[at])) failed = "gate";
    if (failed) fail_child(report, "sandbox");
  }
  execve(request->path, request->argv, request->envp);
  fail_child(report, "exec");
}

static void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static int confined_report;
static int become_confined(void *request) {
  become_command(request, confined_report);
  return 127;
}

/* The porter goes into the room and leaves two children of this process there: the first of the new process ids, and
   the command. It has this process's memory and descriptors, so a terminal that it opens inside is held here. */
static const char *porter_failed;
static int porter_error;
static int carry_in(void *context) {
  (void)context;
  static Request taken;
  Request *request = link_.request;
  Entry entry = {.spaces = link_.spaces, .detached = request
      && request->detached, .lock = link_.lock, .held = &own_mounts, .ready = &init_ready,
    .leave = leave_pipe[0]};
  set_oom_score(request ? request->oom : link_.oom);
  porter_failed = !request || enter_groups(request) ? room_enter(&entry, &init) : "limits";
  if (!request && !porter_failed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);   /* without its warden it takes no command */
    drop_bounds();
    if (take_over(&link_, &taken)) request = link_.request = &taken;
    most_tasks = request ? backstop_tasks(request) : -1;
  }
  if (!request) return 0;
  if (!porter_failed) porter_failed = room_furnish(link_.inner, request->folder, request->pty);
  if (!porter_failed && request->pty && !terminal_open(&terminal, request->cols, request->rows))
      porter_failed = "terminal";
  if (!porter_failed && (leader = clone_leader(become_confined, request)) < 0) porter_failed = "fork";
  porter_error = errno;
  return 0;
}

/* While it waits in the room for a command, this process waits for it like for any other, and not in the middle of a
   call of the kernel that counts as work. The memory is one: no signal is handled meanwhile. */
static const char *start_confined(int report) {
  static char stack[65536] __attribute__((aligned(16)));
  if (pipe2(leave_pipe, O_CLOEXEC) != 0) return "pipe";
  confined_report = report;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t porter = clone(carry_in, stack + sizeof stack, CLONE_VM | (link_.request ? CLONE_VFORK
      : 0) | CLONE_FILES | SIGCHLD, NULL);
  if (porter > 0) waitpid(porter, NULL, 0);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (porter < 0) return "fork";
  /* Killed on its way, it has said nothing. */
  if (!porter_failed && link_.request && leader <= 0) { porter_failed = "porter"; porter_error = ESRCH; }
  for (int at = 0; at < SPACES; at++) close_end(&link_.spaces[at]);
  close_end(&leave_pipe[0]);
  close_end(&init_ready);
  close_end(&link_.gate);
  if ((porter_failed || !link_.request) && init > 0) {
    kill(init, SIGKILL);
    /* A leader that the porter did not come to name is a child of the warden: until it is reaped, the kernel keeps the
       init. */
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
  }
  errno = porter_error;
  return porter_failed;
}

/* The command has ended: only its end is left to be told. */
static void leave(void) {
  struct pollfd reader = {link_.events, POLLOUT, 0};
  while (!flush_said(link_.events)) poll(&reader, 1, -1);
  _exit(0);
}

static void start_failed(int error, const char *what) {
  /* a spare; where a command was meant for it already, the launcher tells of its end */
  if (!link_.request) kill(getpid(), SIGKILL);
  say(link_.events, 'f', "id=%ld\nerrno=%d\nwhat=%s", link_.request->id, error, what);
  leave();
}

/* The command runs already, but what a job needs beside it could not be made: it ends, and the start has failed. */
static void abandon(int error, const char *what) {
  for (int status; waitpid(leader, &status, WNOHANG) == 0;) {
    signal_descendants(getpid(), SIGKILL);
    poll(NULL, 0, 1);
  }
  signal_descendants(getpid(), SIGKILL);
  start_failed(error, what);
}

/* ---- keeping a job's output ---- */

static void into_store(void *context, const char *data, size_t length) { store_write(context, data, length); }

static void keep_bytes(Source *source, const char *data, size_t length) {
  mask_push(mask, &source->held, data, length, into_store, &source->store);
  source->held_at = source->held.held_length > source->held.shown ? now_ms() : 0;
  untold = true;
}

static void open_job(const char *dir, bool merged) {
  dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir_fd >= 0) source_count = merged ? 1 : 2;
}

static bool open_job_files(long long head, long long tail, long long out_at, long long err_at) {
  bool merged = source_count == 1;
  if (head <= 0) head = 32 << 20;
  if (tail <= 0) tail = 32 << 20;
  bool opened = store_open(&sources[0].store, dir_fd, "output.log", head, tail, out_at);
  sources[0].used = true;
  if (!merged) {
    opened = store_open(&sources[1].store, dir_fd, "stderr.log", head, tail, err_at) && opened;
    sources[1].used = true;
  }
  return opened;
}

static bool open_job_control(void) {
  if (mkfifoat(dir_fd, "control", 0600) != 0 && errno != EEXIST) return false;
  /* Reading and writing: the FIFO then never reports end of file while writers come and go. */
  job_control = openat(dir_fd, "control", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  return job_control >= 0;
}

static bool record_start(void) {
  char text[256];
  unsigned long long own = start_time_of(getpid()), of_leader = start_time_of(leader);
  /* Without these a reader would take the job for lost. */
  if (own == 0 || of_leader == 0) return false;
  snprintf(text, sizeof text,
           "pid=%d\npgid=%d\nwarden=%d\nwarden_start=%llu\nleader_start=%llu\ninit=%d\nat=%lld\nclock=%lld\n",
           (int)leader, (int)leader, (int)getpid(), own, of_leader, (int)init, wall_ms(), now_ms());
  /* One small write into a new file: a reader sees all of it or takes it for not there yet. */
  int fd = openat(dir_fd, "started", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool whole = write_all(fd, text, strlen(text));
  return close(fd) == 0 && whole;
}

static void read_source(Source *source, int most_rounds) {
  static char block[262144];
  while (source->fd >= 0 && most_rounds-- > 0) {
    ssize_t got = read(source->fd, block, sizeof block);
    /* A flood: with a wider pipe it takes a quarter of the switches between the two processes. */
    if (got == 65536 && !source->wide) { source->wide = true; fcntl(source->fd, F_SETPIPE_SZ, 1 << 20);
        /* or stays as it is */ }
    if (got > 0) {
      if (recorded) {
        if (!late.used) { store_open(&late.store, dir_fd, "late.log", 1 << 20, 1 << 20, 0); late.used = true; }
        keep_bytes(&late, block, (size_t)got);
      } else keep_bytes(source, block, (size_t)got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    /* 0 = every writer is gone; EIO = the same, said by a terminal. */
    close(source->fd);
    if (source->fd == terminal.master) terminal.master = -1;
    source->fd = -1;
  }
}

static void record_end(void) {
  recorded = true;
  long long total[2] = {0, 0}, omitted[2] = {0, 0};
  bool incomplete = false;
  for (int at = 0; at < source_count; at++) {
    mask_flush(mask, &sources[at].held, into_store, &sources[at].store);
    sources[at].held_at = 0;
    total[at] = sources[at].store.total;
    omitted[at] = store_omitted(&sources[at].store);
    incomplete |= sources[at].store.failed_once;
  }
  int code = WIFEXITED(leader_status) ? WEXITSTATUS(leader_status) : -1;
  int number = WIFSIGNALED(leader_status) ? WTERMSIG(leader_status) : 0;
  char text[RECORD_BYTES], line[160], maps[2][RECORD_BYTES / 2 - 512] = {"", ""};
  char last[2][sizeof sources[0].store.last * 2 + 1] = {"", ""};
  for (int at = 0; at < source_count; at++) {
    store_map(&sources[at].store, maps[at], sizeof maps[at]);
    for (size_t byte = 0; byte < sources[at].store.last_length; byte++)
        snprintf(last[at] + byte * 2, 3, "%02x", (unsigned char)sources[at].store.last[byte]);
  }
  snprintf(text, sizeof text,
           "code=%d\nsignal=%d\nwhy=%s\nforced=%d\nended=%lld\nclock=%lld\n"
           "out_total=%lld\nout_omitted=%lld\nerr_total=%lld\nerr_omitted=%lld\nincomplete=%d\nmaxrss=%ld\ncpu=%lld\n"
           "by=%s\nlimit=%s\nused=%lld\n"
           "out_map=%s\nerr_map=%s\nout_last=%s\nerr_last=%s\nwhole=1\n",
           code, number, kill_why, forced, wall_ms(), now_ms(), total[0], omitted[0], total[1], omitted[1], incomplete,
           ended_peak(), ended_cpu_ms(),
           kill_by, over_limit, over_used, maps[0], maps[1], last[0], last[1]);
  if (number) snprintf(line, sizeof line, "[background process %s: signal %d]\n", strcmp(kill_why, "timeout") == 0
      ? "timed out" : "killed", number);
  else if (code) snprintf(line, sizeof line, "[background process failed: exit code %d]\n", code);
  else snprintf(line, sizeof line, "[background process completed: exit code 0]\n");
  /* The record comes first: a reader that finds no record knows that the file holds nothing but output. */
  if (write_file_atomically(dir_fd, "status", text) != 0) {
    /* A full disk: the space was set aside at the start. */
    int fd = openat(dir_fd, "status.reserve", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
      write_all(fd, text, strlen(text));
      close(fd);
      renameat(dir_fd, "status.reserve", dir_fd, "status");
    }
  } else unlinkat(dir_fd, "status.reserve", 0);
  for (int at = 0; at < source_count; at++) store_finish(&sources[at].store, at == 0 ? line : NULL);
  say(link_.events, 'e', "id=%ld", link_.request->id);
}

static void reserve_status(void) {
  char blank[RECORD_BYTES];
  memset(blank, '\n', sizeof blank);
  /* A precaution: where it cannot be made, a disk that is full at the end costs the record. */
  int fd = openat(dir_fd, "status.reserve", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  write_all(fd, blank, sizeof blank);
  close(fd);
}

/* ---- ending it ---- */

/* The shell of a session ignores SIGTERM: it would go on with its list while what it waits for ends. It also catches the
   signal that stops its commands (marks.ts), as a program in Go does, which catches every one. */
static bool is_shell_of_session(pid_t pid) {
  enum { STOP = 55 };
  char text[4096];
  snprintf(text, sizeof text, "/proc/%d/status", (int)pid);
  int fd = open(text, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  const char *ignored = strstr(text, "\nSigIgn:"), *caught = strstr(text, "\nSigCgt:");
  return ignored && caught && strtoull(ignored + 8, NULL, 16) >> (SIGTERM - 1)
      & strtoull(caught + 8, NULL, 16) >> (STOP - 1) & 1;
}

static void begin_kill(int number, long long grace, const char *why) {
  if (!leader_gone && !kill_why[0]) snprintf(kill_why, sizeof kill_why, "%s", why);
  if (!leader_gone && !killing) usage_below(getpid(), &at_kill);
  if (number == SIGKILL || grace <= 0) {
    forced = true;
    signal_descendants(getpid(), SIGKILL);
    kill_deadline = now_ms();
  } else {
    if (number == SIGTERM && !leader_gone && is_shell_of_session(leader)) kill(leader, SIGHUP);
    signal_descendants(getpid(), number);
    /* A stopped process cannot act on the polite signal before it is continued. */
    signal_descendants(getpid(), SIGCONT);
    long long until = now_ms() + grace;
    if (!killing || until < kill_deadline) kill_deadline = until;
  }
  if (!killing) give_up_at = kill_deadline + GIVE_UP_MS;
  killing = true;
}

static void advance_kill(void) {
  if (!killing || now_ms() < kill_deadline) return;
  int left = signal_descendants(getpid(), SIGKILL);
  if (left > 0 && !leader_gone) forced = true;
  kill_deadline = now_ms() + KILL_TICK_MS;
  if (now_ms() > give_up_at) {
    say(link_.events, 'k', "id=%ld\nleft=%d", link_.request->id, left);
    give_up_at = now_ms() + 60000;
  }
}

/* ---- orders ---- */

/* What was typed before the end of input comes before it. */
static void end_input(void) {
  if (terminal.master < 0) { close_end(&job_stdin); return; }
  ssize_t got = read(job_stdin, pending_input + pending_length, sizeof pending_input - pending_length);
  if (got > 0) pending_length += (size_t)got;
  if (pending_length < sizeof pending_input) pending_input[pending_length++] = terminal_eof_key(&terminal);
}

/* Answers `look N` with the state of the terminal and of the input, in the file look.N, which the process that asked
   removes. When it is there, every order before it has been obeyed. */
static void answer_look(int number) {
  char name[32], modes[256], text[400];
  terminal_describe(&terminal, modes, sizeof modes);
  snprintf(name, sizeof name, "look.%d", number);
  snprintf(text, sizeof text, "unsent=%zu\n%s", pending_length, modes);
  write_file_atomically(dir_fd, name, text);
}

static unsigned char *from_hex(const char *text, size_t *length) {
  unsigned char *bytes = malloc(strlen(text) / 2 + 1);
  *length = 0;
  for (const char *at = text; bytes && at[0] && at[1]; at += 2) {
    unsigned value;
    if (scan_text(at, "%2x", &value) != 1) break;
    bytes[(*length)++] = (unsigned char)value;
  }
  return bytes;
}

static void add_needle(const char *text) {
  const char *colon = strchr(text, ':');
  if (!colon) return;
  size_t length;
  unsigned char *bytes = from_hex(colon + 1, &length);
  if (!bytes) return;
  if (!mask) mask = mask_new();
  mask_add(mask, text, (size_t)(colon - text), bytes, length);
  free(bytes);
}

static void add_needles(const char *payload, size_t length) {
  for (const char *at = payload; at < payload + length; at += strlen(at) + 1) if (strncmp(at, "mask=", 5) == 0)
      add_needle(at + 5);
}

static void keep_hex(Source *source, const char *text) {
  size_t length;
  unsigned char *bytes = text ? from_hex(text, &length) : NULL;
  if (bytes && length > 0) keep_bytes(source, (const char *)bytes, length);
  free(bytes);
}

static void move_failed(const char *what) { say(link_.events, 'b', "id=%ld\nerrno=%d\nwhat=%s", link_.request->id,
    errno, what); }

static void move_to_background(const char *payload, size_t length) {
  const char *dir = field_text(payload, length, "dir");
  if (!dir || dir_fd >= 0) return;
  /* A session's shell was given its pipes after the start, so this warden never had their reading ends: the engine
     names its own. */
  const char *out_path = field_text(payload, length, "out_path"), *err_path = field_text(payload, length, "err_path");
  if (link_.out_read < 0 && out_path) link_.out_read = open(out_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (link_.err_read < 0 && err_path) link_.err_read = open(err_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (link_.out_read < 0 || (err_path && link_.err_read < 0)) { move_failed("pipe"); return; }
  bool merged = link_.err_read < 0;
  open_job(dir, merged);
  if (dir_fd < 0) { move_failed("dir"); return; }
  link_.request->detached = field_number(payload, length, "detached", 0) != 0;
  bool made = open_job_files(field_number(payload, length, "head", 0), field_number(payload, length, "tail", 0),
                             field_number(payload, length, "out_at", 0), field_number(payload, length, "err_at", 0));
  made = made && open_job_control();
  sources[0].fd = link_.out_read;
  sources[1].fd = merged ? -1 : link_.err_read;
  for (int at = 0; at < source_count; at++) made = made && fcntl(sources[at].fd, F_SETFL, O_NONBLOCK) == 0;
  made = made && record_start();
  if (!made) {
    /* Nothing was read yet: it stays what it was. */
    move_failed("record");
    sources[0].fd = sources[1].fd = -1;
    source_count = 0;
    close_end(&job_control);
    close_end(&dir_fd);
    return;
  }
  reserve_status();
  limits_end = true;   /* the engine may be gone when it is over one */
  add_needles(payload, length);
  /* Bytes that the engine had read and held back, because they may begin a value that is to be masked. */
  keep_hex(&sources[0], field_text(payload, length, "out_held"));
  if (!merged) keep_hex(&sources[1], field_text(payload, length, "err_held"));
  say(link_.events, 'b', "id=%ld", link_.request->id);
}

/* The engine does not read this stream any more: with the last reading end the command's next write to it fails. */
static void close_output(const char *payload, size_t length) {
  if (!field_number(payload, length, "err", 0) && is_passing()) end_passing();
  if (dir_fd < 0) close_end(field_number(payload, length, "err", 0) ? &link_.err_read : &link_.out_read);
}

/* A flood: with wider pipes it takes a fraction of the switches between the processes. Where the kernel does not
   allow it they stay. */
static void widen(void) {
  if (link_.out_read >= 0) fcntl(link_.out_read, F_SETPIPE_SZ, 1 << 20);
  if (link_.err_read >= 0) fcntl(link_.err_read, F_SETPIPE_SZ, 1 << 20);
}

/* The engine goes on reading from here. */
static void stop_passing(const char *why) {
  if (is_passing()) say(link_.events, 't', "id=%ld\nbytes=%lld\nwhy=%s", link_.request->id, end_passing(), why);
}

static void pass_on(const char *payload, size_t length) {
  const char *path = field_text(payload, length, "path");
  if (!path) { stop_passing("asked"); return; }
  if (is_passing()) return;
  if (dir_fd >= 0 || leader_gone || link_.out_read < 0 || !begin_passing(path))
      say(link_.events, 't', "id=%ld\nbytes=0\nwhy=refused", link_.request->id);
}

static void watch_call(const char *payload, size_t length);

static void obey(char kind, const char *payload, size_t length) {
  if (kind == 'K') {
    const char *why = field_text(payload, length, "why");
    begin_kill((int)field_number(payload, length, "sig", SIGTERM), field_number(payload, length, "grace", 2000), why
        ? why : "caller");
  } else if (kind == 'B') move_to_background(payload, length);
  else if (kind == 'M') add_needles(payload, length);
  else if (kind == 'U') close_output(payload, length);
  else if (kind == 'W') widen();
  else if (kind == 'T') pass_on(payload, length);
  else if (kind == 'H') held_back = field_number(payload, length, "held", 0) != 0;
  else if (kind == 'L') watch_call(payload, length);
  else if (kind == 'D') link_.request->detached = field_number(payload, length, "detached", 0) != 0;
}

static void read_orders(void) {
  static char *buffer;
  static size_t have, room;
  if (have + 65536 > room) {
    char *grown = realloc(buffer, have + 131072);
    if (!grown) return;
    buffer = grown;
    room = have + 131072;
  }
  ssize_t got = read(link_.control, buffer + have, room - have);
  if (got == 0) { close_end(&link_.control); return; }
  if (got < 0) return;
  have += (size_t)got;
  size_t at = 0;
  uint32_t length;
  while (have - at >= 5 && (memcpy(&length, buffer + at, 4), have - at >= 4 + (size_t)length)) {
    if (length > 0) obey(buffer[at + 4], buffer + at + 5, length - 1);
    at += 4 + length;
  }
  memmove(buffer, buffer + at, have - at);
  have -= at;
}

/* Lines that any later process may write into the job's control FIFO. */
static void read_job_control(void) {
  static char text[16384];
  static size_t have;
  ssize_t got = read(job_control, text + have, sizeof text - 1 - have);
  if (got <= 0) return;
  have += (size_t)got;
  text[have] = 0;
  /* A read may end in the middle of a line; a line that never ends is dropped. */
  char *rest = strrchr(text, '\n');
  if (!rest) { if (have == sizeof text - 1) have = 0; return; }
  *rest++ = 0;
  for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    int a = 0, b = 0;
    char why[16] = "caller", by[sizeof kill_by] = "";
    if (scan_text(line, "kill %d %d %15s %127[^\n]", &a, &b, why, by) >= 2) {
      if (!leader_gone && !kill_why[0]) snprintf(kill_by, sizeof kill_by, "%s", by);
      begin_kill(a, b, why);
    }
    else if (scan_text(line, "signal %d", &a) == 1) { if (!leader_gone) kill(-leader, a); }
    else if (scan_text(line, "size %d %d", &a, &b) == 2) terminal_size(&terminal, a, b);
    else if (strcmp(line, "eof") == 0) end_input();
    else if (scan_text(line, "look %d", &a) == 1) answer_look(a);
    else if (strncmp(line, "mask ", 5) == 0) add_needle(line + 5);
  }
  have -= (size_t)(rest - text);
  memmove(text, rest, have);
}

/* ---- limits ---- */

static void look_at_limits(void) {
  long long used = 0;
  const char *over = leader_gone || killing ? NULL : look_at_usage(orphans_cpu_ms, &used);
  if (!over) return;
  unwatch_usage();
  if (!limits_end) { say(link_.events, 'u', "id=%ld\nlimit=%s\nused=%lld", link_.request->id, over, used); return; }
  snprintf(over_limit, sizeof over_limit, "%s", over);
  over_used = used;
  /* What grows does not get the time to grow on. */
  begin_kill(strcmp(over, "cpu") == 0 ? SIGTERM : SIGKILL, link_.request->grace_ms, "limit");
}

/* A command that ended by itself between two looks: the kernel's numbers say whether it was over a limit then. */
static void note_limits(int status) {
  const Request *request = link_.request;
  if (over_limit[0] || kill_why[0]) return;
  if (request->cpu_seconds > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    /* The kernel ended it for the same limit. */
    snprintf(over_limit, sizeof over_limit, "cpu");
    snprintf(kill_why, sizeof kill_why, "limit");
    over_used = ended_cpu_ms() > request->cpu_seconds * 1000 ? ended_cpu_ms() : request->cpu_seconds * 1000;
  } else if (request->memory_bytes > 0 && status != 0 && ended_peak() * 1024LL > request->memory_bytes) {
    snprintf(over_limit, sizeof over_limit, "memory");
    over_used = ended_peak() * 1024LL;
  }
}

/* One call of a session: what it may use, or nothing but a look at what it uses; or its end, which is answered with
   what it used. */
static void watch_call(const char *payload, size_t length) {
  Usage now;
  usage_below(getpid(), &now);
  if (field_number(payload, length, "end", 0)) {
    long long largest = now.largest > peak_seen() ? now.largest : peak_seen();
    say(link_.events, 'u', "id=%ld\ncpu=%lld\npeak=%lld", link_.request->id, cpu_since(now.cpu_ms + orphans_cpu_ms),
        largest);
    unwatch_usage();
    return;
  }
  Limits limits = {field_number(payload, length, "cpu", 0)
      * 1000, field_number(payload, length, "memory", 0), field_number(payload, length, "processes", 0)};
  limits_end = false;
  watch_usage(&limits, now.cpu_ms + orphans_cpu_ms);
}

static void reap(void) {
  for (;;) {
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid == 0) return;
    if (pid < 0) {
      if (errno == EINTR) continue;
      if (errno == ECHILD) everything_gone = true;
      return;
    }
    if (pid != leader) {
      orphans_cpu_ms += cpu_ms_of(&usage);
      if (usage.ru_maxrss > orphans_peak) orphans_peak = usage.ru_maxrss;
      continue;
    }
    leader_gone = true;
    close_end(&leave_pipe[1]);
    leader_status = status;
    leader_usage = usage;
    leader_gone_at = now_ms();
    terminal_let_go(&terminal);
    note_limits(status);
    stop_passing("exit");
    say(link_.events, 'x', "id=%ld\nstatus=%d\nwhy=%s\nforced=%d\nmaxrss=%ld\ncpu=%lld\nlimit=%s\nused=%lld",
        link_.request->id, status, kill_why, forced,
        ended_peak(), ended_cpu_ms(), over_limit, over_used);
  }
}

static int wait_time(void) {
  long long next = -1, now = now_ms();
  if (killing) next = kill_deadline;
  if (deadline && !killing && !leader_gone && (next < 0 || deadline < next)) next = deadline;
  if (dir_fd >= 0 && leader_gone && !recorded && (next < 0 || leader_gone_at + DRAIN_MS < next))
      next = leader_gone_at + DRAIN_MS;
  if (next_look() >= 0 && !killing && !leader_gone && (next < 0 || next_look() < next)) next = next_look();
  if (untold && (next < 0 || told_at + TOLD_EVERY_MS < next)) next = told_at + TOLD_EVERY_MS;
  for (int at = 0; at < source_count; at++) if (sources[at].held_at
      && (next < 0 || sources[at].held_at + RELEASE_MS < next)) next = sources[at].held_at + RELEASE_MS;
  if (next < 0) return -1;
  return next <= now ? 0 : (int)(next - now);
}

static void watch(void) {
  for (;;) {
    struct pollfd set[10];
    int count = 0, at_pass = -1, at_child, at_life = -1, at_control = -1, at_job = -1, at_source[2] = {-1, -1},
        at_stdin = -1, at_master_out = -1;
    set[at_child = count++] = (struct pollfd){child_pipe[0], POLLIN, 0};
    if (link_.lifeline >= 0) set[at_life = count++] = (struct pollfd){link_.lifeline, POLLIN, 0};
    if (link_.control >= 0) set[at_control = count++] = (struct pollfd){link_.control, POLLIN, 0};
    if (job_control >= 0) set[at_job = count++] = (struct pollfd){job_control, POLLIN, 0};
    for (int at = 0; at < source_count && !(held_back && link_.lifeline >= 0 && !leader_gone); at++)
        if (sources[at].fd >= 0) set[at_source[at] = count++] = (struct pollfd){sources[at].fd, POLLIN, 0};
    if (terminal.master >= 0 && job_stdin >= 0 && pending_length == 0)
        set[at_stdin = count++] = (struct pollfd){job_stdin, POLLIN, 0};
    if (terminal.master >= 0 && pending_length > 0) set[at_master_out = count++] =
        (struct pollfd){terminal.master, POLLOUT, 0};
    if (is_passing()) set[at_pass = count++] = passing_wait(link_.out_read);
    if (!flush_said(link_.events)) set[count++] = (struct pollfd){link_.events, POLLOUT, 0};
    poll(set, (nfds_t)count, wait_time());

    if (set[at_child].revents) { char drop[64]; while (read(child_pipe[0], drop, sizeof drop) > 0) {} reap(); }
    if (at_life >= 0 && set[at_life].revents) {
      /* The engine is gone, however it went. What was not asked to outlive it ends now. */
      close_end(&link_.lifeline);
      stop_passing("asked");
      if (!link_.request->detached) begin_kill(SIGTERM, ORPHANED_GRACE_MS, "close");
    }
    if (at_pass >= 0 && is_passing() && set[at_pass].revents) {
      const char *why = pass_some(link_.out_read);
      if (why) stop_passing(why);
    }
    if (at_control >= 0 && set[at_control].revents) read_orders();
    if (at_job >= 0 && set[at_job].revents) read_job_control();
    for (int at = 0; at < source_count; at++) if (at_source[at] >= 0 && set[at_source[at]].revents)
        read_source(&sources[at], 16);
    if (at_stdin >= 0 && (set[at_stdin].revents & POLLIN)) {
      ssize_t got = read(job_stdin, pending_input, sizeof pending_input);
      if (got > 0) pending_length = (size_t)got;
    }
    if (at_master_out >= 0 && set[at_master_out].revents) {
      ssize_t wrote = write(terminal.master, pending_input, pending_length);
      if (wrote > 0) { memmove(pending_input, pending_input + wrote, pending_length - (size_t)wrote);
          pending_length -= (size_t)wrote; }
      else if (wrote < 0 && errno != EAGAIN && errno != EINTR) pending_length = 0;
    }

    if (deadline && !killing && !leader_gone && now_ms() >= deadline)
      begin_kill(SIGTERM, link_.request->grace_ms, "timeout");
    look_at_limits();
    advance_kill();
    if (dir_fd >= 0 && leader_gone && !recorded) {
      for (int at = 0; at < source_count; at++) read_source(&sources[at], 1024);
      bool drained = true;
      for (int at = 0; at < source_count; at++) drained &= sources[at].fd < 0;
      if (drained || everything_gone || now_ms() >= leader_gone_at + DRAIN_MS) record_end();
    }
    for (int at = 0; at < source_count; at++) if (sources[at].held_at && !recorded
        && now_ms() >= sources[at].held_at + RELEASE_MS) {
      sources[at].held_at = 0;
      mask_release(mask, &sources[at].held, into_store, &sources[at].store);
      untold = true;
    }
    if (untold && now_ms() >= told_at + TOLD_EVERY_MS) {
      /* An engine that does not listen needs the newest number once, not all of them. */
      untold = !flush_said(link_.events);
      told_at = now_ms();
      if (link_.lifeline >= 0 && !untold) say(link_.events, 'o', "id=%ld\nout=%lld\nerr=%lld", link_.request->id,
          sources[0].store.total, sources[1].store.total);
    }
    if (everything_gone && leader_gone && (dir_fd < 0 || recorded)) {
      for (int at = 0; at < source_count; at++) read_source(&sources[at], 1024);
      /* stays in pieces: no person opens it by hand */
      if (late.used) mask_flush(mask, &late.held, into_store, &late.store);
      if (dir_fd >= 0) { unlinkat(dir_fd, "control", 0); unlinkat(dir_fd, "stdin", 0); }
      say(link_.events, 'g', "id=%ld", link_.request->id);
      leave();
    }
  }
}

/* A spare outside of any room. What the launcher wrote to the gate is read before anything of the command begins. */
static Request *wait_outside(void) {
  static Request taken;
  if (!take_over(&link_, &taken)) start_failed(0, "");
  link_.request = &taken;
  if (!gate_is_open(link_.gate)) start_failed(0, "");
  close_end(&link_.gate);
  prctl(PR_SET_NAME, "cerith-warden");
  return &taken;
}

void run_warden(WardenLink link) {
  link_ = link;
  said_may_wait = true;
  Request *request = link_.request;
  if (setsid() < 0) start_failed(errno, "session");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) start_failed(errno, "subreaper");
  prctl(PR_SET_NAME, request ? "cerith-warden" : "cerith-spare");   /* for people who look at a list of processes */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);   /* a file size limit makes writes fail; it must not end the keeper */
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  if (pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK) != 0) start_failed(errno, "pipe");
  struct sigaction act = {.sa_handler = on_child, .sa_flags = SA_RESTART};
  sigset_t none;   /* the launcher keeps SIGCHLD blocked outside its wait */
  sigemptyset(&none);
  if (sigaction(SIGCHLD, &act, NULL) != 0 || sigprocmask(SIG_SETMASK, &none, NULL) != 0) start_failed(errno, "signals");

  if (!request && link_.holder == 0) request = wait_outside();
  sources[0].fd = sources[1].fd = late.fd = -1;
  if (request && request->pty && link_.holder == 0 && !terminal_open(&terminal, request->cols, request->rows))
      start_failed(errno, "pty");
  if (request && request->keep) {
    open_job(request->dir, request->merge || request->pty);
    if (dir_fd < 0) start_failed(errno, "dir");
    if (request->in_fifo) {
      if (mkfifoat(dir_fd, "stdin", 0600) != 0 && errno != EEXIST) start_failed(errno, "stdin");
      job_stdin = openat(dir_fd, "stdin", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
      if (job_stdin < 0) start_failed(errno, "stdin");
      if (!request->pty && (link_.in_read = openat(dir_fd, "stdin", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) < 0)
          start_failed(errno, "stdin");
    }
    if (!request->pty) for (int at = 0; at < source_count; at++) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) start_failed(errno, "pipe");
      if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) start_failed(errno, "pipe");
      sources[at].fd = ends[0];
      if (at == 0) link_.out_write = ends[1];
      else link_.err_write = ends[1];
    }
  }
  if (request) most_tasks = backstop_tasks(request);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) start_failed(errno, "pipe");
  /* Borrowing the warden's memory until the exec is quicker than a copy of it; the warden stands still meanwhile. */
  if (link_.holder != 0) {
    const char *failed = start_confined(report[1]);
    if (!request) prctl(PR_SET_NAME, "cerith-warden");
    request = link_.request;
    if (!request) start_failed(0, "");   /* not needed, or could not go in */
    char what[64];
    snprintf(what, sizeof what, "sandbox: %s", failed ? failed : "");
    if (failed) start_failed(errno, what);
  } else if ((leader = vfork()) == 0) become_command(request, report[1]);
  if (leader < 0) start_failed(errno, "fork");
  add_needles(request->payload, request->payload_length);
  if (request->keep && request->pty) sources[0].fd = terminal.master;
  close(report[1]);
  close_end(&link_.wall);
  close_end(&link_.listener);
  close_end(&link_.in_read);
  close_end(&link_.out_write);
  close_end(&link_.err_write);
  close_end(&link_.extra_in);
  /* Files are made while the command's process begins its own life, or after it was announced: a start waits for as
     little as possible. The output is there when the start is told: a process that is given its name may look into it
     at once. */
  if (request->keep) {
    if (!open_job_control()) abandon(errno, "control");
    if (!record_start()) abandon(errno, "record");
    if (!open_job_files(request->head_bytes, request->tail_bytes, 0, 0)) abandon(errno, "output");
  }
  char text[64] = "";
  ssize_t got;
  do got = read(report[0], text, sizeof text - 1); while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got > 0) {
    char *space = strchr(text, ' ');
    waitpid(leader, NULL, 0);
    if (init > 0) { kill(init, SIGKILL); waitpid(init, NULL, 0); }
    start_failed(atoi(text), space ? space + 1 : "exec");
  }
  if (request->deadline_ms > 0) deadline = now_ms() + request->deadline_ms;
  Limits limits = {request->cpu_seconds * 1000, request->memory_bytes, request->processes};
  if (limits.cpu_ms > 0 || limits.memory > 0 || limits.processes > 0) watch_usage(&limits, 0);
  say(link_.events, 's', "id=%ld\npid=%d\nwarden=%d\nwarden_start=%llu\nleader_start=%llu\ninit=%d", request->id,
      (int)leader, (int)getpid(),
      start_time_of(getpid()), start_time_of(leader), (int)init);
  if (request->keep) reserve_status();
  watch();
  _exit(0);
}
