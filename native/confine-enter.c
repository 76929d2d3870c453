/* Puts a command into a room: process ids of its own with an init, a /proc of its own, and only its own session
   files. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Files of /proc that belong to root and tell of the machine. For anyone else the kernel refuses them. */
static const char *const ROOTS_FILES[] = {"/proc/kcore", "/proc/kmsg", "/proc/kpageflags", "/proc/kpagecount",
    "/proc/kpagecgroup", "/proc/vmallocinfo",
  "/proc/slabinfo", "/proc/timer_list", "/proc/sched_debug", "/proc/keys", "/proc/key-users", "/proc/iomem",
      "/proc/ioports", "/proc/kallsyms", "/proc/pagetypeinfo", "/proc/allocinfo", "/proc/vmcore"};

/* `nothing` stands on a mount that can only be read, and so does every copy of it. */
static bool cover_by_nothing(const char *path, int nothing) {
  int target = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (target < 0) return errno == ENOENT;
  bool ok = cover_with(nothing, target, 0, false);
  close(target);
  return ok;
}

/* Only a process of the new ids can mount their /proc. Read-only: the switches of the kernel in it are files that
   root owns. */
static bool own_processes(void) {
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) != 0) return false;
  if (geteuid() != 0) return true;
  int nothing = open(NOTHING, O_PATH | O_CLOEXEC);
  bool ok = nothing >= 0;
  for (size_t at = 0; ok && at < sizeof ROOTS_FILES / sizeof ROOTS_FILES[0]; at++)
      ok = cover_by_nothing(ROOTS_FILES[at], nothing);
  if (nothing >= 0) close(nothing);
  return ok;
}

/* The first of the new ids. When it ends, the kernel ends all others; it adopts what the command leaves behind. */
static void be_init(const Entry *entry, int told) {
  /* first: from here on its environment, memory and descriptors are closed to the commands */
  prctl(PR_SET_DUMPABLE, 0);
  if (!entry->detached) prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "cerith-init");
  signal(SIGCHLD, SIG_IGN);   /* children that end are gone at once */
  int leave = fcntl(entry->leave, F_DUPFD_CLOEXEC, 3);   /* behind those that are given another file below */
  char ok = leave >= 0 && own_processes();
  if (write(told, &ok, 1) != 1 || !ok) _exit(1);
  /* The command is being made meanwhile. Where this fails, everything of the new ids ends with it. */
  dup2(leave, 0);
  if (entry->lock >= 0) dup2(entry->lock, 1);
  close_from(entry->lock >= 0 ? 2 : 1);
  if (lock_down_init() != NULL) _exit(1);
  /* The end of the pipe tells that the leader has ended; then only the last one of what it left behind is waited
     for. */
  char byte;
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) got = read(0, &byte, 1);
  close(0);
  while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR) {}
  _exit(0);
}

/* Takes away the folders of all other sessions, and puts the command's own in their place. */
static bool own_files(const char *room_files, const char *folder) {
  if (!room_files) return true;
  int own = -1;
  if (folder) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", room_files, folder) >= (int)sizeof path) return false;
    int fd = open_source(path);
    own = fd < 0 ? -1 : clone_mount(fd, false);
    if (fd >= 0) close(fd);
    if (own < 0) return false;
  }
  /* Covered, not unmounted: the kernel waits a while for the other processors before a mount may go. */
  if (own < 0) {
    int empty = open(NONE, O_PATH | O_CLOEXEC), target = open_source(room_files);
    bool covered = empty >= 0 && target >= 0 && cover_with(empty, target, 0, false);
    if (empty >= 0) close(empty);
    if (target >= 0) close(target);
    return covered;
  }
  if (mount("own", room_files, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16k") != 0) return false;
  int inner = open_source(room_files);
  bool ok = inner >= 0 && mkdirat(inner, folder, 0700) == 0;
  int target = ok ? openat(inner, folder, O_PATH | O_CLOEXEC | O_NOFOLLOW) : -1;
  ok = target >= 0 && place_mount(own, target) && change_mount(inner, A_RDONLY, false);
  int open_ones[] = {inner, target, own};
  for (size_t at = 0; at < sizeof open_ones / sizeof open_ones[0]; at++) if (open_ones[at] >= 0) close(open_ones[at]);
  return ok;
}

const char *room_enter(const Entry *entry, pid_t *init) {
  for (int at = 0; at < SPACES; at++) if (entry->spaces[at] >= 0 && setns(entry->spaces[at], 0) != 0) return "room";
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return "process ids";
  /* A slave of the room's mounts: covers arrive from there, nothing goes back. */
  if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return "slave";
  /* While it is held open the mounts stay: taking them down would hold up the news that the last process of the
     command is gone. */
  if ((*entry->held = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)) < 0) return "mounts";
  int told[2];
  if (pipe2(told, O_CLOEXEC) != 0) return "pipe";
  /* The working directory and root are shared with it: where it mounts /proc, this process has it too. */
  *init = (pid_t)syscall(SYS_clone, CLONE_PARENT | CLONE_FS | SIGCHLD, NULL, NULL, NULL, NULL);
  if (*init == 0) be_init(entry, told[1]);
  close(told[1]);
  *entry->ready = told[0];
  return *init < 0 ? "init" : NULL;
}

/* While the init mounts. */
const char *room_furnish(const char *inner, const char *folder, bool own_terminals) {
  if (!own_files(inner, folder)) return "session files";
  if (own_terminals && mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
      "newinstance,ptmxmode=0666,mode=620") != 0) return "devpts";
  return NULL;
}

bool gate_is_open(int gate) {
  char said = 0;
  ssize_t got;
  do got = read(gate, &said, 1); while (got < 0 && errno == EINTR);
  return got == 1 && said == 1;
}

/* Borrows the memory until the exec, on a stack of its own. */
pid_t clone_leader(int (*run)(void *), void *context) {
  static char stack[65536] __attribute__((aligned(16)));
  return clone(run, stack + sizeof stack, CLONE_PARENT | CLONE_VM | CLONE_VFORK | SIGCHLD, context);
}
