/* What a command in a room may ask of the kernel: no capabilities, no new privileges, and a seccomp filter. */
#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library of a static build brings no kernel headers: the few words that are needed. */
struct instruction { uint16_t code; uint8_t yes, no; uint32_t k; };
struct program { unsigned short length; struct instruction *code; };
enum { LOAD_WORD = 0x20, EQUAL = 0x15, AT_LEAST = 0x35, ANY_BIT = 0x45, JUMP = 0x05, RETURN = 0x06 };
enum { NUMBER = 0, MACHINE = 4 };
#define ARGUMENT(n) (16u + 8u * (n))
#define ALLOW 0x7fff0000u
#define KILL 0x80000000u
#define REFUSE(error) (0x00050000u | (error))
#if defined(__x86_64__)
#define THIS_MACHINE 0xc000003eu
#elif defined(__aarch64__)
#define THIS_MACHINE 0xc00000b7u
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_MACHINE 0xc00000f3u
#endif

#ifndef THIS_MACHINE
/* 32-bit machines have calls of their own (two of most that take a time, ARM's private ones): no filter was written
   or tried for them. */
const char *lock_down(bool nested, Around around) {
  (void)nested, (void)around;
  errno = ENOSYS;
  return "seccomp (there is no filter for this kind of processor)";
}

const char *lock_down_init(void) { return lock_down(false, IN_ROOM); }

void prepare_filter(bool nested, Around around) { (void)nested, (void)around; }

void drop_bounds(void) {}
#else
/* The newest system call that was looked at; what comes after it is unknown, so it is not there. The numbers from
   424 on are the same everywhere. */
enum { NEWEST_KNOWN = 466 };

static const int FORBIDDEN[] = {
  SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */,
      431 /* fsconfig */, 432 /* fsmount */,
  433 /* fspick */, 442 /* mount_setattr */, SYS_setns, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf,
      SYS_perf_event_open, SYS_userfaultfd,
  425 /* io_uring_setup */, 426, 427, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
      SYS_open_by_handle_at, SYS_name_to_handle_at,
  SYS_swapon, SYS_swapoff, SYS_reboot, SYS_acct, SYS_quotactl, 443 /* quotactl_fd */, SYS_settimeofday,
      SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
  SYS_syslog, SYS_lookup_dcookie, SYS_vhangup, SYS_fanotify_init, SYS_nfsservctl, SYS_personality,
#ifdef SYS_kexec_file_load
  SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
  SYS_iopl, SYS_ioperm, SYS_uselib, SYS_modify_ldt,
#endif
};

/* Calls that make or change a mode, with the argument that holds it: set-user-id and set-group-id are refused. */
static const struct { int number, argument; } MODES[] = {
#ifdef SYS_chmod
  {SYS_chmod, 1}, {SYS_creat, 1}, {SYS_mkdir, 1}, {SYS_mknod, 1}, {SYS_open, 2},
#endif
  {SYS_fchmod, 1}, {SYS_fchmodat, 2}, {452 /* fchmodat2 */, 2}, {SYS_mkdirat, 2}, {SYS_mknodat, 2}, {SYS_openat, 3},
};

/* Calls whose first argument is a process, 0 for the one that calls. */
static const int OF_A_PROCESS[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam,
    SYS_sched_setscheduler};

enum { DENY, GONE, TERMINAL, CLONE, SOCKET, PERSONALITY, OWN, OWN_SECOND, MODE1, MODE2, MODE3, OPEN2, OPEN3, KINDS };
typedef struct { unsigned number; int kind; } Row;
static struct instruction code[512];
static int length, built;   /* built: for which kind of command the code is, 0 = none */
static Row rows[160];
static int row_count;
static struct { int at, kind; } jumps[160];
static int jump_count;

static void emit(uint16_t what, uint32_t k, uint8_t yes, uint8_t no) {
    code[length++] = (struct instruction){what, yes, no, k}; }
static int by_number(const void *a, const void *b) { unsigned x = ((const Row *)a)->number,
    y = ((const Row *)b)->number; return x < y ? -1 : x > y; }
static void add(int number, int kind) { rows[row_count++] = (Row){(unsigned)number, kind}; }

/* A tree instead of a list: the kernel tries the filter on every number when it is installed, and again on those
   with arguments. */
