/* A builtin that the bash of a session loads (`enable -f`), for what bash itself can only do dearly.

     __cerith = PATH MARK FILES STATE NONCE ORDERS
                                   where reports go, what they are marked with, how the files of this shell begin,
                                   where its state goes and what it begins with, and where its own stdin is found again
     __cerith . STATUS CHANGES     sources the command file with `$?` as given and nothing to read, and reports how it
                                   ended; CHANGES is `+` where the command may change the shell: its state is then
                                   written down first; with `m` behind it stderr goes where stdout goes
     __cerith , STDIN STREAMS      only sources the command file; STDIN is a path or `&` and a descriptor, STREAMS is
                                   `m` where stderr goes where stdout goes. (Bash itself would keep the shell's own
                                   streams on descriptors that commands use.)
     __cerith -                    makes the builtins that lines of the session's begin with reachable again
     __cerith PROGRAM WORDS        runs a program, waits for it, and reports how it ended; also several of them, in
                                   pipelines and lists (`Step`)

   Bash starts a program by fork: the kernel copies the page tables of the shell, and each page that either of them
   touches from then on. With vfork the child borrows the memory of the shell until it has become the program, which
   takes a third off the shortest ones and does not grow with what the shell holds. Whatever is not a program that
   simply starts (nothing of that name, no interpreter line, too long a list of words) is declined before anything has
   happened, and the session gives the command to bash itself.

   Only names that bash and every libc export are used, without their versions: one file serves old and new glibc, and
   musl. It is linked so that all of them are looked up when it is loaded: a bash that lacks one does not load it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 512, MOST_STEPS = 16, LONGEST_PATH = 256, LONGEST_MARK = 64, LONGEST_ARGUMENT = 1000,
    LONGEST_REPORT = 8192, KEPT_FROM = 1000, KEPT_SPREAD = 20 };

/* ---- bash's own: the same since bash 4.4 ---- */
typedef struct { char *word; int flags; } WordDescription;
typedef struct WordList { struct WordList *next; WordDescription *word; } WordList;
struct builtin { char *name; int (*function)(WordList *); int flags; char *const *long_doc; const char *short_doc;
    char *handle; };
enum { BUILTIN_ENABLED = 1, SEARCH_HASHED = 1 };

extern char **export_env;
extern int exit_immediately_on_error, job_control, last_command_exit_value, parse_and_execute_level, pipefail_opt;
extern volatile sig_atomic_t terminating_signal;
extern void maybe_make_export_env(void);
extern void put_command_name_into_env(char *path);
extern char *search_for_command(const char *name, int flags);
extern char *phash_search(const char *name);
extern int first_pending_trap(void);   /* -1: none */
extern char *get_string_value(const char *variable);
extern void termsig_handler(int signal_number);
extern int signal_is_ignored(int signal_number);   /* by the agent: `trap '' TERM` */
extern int signal_is_trapped(int signal_number);
extern int remember_on_history, restricted;
/* for `child_ended`, which does without where one is missing */
extern int pending_traps[] __attribute__((weak));
extern volatile pid_t last_made_pid __attribute__((weak)), last_asynchronous_pid __attribute__((weak));
extern int expand_aliases;
/* since bash 5.2: what the agent has chosen, while bash itself turns aliases off and on */
extern int expaliases_flag __attribute__((weak));
typedef struct { char *name, *value, *exported; void *dynamic_value, *assign; int attributes, context; } Variable;
enum { READ_ONLY = 2 };
extern Variable *find_variable(const char *name);
extern Variable **all_shell_variables(void);
extern int show_var_attributes(Variable *variable, int as_the_builtin_does, int without_value);
extern Variable *bind_variable(const char *name, char *value, int flags);
extern int source_file(const char *path, int flags);
extern int unbind_func(const char *name);
extern void run_trap_cleanup(int trap);
enum { DEBUG_TRAP = NSIG, ERR_TRAP, RETURN_TRAP };
extern struct builtin *builtin_address_internal(char *name, int also_disabled);
extern char *which_set_flags(void);
extern int change_flag(int flag, int on_or_off);
enum { DOUBLE_QUOTED = 1 };
extern char *expand_string_to_string(char *text, int quoted);
extern WordList *list_rest_of_args(void);
extern void dispose_words(WordList *list);
extern void begin_unwind_frame(char *tag);
extern void add_unwind_protect(void (*cleanup)(void *), void *argument);
extern void run_unwind_frame(char *tag);

/* ---- reports: NUL-separated fields between two marks ---- */
static char report_path[LONGEST_PATH], mark[LONGEST_MARK];
static char command_path[LONGEST_PATH], settle_path[LONGEST_PATH], state_path[LONGEST_PATH], orders_path[LONGEST_PATH],
    nonce[LONGEST_MARK];

typedef struct { char text[LONGEST_REPORT]; size_t length; } Report;

static void add(Report *report, const char *text, size_t length) {
  memcpy(report->text + report->length, text, length);
  report->length += length;
}

