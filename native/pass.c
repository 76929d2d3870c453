/* Moves what a command prints into the pipe of the engine's own reader. The pages change hands; no byte is copied,
   and the engine sleeps meanwhile. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROUNDS = 64, BLOCK = 1 << 20, NAP_US = 100 };

static int target = -1;
static bool full;   /* the reader is behind: the command waits for it */
static long long moved;

bool is_passing(void) { return target >= 0; }

/* Opened anew: `O_NONBLOCK` on a copy of the descriptor would change the pipe for every process that has it. */
bool begin_passing(const char *path) {
  struct stat file;
  target = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (target >= 0 && (fstat(target, &file) != 0 || !S_ISFIFO(file.st_mode))) end_passing();
  /* A small pipe has three processes take turns for each 64 KiB; where it may not grow it stays as it is. */
  if (target >= 0 && fcntl(target, F_GETPIPE_SZ) < BLOCK) fcntl(target, F_SETPIPE_SZ, BLOCK);
  full = false;
  moved = 0;
  return target >= 0;
}

long long end_passing(void) {
  if (target >= 0) close(target);
  target = -1;
  return moved;
}

struct pollfd passing_wait(int from) { return (struct pollfd){full ? target : from, full ? POLLOUT : POLLIN, 0}; }

const char *pass_some(int from) {
  /* The first write after a pause wakes the warden: it lets the command write more, or each write costs a turn of its
     loop. */
  if (!full) usleep(NAP_US);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    ssize_t got = splice(from, NULL, target, NULL, BLOCK, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (got > 0) { moved += got; continue; }
    if (got == 0) return "end";
    if (errno == EINTR) continue;
    if (errno == EPIPE) return "closed";
    if (errno != EAGAIN) return "refused";
    /* The kernel does not say which of the two pipes is to be waited for. */
    int left = 0;
    full = ioctl(from, FIONREAD, &left) == 0 && left > 0;
    return NULL;
  }
  return NULL;
}