static void emit_tree(int from, int to) {
  if (to - from == 1) {
    emit(EQUAL, rows[from].number, 0, 1);
    jumps[jump_count].at = length;
    jumps[jump_count++].kind = rows[from].kind;
    emit(JUMP, 0, 0, 0);
    emit(RETURN, ALLOW, 0, 0);
    return;
  }
  int middle = (from + to) / 2;
  /* Four instructions per row below; the far half may be out of reach of a conditional jump. */
  emit(AT_LEAST, rows[middle].number, 0, 1);
  emit(JUMP, (uint32_t)((middle - from) * 3 + (middle - from - 1) * 2), 0, 0);
  emit_tree(from, middle);
  emit_tree(middle, to);
}

static void refuse_mode(int argument) {
  emit(LOAD_WORD, ARGUMENT(argument), 0, 0);
  emit(ANY_BIT, 06000, 0, 1);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
}

/* The mode of an open counts only where it may create. */
static void refuse_open_mode(int argument) {
  emit(LOAD_WORD, ARGUMENT(argument - 1), 0, 0);
  emit(ANY_BIT, O_CREAT | 020000000 /* the bit of O_TMPFILE itself */, 1, 0);
  emit(RETURN, ALLOW, 0, 0);
  refuse_mode(argument);
}