static void add_field(Report *report, const char *text) { add(report, text, strlen(text) + 1); }

static void add_number(Report *report, long number) {
  char digits[24], *at = digits + sizeof digits;
  *--at = '\0';
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  add_field(report, at);
}

/* Cut where it gets long, not within a character. */
static void add_argument(Report *report, const char *argument) {
  size_t length = strlen(argument);
  if (length > LONGEST_ARGUMENT)
    for (length = LONGEST_ARGUMENT; length > 0 && ((unsigned char)argument[length] & 0xc0) == 0x80;) length--;
  add(report, argument, length);
  add(report, "", 1);
}

static void begin(Report *report, const char *kind, long number) {
  report->length = 0;
  add(report, "@", 1);
  add_field(report, mark);
  add_field(report, kind);
  add_number(report, number);
}

/* Kept open, which costs a tenth of opening it by name: above the numbers that scripts use but below the usual
   limit, and inherited by no program. A command may close it all the same, or put another file in its place (though
   bash takes it for one of its own and puts it back). */
typedef struct {
  int fd;
  struct stat file;
} Kept;
static Kept reports = {.fd = -1}, states = {.fd = -1};
/* The shell's own stdin, and what a command reads instead. */
static Kept orders = {.fd = -1}, nothing = {.fd = -1};

/* A library before glibc 2.33 has no function of that name. */
static int look_at(int fd, struct stat *file) { return (int)syscall(SYS_fstat, fd, file); }

/* Where the limit of descriptors is lower, or just above `from` so that those are taken, as high as it allows. */
static int duplicate_high(int fd, int from) {
  int made = fcntl(fd, F_DUPFD_CLOEXEC, from);
  for (int at = from / 2; made < 0 && errno != EBADF && at >= 10; at /= 2) made = fcntl(fd, F_DUPFD_CLOEXEC, at);
  return made;
}

static bool is_kept(const Kept *kept, int fd) {
  struct stat now;
  return look_at(fd, &now) == 0 && now.st_ino == kept->file.st_ino && now.st_dev == kept->file.st_dev;
}

static int put_away(int fd) { return duplicate_high(fd, KEPT_FROM + KEPT_SPREAD); }

static int move_away(int fd) {
  int made = put_away(fd);
  if (fd >= 0) close(fd);
  return made;
}

static void keep_open(Kept *kept, int fd) {
  unsigned spread = 0;
  for (const char *at = mark; *at; at++) spread = spread * 31 + (unsigned char)*at;
  if (look_at(fd, &kept->file) == 0) kept->fd = duplicate_high(fd, KEPT_FROM + (int)(spread % KEPT_SPREAD));
}

/* The file itself, or one more way to it by its name (that of a pipe goes with the launcher). Never as 0, 1 or 2,
   which a command may have closed. */
static int open_kept(Kept *kept, const char *path, int how) {
  if (is_kept(kept, kept->fd)) return kept->fd;
  int fd = move_away(open(path, how | O_CLOEXEC));
  if (fd < 0 || kept->fd >= 0) return fd;
  keep_open(kept, fd);
  if (kept->fd < 0) return fd;
  close(fd);
  return kept->fd;
}

static void close_unkept(const Kept *kept, int fd) {
  if (fd != kept->fd) close(fd);
}

/* The engine may be gone: the shell goes on with its command, and the report is lost. */
static bool write_all(int fd, const char *text, size_t length) {
  struct sigaction ignore, before;
  memset(&ignore, 0, sizeof ignore);
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  ssize_t written = 0;
  while (length > 0) {
    written = write(fd, text, length);
    if (written < 0 && errno != EINTR) break;
    if (written < 0) continue;
    text += written;
    length -= (size_t)written;
  }
  sigaction(SIGPIPE, &before, NULL);
  return length == 0;
}

static void say(const char *words) {
  ssize_t ignored = write(2, words, strlen(words));
  (void)ignored;
}

/* Nothing can be said when it fails, and the session asks. */
static bool send(Report *report) {
  add(report, mark, strlen(mark));
  add(report, "@", 2);
  int fd = open_kept(&reports, report_path, O_WRONLY);
  if (fd < 0) return false;
  bool sent = write_all(fd, report->text, report->length);
  close_unkept(&reports, fd);
  return sent;
}

/* `$_`, as the agent's commands have left it: lines of the session's change that of the shell. */
static char *last_argument;

static void note_argument(const char *argument) {
  free(last_argument);
  last_argument = strdup(argument ? argument : "");
}

/* F: status argument stages */
static void send_end(int status, const int *stages, int count) {
  Report report;
  begin(&report, "F", 0);
  add_number(&report, status);
  add_argument(&report, last_argument ? last_argument : "");
  for (int at = 0; at < count; at++) add_number(&report, stages[at]);
  send(&report);
}

/* What a line of the session ends with when it has done nothing by itself: the status is left as it is, unless bash
   would end the shell for it. */