static void build(bool nested, Around around) {
  const bool no_internet = around == ALONE_OFFLINE;
  length = row_count = jump_count = 0;
  for (size_t at = 0; at < sizeof FORBIDDEN / sizeof FORBIDDEN[0]; at++)
      add(FORBIDDEN[at], FORBIDDEN[at] == SYS_personality ? PERSONALITY : DENY);
  for (size_t at = 0; at < sizeof MODES / sizeof MODES[0]; at++) {
    bool opens = MODES[at].number == SYS_openat;
#ifdef SYS_open
    opens |= MODES[at].number == SYS_open;
#endif
    add(MODES[at].number, opens ? (MODES[at].argument == 3 ? OPEN3 : OPEN2) : MODE1 + MODES[at].argument - 1);
  }
  /* A mode in memory cannot be judged: programs fall back to the calls that can. */
  add(437 /* openat2 */, GONE);
  add(457 /* statmount */, GONE);
  add(458 /* listmount */, GONE);
  add(SYS_ioctl, TERMINAL);
  add(SYS_socket, SOCKET);
  add(SYS_socketpair, SOCKET);
  /* Where ids are the machine's, only one's own are named: a limit on processor time ends a process, and a priority
     that was taken is not given back. */
  if (around != IN_ROOM) {
    for (size_t at = 0; at < sizeof OF_A_PROCESS / sizeof OF_A_PROCESS[0]; at++) add(OF_A_PROCESS[at], OWN);
    add(SYS_setpriority, OWN_SECOND);
    add(SYS_ioprio_set, OWN_SECOND);
  }
  if (!nested) { add(435 /* clone3 */, GONE); add(SYS_clone, CLONE); add(SYS_unshare, CLONE); }
  qsort(rows, (size_t)row_count, sizeof rows[0], by_number);
  emit(LOAD_WORD, MACHINE, 0, 0);
  emit(EQUAL, THIS_MACHINE, 1, 0);
  emit(RETURN, KILL, 0, 0);
  emit(LOAD_WORD, NUMBER, 0, 0);
  emit(AT_LEAST, NEWEST_KNOWN + 1, 0, 1);   /* the x32 calls too: their numbers begin at 2^30 */
  emit(RETURN, REFUSE(ENOSYS), 0, 0);
  emit_tree(0, row_count);
  int labels[KINDS];
  labels[DENY] = length; emit(RETURN, REFUSE(EPERM), 0, 0);
  labels[GONE] = length; emit(RETURN, REFUSE(ENOSYS), 0, 0);
  /* nothing is typed into a terminal from the side of its programs, and none gets another discipline */
  labels[TERMINAL] = length;
  emit(LOAD_WORD, ARGUMENT(1), 0, 0);
  emit(EQUAL, 0x5412 /* TIOCSTI */, 2, 0);
  emit(EQUAL, 0x5423 /* TIOCSETD */, 1, 0);
  emit(EQUAL, 0x541C /* TIOCLINUX */, 0, 1);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  labels[CLONE] = length;
  emit(LOAD_WORD, ARGUMENT(0), 0, 0);
  const uint32_t spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
      | 0x02000000 /* cgroup */ | 0x80 /* time */;
  emit(ANY_BIT, spaces, 0, 1);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  /* a network namespace does not hold vsock, and the other kinds are seldom used and often broken */
  labels[SOCKET] = length;
  emit(LOAD_WORD, ARGUMENT(0), 0, 0);
  emit(EQUAL, AF_UNIX, no_internet ? 2 : 4, 0);
  if (!no_internet) { emit(EQUAL, AF_INET, 3, 0); emit(EQUAL, AF_INET6, 2, 0); }
  emit(EQUAL, AF_NETLINK, 1, 0);
  emit(RETURN, REFUSE(EAFNOSUPPORT), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  labels[PERSONALITY] = length;   /* asking for it, the usual one, and one without random addresses (debuggers) */
  emit(LOAD_WORD, ARGUMENT(0), 0, 0);
  emit(EQUAL, 0xffffffff, 3, 0);
  emit(EQUAL, 0, 2, 0);
  emit(EQUAL, 0x0040000, 1, 0);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  labels[OWN] = length;
  emit(LOAD_WORD, ARGUMENT(0), 0, 0);
  emit(EQUAL, 0, 1, 0);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  labels[OWN_SECOND] = length;   /* kind and id: a process or group, never all of a user (2, of ioprio_set 3) */
  emit(LOAD_WORD, ARGUMENT(1), 0, 0);
  emit(EQUAL, 0, 0, 2);
  emit(LOAD_WORD, ARGUMENT(0), 0, 0);
  emit(AT_LEAST, 2, 0, 1);
  emit(RETURN, REFUSE(EPERM), 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  for (int argument = 1; argument <= 3; argument++) { labels[MODE1 + argument - 1] = length; refuse_mode(argument); }
  labels[OPEN2] = length; refuse_open_mode(2);
  labels[OPEN3] = length; refuse_open_mode(3);
  for (int at = 0; at < jump_count; at++) code[jumps[at].at].k = (uint32_t)(labels[jumps[at].kind] - jumps[at].at - 1);
}

/* From above: when the lowest is gone, all are. EINVAL: there is none of that number. EPERM: a user outside a room,
   who has none and can gain none without new privileges. */
void drop_bounds(void) {
  if (prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 0) return;
  for (int number = 63; number >= 0; number--) if (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0 && errno == EPERM)
      return;
}

static bool drop_capabilities(void) {
  drop_bounds();
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  struct { uint32_t version; int pid; } head = {0x20080522, 0};
  uint32_t none[6] = {0};
  return syscall(SYS_capset, &head, none) == 0;
}

static const char *install(void) {
  if (!drop_capabilities()) return "capabilities";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no new privileges";
  struct program program = {(unsigned short)length, code};
  return prctl(PR_SET_SECCOMP, 2 /* filter */, &program) == 0 ? NULL : "seccomp";
}

void prepare_filter(bool nested, Around around) {
  int kind = 1 + nested + 2 * (int)around;
  if (built != kind) build(nested, around);
  built = kind;
}

const char *lock_down(bool nested, Around around) {
  prepare_filter(nested, around);
  return install();
}

/* A list of what it may do: anything else ends it, and with it everything that it is the first process of. */
const char *lock_down_init(void) {
  static const int allowed[] = {SYS_read, SYS_wait4, SYS_close, SYS_exit_group, SYS_exit, SYS_rt_sigreturn,
      SYS_restart_syscall};
  enum { ALLOWED = sizeof allowed / sizeof allowed[0] };
  length = built = 0;
  emit(LOAD_WORD, MACHINE, 0, 0);
  emit(EQUAL, THIS_MACHINE, 1, 0);
  emit(RETURN, KILL, 0, 0);
  emit(LOAD_WORD, NUMBER, 0, 0);
  for (int at = 0; at < ALLOWED; at++) emit(EQUAL, (uint32_t)allowed[at], (uint8_t)(ALLOWED - at), 0);
  emit(RETURN, KILL, 0, 0);
  emit(RETURN, ALLOW, 0, 0);
  return install();
}
#endif