static int unchanged(void) { return exit_immediately_on_error ? 0 : last_command_exit_value; }

/* Of what is declined: the session gives it to bash itself, or finds another directory for the shell first. */
enum { NOT_OURS, NO_DIRECTORY };

static int decline(long why) {
  Report report;
  begin(&report, "N", why);
  return send(&report) ? unchanged() : 127;
}

/* The kernel has no name for a directory that was removed. */
static bool is_nowhere(void) {
  char path[4096];
  return syscall(SYS_getcwd, path, sizeof path) < 0 && errno == ENOENT;
}

/* ---- a program that a signal ends ---- */

static pid_t shell;
/* A command of the agent's is being sourced. */
static bool at_work = false;
static void (*bash_handler)(int) = NULL;

static const struct { int number; const char *words; } DEATHS[] = {
    {SIGSEGV, "Segmentation fault"}, {SIGKILL, "Killed"}, {SIGABRT, "Aborted"}, {SIGTERM, "Terminated"},
    {SIGBUS, "Bus error"}, {SIGFPE, "Floating point exception"}, {SIGILL, "Illegal instruction"},
    {SIGHUP, "Hangup"}, {SIGQUIT, "Quit"}, {SIGTRAP, "Trace/breakpoint trap"}, {SIGSYS, "Bad system call"},
    {SIGXCPU, "CPU time limit exceeded"}, {SIGXFSZ, "File size limit exceeded"}, {SIGALRM, "Alarm clock"},
    {SIGUSR1, "User defined signal 1"}, {SIGUSR2, "User defined signal 2"}};
enum { STOP = 55 /* the session's own, see marks.ts */ };

/* Of what the session itself stops nothing is said. */
static void tell_death(pid_t pid, int number, bool dumped) {
  if (!pending_traps || pending_traps[STOP]) return;
  char line[80] = "bash: ", digits[16], *at = digits + sizeof digits;
  const char *words = NULL;
  for (size_t row = 0; row < sizeof DEATHS / sizeof *DEATHS; row++)
    if (DEATHS[row].number == number) words = DEATHS[row].words;
  if (!words) return;
  *--at = '\0';
  for (; pid > 0; pid /= 10) *--at = (char)('0' + pid % 10);
  strcat(strcat(strcat(line, at), " "), words);
  say(strcat(line, dumped ? " (core dumped)\n" : "\n"));
}

/* A script says of each foreground program that a signal has ended which one it was; a bash that is interactive and
   has no job control says nothing, and in the middle of a list nobody else would: `./a > log; tail log` of one that
   ran out of memory looked like success. */
static void child_ended(int number, siginfo_t *about, void *context) {
  (void)context;
  int before = errno;
  if ((about->si_code == CLD_KILLED || about->si_code == CLD_DUMPED) && at_work && getpid() == shell
      && about->si_pid == last_made_pid && about->si_pid != last_asynchronous_pid && !job_control)
    tell_death(about->si_pid, about->si_status, about->si_code == CLD_DUMPED);
  errno = before;
  bash_handler(number);
}

/* Before each command: bash puts its own back with some of its traps. */
static void hear_of_children(void) {
  struct sigaction now;
  if (!&last_made_pid || !&last_asynchronous_pid || sigaction(SIGCHLD, NULL, &now) < 0) return;
  if (now.sa_sigaction == child_ended || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
  bash_handler = now.sa_handler;
  now.sa_sigaction = child_ended;
  now.sa_flags |= SA_SIGINFO;
  sigaction(SIGCHLD, &now, NULL);
}

/* ---- programs ---- */

/* A word of a line that begins with the seal, which no command knows, begins a step: behind it stand what joins the
   step to the one before it (`;`, `&`, `o` for `||`, `|`) and where its stderr goes (`m` where stdout goes, `n`
   nowhere, `-` as it is). */
typedef struct {
  char joint, errors;
  char **words;
} Step;
/* The ends of pipes that a program gets instead of the shell's streams; -1 where it gets those. */
typedef struct { int in, out; } Ends;

/* What an interactive bash ignores for itself. */
static const int IGNORED[] = {SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
/* Like the real-time signals, handled by bash only where they have a trap: they are not asked of the kernel. */
static const int UNHANDLED[] = {SIGKILL, SIGSTOP, SIGSTKFLT, SIGCONT, SIGURG, SIGPROF, SIGIO, SIGPWR};

static bool is_one_of(int number, const int *list, size_t length) {
  for (size_t at = 0; at < length; at++) if (list[at] == number) return true;
  return false;
}
#define IS_ONE_OF(number, list) is_one_of(number, list, sizeof list / sizeof *list)

/* The child has the memory of the shell: no handler of the shell's may run in it, so all signals are held until none
   is left. One call for each: what was ignored, and not by bash for itself, is ignored again. */
static void become(const char *path, char *const *words, const sigset_t *signals) {
  struct sigaction usual, before;
  memset(&usual, 0, sizeof usual);
  for (int number = 1; number < NSIG; number++) {
    if ((number > SIGSYS || IS_ONE_OF(number, UNHANDLED)) && !signal_is_trapped(number)) continue;
    if (sigaction(number, &usual, &before) < 0 || before.sa_handler != SIG_IGN) continue;
    if (!IS_ONE_OF(number, IGNORED) || signal_is_ignored(number)) sigaction(number, &before, NULL);
  }
  sigprocmask(SIG_SETMASK, signals, NULL);
  execve(path, words, export_env);
}

static void take_streams(const Ends *ends, char errors_go) {
  if (ends->in >= 0) dup2(ends->in, 0);
  if (ends->out >= 0) dup2(ends->out, 1);
  if (errors_go == 'm') dup2(1, 2);
  if (errors_go == 'n') dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
}

/* Its pid; -1 when nothing has been started, and `errno` says why. */
static pid_t start(const char *path, const Step *step, const Ends *ends, const sigset_t *signals) {
  sigset_t all, before;
  volatile int failed = 0;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t pid = vfork();
  if (pid == 0) {
    take_streams(ends, step->errors);
    become(path, step->words, signals);
    failed = errno;
    _exit(127);
  }
  if (pid < 0) failed = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (!failed) return pid;
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
  errno = failed;
  return -1;
}

/* The signal that ended the program that was waited for last. */
static int ended_by;

/* Bash's handler would reap every child that it hears of, so it hears of none until ours is reaped. */
static int wait_for(pid_t pid, bool is_told, const sigset_t *before) {
  int status;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 127;
    if (!terminating_signal) continue;
    sigprocmask(SIG_SETMASK, before, NULL);
    termsig_handler(terminating_signal);
  }
  ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (!ended_by) return WEXITSTATUS(status);
  if (is_told) tell_death(pid, ended_by, WCOREDUMP(status));
  return 128 + ended_by;
}

/* An interrupt has reached the shell while it waited. It does not concern bash, unless the last program ended by it
   too: then bash gives up the list that the program stands in. */
static bool was_interrupted(void) {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  const struct timespec at_once = {0, 0};
  return sigtimedwait(&interrupt, NULL, &at_once) == SIGINT;
}

/* Where bash would find it: it notes in its table what the shell itself runs, not the stages of a pipeline. */
static char *find_program(const char *name, bool is_noted) {
  char *known = is_noted ? NULL : phash_search(name);
  char *path = search_for_command(name, is_noted || known ? SEARCH_HASHED : 0);
  free(known);
  return path;
}

/* As far as its first bytes tell, the kernel will start it; bash reads anything else as a script. */
static bool starts_by_itself(const char *name) {
  char *path = find_program(name, false), first[2] = "";
  int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;   /* nobody may write to a FIFO */
  bool starts = fd >= 0 && read(fd, first, 2) == 2 && (memcmp(first, "\177E", 2) == 0 || memcmp(first, "#!", 2) == 0);
  if (fd >= 0) close(fd);
  free(path);
  return starts;
}

/* What cannot be started behind others is told as bash tells it, and where: those cannot be declined any more. */
static int say_why(const Step *step, const Ends *ends, const char *path, int why) {
  bool is_there = path && why == ENOENT && access(path, F_OK) == 0;
  const char *words = is_there ? "cannot execute: required file not found"
      : path ? strerror(why) : "command not found";
  int to = step->errors != 'm' ? 2 : ends->out >= 0 ? ends->out : 1;
  if (step->errors != 'n') dprintf(to, "bash: %s: %s\n", path ? path : *step->words, words);
  return path && why != ENOENT ? 126 : 127;
}

/* One pipeline from its start to its end; -1 where it is the first one and nothing of it could be started. */
static int run_stages(const Step *steps, int count, int *stages, bool is_first, const sigset_t *before) {
  pid_t pids[MOST_STEPS];
  int status = 0;
  for (int at = 0, in = -1; at < count; at++) {
    int next[2] = {-1, -1};
    bool is_joined = at + 1 == count || pipe2(next, O_CLOEXEC) == 0;
    char *path = find_program(*steps[at].words, count == 1);
    if (path) put_command_name_into_env(path);
    const Ends ends = {in, next[1]};
    pids[at] = is_joined && path ? start(path, &steps[at], &ends, before) : -1;
    bool is_declined = pids[at] < 0 && at == 0 && is_first;
    if (pids[at] < 0 && !is_declined) stages[at] = say_why(&steps[at], &ends, path, errno);
    free(path);
    if (in >= 0) close(in);
    if (next[1] >= 0) close(next[1]);
    in = next[0];
    if (!is_declined) continue;
    if (in >= 0) close(in);
    return -1;
  }
  for (int at = 0; at < count; at++) {
    /* Bash tells of the stage that has the status. */
    if (pids[at] > 0) stages[at] = wait_for(pids[at], pipefail_opt || at + 1 == count, before);
    if (stages[at] != 0 ? pipefail_opt || at + 1 == count : !pipefail_opt) status = stages[at];
  }
  return status;
}

/* The words as steps; 0 where there are too many of them. A program alone has no mark before it. */
static int split(WordList *list, Step *steps, char **words) {
  int count = 0, used = 0;
  size_t length = strlen(mark);
  for (; list; list = list->next) {
    char *word = list->word->word;
    bool begins = strncmp(word, mark, length) == 0;
    if (used - count >= MOST_WORDS || (begins && count == MOST_STEPS)) return 0;
    if (begins || count == 0) {
      if (count > 0) words[used++] = NULL;
      steps[count++] = (Step){begins ? word[length] : ';', begins ? word[length + 1] : '-', &words[used]};
    }
    if (!begins) words[used++] = word;
  }
  words[used] = NULL;
  return count;
}

/* Whether all of them can be run here: once the first has begun, none is declined any more. */
static bool are_ours(const Step *steps, int count) {
  struct stat stream;
  if (count < 2) return count == 1;
  /* A pipe must not take the number of a stream that a command has closed. */
  if (exit_immediately_on_error || look_at(1, &stream) < 0 || look_at(2, &stream) < 0) return false;
  for (int at = 0; at < count; at++) if (!starts_by_itself(*steps[at].words)) return false;
  return true;
}

static bool is_skipped(char joint, int status) {
  return joint == '&' ? status != 0 : joint == 'o' && status == 0;
}

static const char *last_word(const Step *step) {
  char **at = step->words;
  while (at[1]) at++;
  return *at;
}

static int run(WordList *list) {
  Step steps[MOST_STEPS];
  char *words[MOST_WORDS + MOST_STEPS + 1];
  int stages[MOST_STEPS], length = 0, status = 0;
  /* With `set -m` each program has a group of its own, and may be stopped. */
  int count = job_control ? 0 : split(list, steps, words);
  if (!are_ours(steps, count)) return decline(NOT_OURS);
  maybe_make_export_env();

  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGCHLD);
  sigaddset(&held, SIGINT);
  sigprocmask(SIG_BLOCK, &held, &before);
  bool is_over = false;
  for (int at = 0, next; at < count && status >= 0; at = next) {
    for (next = at + 1; next < count && steps[next].joint == '|';) next++;
    if (length > 0 && is_skipped(steps[at].joint, status)) continue;
    /* The session stops the command, or ends the shell: what the handler would end must not begin. */
    if (is_over || terminating_signal || (length > 0 && first_pending_trap() >= 0)) break;
    status = run_stages(&steps[at], next - at, stages, length == 0, &before);
    length = next - at;
    is_over = was_interrupted() && ended_by == SIGINT;
    /* Stages of a pipeline do not set `$_`. */
    if (length == 1 && status >= 0) note_argument(last_word(&steps[at]));
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (status < 0) return decline(NOT_OURS);
  /* With `set -e`, or by such a signal, bash leaves now, which is the answer. */
  if (!terminating_signal && (status == 0 || !exit_immediately_on_error)) send_end(status, stages, length);
  return status;
}

/* ---- a command: sourced like a file, with nothing to read ---- */

static int refuse(void);
/* The shell's stderr while a command has none of its own. */
static int errors = -1;
/* The running command has been reported. */
static bool told = true;

static bool keep_orders(void) {
  if (is_kept(&orders, 0) && is_kept(&orders, orders.fd)) return true;
  orders.fd = put_away(0);
  return look_at(orders.fd, &orders.file) == 0;
}

/* A command may have put another file in its place, or closed it. */
static void take_orders(void) {
  if (is_kept(&orders, orders.fd)) {
    dup2(orders.fd, 0);
    return;
  }
  int fd = open(orders_path, O_RDONLY | O_CLOEXEC);
  orders.fd = -1;
  if (fd <= 0) return;
  dup2(fd, 0);
  close(fd);
}

static bool hide_stdin(void) {
  int fd = keep_orders() ? open_kept(&nothing, "/dev/null", O_RDONLY) : -1;
  if (fd < 0) return false;
  bool hidden = dup2(fd, 0) == 0;
  close_unkept(&nothing, fd);
  return hidden;
}

static bool merge_streams(void) {
  errors = put_away(2);
  return errors >= 0 && dup2(1, 2) == 2;
}

static void part_streams(void) {
  if (errors < 0) return;
  dup2(errors, 2);
  close(errors);
  errors = -1;
}

/* What makes an interactive bash say or do something at its prompt. */
static const char *const PROMPTS[] = {"PS0", "PS1", "PS2", "PROMPT_COMMAND", "TMOUT", "MAILCHECK"};

static bool has_prompts(void) {
  for (size_t at = 0; at < sizeof PROMPTS / sizeof *PROMPTS; at++)
    if (get_string_value(PROMPTS[at])) return true;
  return false;
}

/* A prompt that is read-only could not be put away, and bash would print it. */
static void unlock_prompts(void) {
  for (size_t at = 0; at < sizeof PROMPTS / sizeof *PROMPTS; at++) {
    Variable *variable = find_variable(PROMPTS[at]);
    if (variable) variable->attributes &= ~READ_ONLY;
  }
}

static void add_stages(Report *report) {
  static char text[] = "${PIPESTATUS[@]}";
  char *stages = expand_string_to_string(text, 0);
  for (char *at = stages; at && *at; at += strspn(at, " ")) {
    size_t length = strcspn(at, " ");
    if (report->length + length + LONGEST_MARK + 2 > sizeof report->text) break;
    add(report, at, length);
    add(report, "", 1);
    at += length;
  }
  free(stages);
}

/* T, E: status options directory argument prompts stdin stages */
static void describe(Report *report, const char *kind, int status) {
  begin(report, kind, 0);
  add_number(report, status);
  char *options = which_set_flags();
  add_field(report, options);
  free(options);
  const char *directory = get_string_value("PWD"), *argument = get_string_value("_");
  /* A path longer than a report holds is asked of the kernel. */
  add_field(report, directory && strlen(directory) < 4096 ? directory : "");
  add_argument(report, argument && *kind == 'T' ? argument : "");
  add_field(report, has_prompts() || remember_on_history ? "x" : "");
  add_field(report, "");
  if (*kind == 'T') add_stages(report);
}

/* Lines of the session's are read without aliases: one of a reserved word (`{`) would be reached by them. */
static void use_aliases(bool on) {
  if (&expaliases_flag) expand_aliases = on ? expaliases_flag : 0;
}

/* Behind a command, also where bash has left it by an interrupt: that one cannot report its end itself. */
static void leave(void *unused) {
  (void)unused;
  if (getpid() != shell) return;
  at_work = false;
  take_orders();
  part_streams();
  use_aliases(false);
  /* One that was running when its command was stopped would count as running for ever, and bash runs it no more. */
  for (int trap = DEBUG_TRAP; trap <= RETURN_TRAP; trap++) run_trap_cleanup(trap);
  /* A restricted shell could neither be written down nor given its next command. */
  restricted = 0;
  if (told) return;
  told = true;
  Report report;
  /* A command that bash gives up has failed, whatever the one before it did. */
  describe(&report, "E", last_command_exit_value ? last_command_exit_value : 1);
  send(&report);
}

/* ---- the state, as a dump of bash's own has it (`dump.ts`; a test compares the two) ---- */

/* What prints each part of it. Bash would have to read and run some fifty commands for the same text. */
static const struct { const char *name, *builtin, *option, *more; } SECTIONS[] = {
    {"variables", NULL, NULL, NULL},      {"functions", "declare", "-f", NULL},
        {"functionNames", "declare", "-F", NULL},
    {"aliases", "alias", "-p", NULL},     {"options", NULL, NULL, NULL},        {"shopts", "shopt", "-s", "-p"},
    {"umask", "umask", "-p", NULL},       {"traps", "trap", "-p", NULL},        {"disabled", "enable", "-n", NULL},
    {"hashed", "hash", "-l", NULL},       {"completions", "complete", "-p", NULL}, {"clock", NULL, NULL, NULL},
    {"positional", NULL, NULL, NULL},     {"directories", "dirs", "-l", "-p"},  {"cwd", "pwd", NULL, NULL}};

static void print(const char *text) { fwrite(text, 1, strlen(text), stdout); }

/* Whatever the agent has made of the name: a builtin that is disabled or hidden by a function is found as well. */
static void print_by(const char *name, WordList *words) {
  struct builtin *found = builtin_address_internal((char *)name, 1);
  if (found && found->function) found->function(words);
}

static void print_value(const char *name) {
  const char *value = get_string_value(name);
  if (value) print(value);
}

static void print_clock(void) {
  Report now;
  now.length = 0;
  add_number(&now, (long)time(NULL));
  print_value("SECONDS");
  print(" ");
  print(now.text);
}

/* `declare -p`, which would write each variable by itself */
static void print_variables(void) {
  Variable **all = all_shell_variables();
  for (Variable **at = all; at && *at; at++) show_var_attributes(*at, 0, 0);
  free(all);
}

/* `printf '%q\n' "$#" "$@"` */
static void print_positional(void) {
  WordList *parameters = list_rest_of_args();
  int count = 0;
  for (WordList *at = parameters; at; at = at->next) count++;
  Report text;
  text.length = 0;
  add_number(&text, count);
  char format[] = "%q\n";
  WordDescription words[] = {{format, 0}, {text.text, 0}};
  WordList number = {parameters, &words[1]}, all = {&number, &words[0]};
  print_by("printf", &all);
  dispose_words(parameters);
}

static void print_state(void) {
  print("cerith-state ");
  print(nonce);
  for (size_t at = 0; at < sizeof SECTIONS / sizeof *SECTIONS; at++) {
    const char *name = SECTIONS[at].name;
    fwrite("", 1, 1, stdout);
    print(name);
    print("\n");
    WordDescription words[] = {{(char *)SECTIONS[at].option, 0}, {(char *)SECTIONS[at].more, 0}};
    WordList more = {NULL, &words[1]}, all = {SECTIONS[at].more ? &more : NULL, &words[0]};
    if (SECTIONS[at].builtin) print_by(SECTIONS[at].builtin, SECTIONS[at].option ? &all : NULL);
    else if (*name == 'v') print_variables();
    else if (*name == 'o') print_value("SHELLOPTS");
    else if (*name == 'c') print_clock();
    else print_positional();
  }
}

/* The shell's own stdout while its state is written down. */
static int output = -1;

/* The rest of the dump is written before the shell gets its stdout back; bash prints by lines again. */
static void give_output_back(void *unused) {
  (void)unused;
  setvbuf(stdout, NULL, _IOLBF, 0);
  fflush(stdout);
  if (output < 0) close(1);
  else {
    dup2(output, 1);
    close(output);
  }
  output = -1;
  part_streams();
}

/* A whole dump by its last words, which stand in no file: nothing that reads ours can imitate one. */
static void print_into(int fd) {
  output = put_away(1);
  /* With no place for its stdout the shell would lose it. (One that the command has closed stays closed.) */
  if (output < 0 && errno != EBADF) return;
  errors = put_away(2);
  /* Also where an interrupt ends it. */
  begin_unwind_frame("cerith state");
  add_unwind_protect(give_output_back, NULL);
  dup2(fd, 1);
  if (errors >= 0) dup2(nothing.fd, 2);
  setvbuf(stdout, NULL, _IOFBF, 0);
  print_state();
  fwrite("\0end ", 1, 5, stdout);
  print(mark);
  fwrite(" after", 1, 7, stdout);
  run_unwind_frame("cerith state");
}

/* Put together in memory and sent at once: written piece by piece, it would wake its reader for each of them. */
static void write_down(void) {
  static char text[65536];
  int pipe = open_kept(&states, state_path, O_WRONLY);
  if (pipe < 0) return;
  int memory = move_away((int)syscall(SYS_memfd_create, "state", 1u /* close-on-exec */));
  print_into(memory < 0 ? pipe : memory);
  ssize_t got;
  for (off_t at = 0; memory >= 0 && (got = pread(memory, text, sizeof text, at)) > 0; at += got)
      write_all(pipe, text, (size_t)got);
  if (memory >= 0) close(memory);
  close_unkept(&states, pipe);
}

static int evaluate(WordList *words) {
  WordList *status_word = words->next, *changes = status_word ? status_word->next : NULL;
  /* The session writes files that were removed again before it gives the command to bash itself. */
  if (!changes || access(command_path, R_OK) < 0 || !hide_stdin()) return decline(NOT_OURS);
  /* Nothing has happened yet that the session would have to know of. */
  if (strchr(changes->word->word, 'm') && !merge_streams()) {
    take_orders();
    part_streams();
    return decline(NOT_OURS);
  }
  begin_unwind_frame("cerith");
  add_unwind_protect(leave, NULL);
  told = false;
  last_command_exit_value = atoi(status_word->word->word);
  if (last_argument) bind_variable("_", last_argument, 0);
  use_aliases(true);
  hear_of_children();
  at_work = true;
  int status = source_file(command_path, 0);
  note_argument(get_string_value("_"));
  Report report;
  describe(&report, "T", status);
  told = true;
  run_unwind_frame("cerith");
  if (*changes->word->word == '+') {
    change_flag('x', '+');
    change_flag('v', '+');
    if (has_prompts()) unlock_prompts();
    if (has_prompts() || remember_on_history) source_file(settle_path, 0);
    write_down();
  }
  send(&report);
  last_command_exit_value = status;
  return exit_immediately_on_error ? 0 : status;
}

static int repair(void) {
  static char names[][8] = {"builtin", ".", ":", "[", "alias", "cd", "declare", "dirs", "enable", "eval", "exec",
      "exit", "export", "history", "kill",
                            "printf", "read", "return", "set", "shopt", "source", "trap", "umask", "unset"};
  unbind_func("builtin");
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    struct builtin *found = builtin_address_internal(names[at], 1);
    if (found) found->flags |= BUILTIN_ENABLED;
  }
  return 0;
}

/* Lines of the session's come next, which bash would show under `set -x` and `set -v`; they look for what was on
   (`lines.ts`, own 'v'). */
static void show_nothing(void) {
  char *options = which_set_flags();
  if (strpbrk(options, "xv")) {
    char name[sizeof "__cerith_v" + 8];
    snprintf(name, sizeof name, "__cerith_v%.8s", nonce);
    bind_variable(name, options, 0);
    change_flag('x', '+');
    change_flag('v', '+');
  }
  free(options);
}

/* A line of the session's behind the command has noted what `$_` was (`command-file.ts`, own 'k'). */
static void note_noted_argument(void) {
  char text[64];
  snprintf(text, sizeof text, "${__cerith_k%.8s[1]-$_}", nonce);
  char *noted = expand_string_to_string(text, DOUBLE_QUOTED);
  note_argument(noted);
  free(noted);
}

/* What a line of the session's does the rest for. */
static int source_only(WordList *from) {
  if (!from || !from->next || !from->next->next) return refuse();
  const char *what = from->word->word;
  int fd = *what == '&' ? duplicate_high(atoi(what + 1), KEPT_FROM) : open(what, O_RDONLY | O_CLOEXEC);
  /* Any status would pass for the command's: the shell ends, and the session says so. */
  if (fd < 0 || !keep_orders()) {
    say("bash: the command was not run: no file descriptor is left (ulimit -n)\n");
    _exit(125);
  }
  begin_unwind_frame("cerith");
  add_unwind_protect(leave, NULL);
  told = true;
  dup2(fd, 0);
  close(fd);
  if (*from->next->word->word == 'm') merge_streams();
  use_aliases(true);
  last_command_exit_value = atoi(from->next->next->word->word);
  if (last_argument) bind_variable("_", last_argument, 0);
  hear_of_children();
  at_work = true;
  int status = source_file(command_path, 0);
  note_noted_argument();
  run_unwind_frame("cerith");
  show_nothing();
  if (has_prompts()) unlock_prompts();
  return status;
}

/* ---- the builtin ---- */

/* What is declared above by hand is that of bash 5.0 to 5.3; another one is refused, and so is one that does not do
   what these names say. */
static bool is_known(WordList *words) {
  const char *version = get_string_value("BASH_VERSION");
  if (!version || version[0] != '5' || version[1] != '.' || version[2] < '0' || version[2] > '3' || version[3] != '.')
      return false;
  static char text[] = "${BASH_VERSION}";
  char *expanded = expand_string_to_string(text, 0);
  Variable *variable = find_variable("BASH_VERSION");
  bool known = strcmp(words->word->word, "=") == 0 && expanded && strcmp(expanded, version) == 0 && variable
      && strcmp(variable->name, "BASH_VERSION") == 0 && strcmp(variable->value, version) == 0;
  free(expanded);
  return known;
}

/* Where one system imitates another, vfork may be nothing but fork; then a program that could not be started would
   not be noticed. */
static bool shares_memory(void) {
  volatile bool seen = false;
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  pid_t pid = vfork();
  if (pid == 0) {
    seen = true;
    _exit(0);
  }
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
  sigprocmask(SIG_SETMASK, &before, NULL);
  return seen;
}

static bool take(char *place, size_t size, WordList **words) {
  WordList *one = *words;
  if (!one || strlen(one->word->word) >= size) return false;
  strcpy(place, one->word->word);
  *words = one->next;
  return true;
}

static int set_up(WordList *words) {
  static char files[LONGEST_PATH - sizeof ".command"], seal[LONGEST_MARK];
  WordList *at = words->next;
  if (!is_known(words) || !take(report_path, sizeof report_path, &at) || !take(seal, sizeof seal, &at)
      || !take(files, sizeof files, &at)) return 1;
  if (!take(state_path, sizeof state_path, &at) || !take(nonce, sizeof nonce, &at)
      || !take(orders_path, sizeof orders_path, &at)) return 1;
  if (!shares_memory()) return 1;
  strcpy(mark, seal);
  strcat(strcpy(command_path, files), ".command");
  strcat(strcpy(settle_path, files), ".settle");
  shell = getpid();
  use_aliases(false);
  Report report;
  begin(&report, "G", 0);
  send(&report);
  /* Now: the name goes with the launcher, and a call that ends after it must still be able to write its state down. */
  open_kept(&states, state_path, O_WRONLY);
  return 0;
}

/* Only lines that the session types itself are executed right from the input of the shell. A command of the agent's,
   a trap, a function's text or an `eval` comes in another way, and could pretend that the command is over. */
static bool is_typed(void) { return parse_and_execute_level == 0; }

static int refuse(void) {
  say("bash: __cerith: command not found\n");
  return 127;
}

static int cerith(WordList *words) {
  if (*mark == '\0') return words ? set_up(words) : refuse();
  if (!is_typed() || !words) return refuse();
  const char *what = words->word->word;
  if (strcmp(what, ",") == 0) return source_only(words->next);
  if (strcmp(what, "-") == 0) return repair();
  if (is_nowhere()) return decline(NO_DIRECTORY);
  return strcmp(what, ".") == 0 ? evaluate(words) : run(words);
}

static char *const DESCRIPTION[] =
    {"Belongs to the session that this shell is part of: starts its programs and tells how they ended.", NULL};

struct builtin __cerith_struct = {"__cerith", cerith, BUILTIN_ENABLED, DESCRIPTION, "__cerith [program [arguments]]",
    NULL};
