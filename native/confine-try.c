/* A root that is only tried: an overlay whose writes land in a layer of the state directory. The original is the
   lower layer, and stays as it is. */
#define _GNU_SOURCE
#include "confine.h"
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Without attributes of its own the kernel mounts all the same, and then fails at the first directory that is made
   anew. */
static bool keeps_attributes(int directory) {
  bool ok = fsetxattr(directory, "user.cerith.probe", "1", 1, 0) == 0;
  int saved = errno;
  if (ok) fremovexattr(directory, "user.cerith.probe");
  errno = saved;
  return ok;
}

const char *lay_over(int target, int lower, int layer) {
  int upper = openat(layer, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int work = openat(layer, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const char *failed = upper < 0 || work < 0 ? "try layer" : keeps_attributes(upper) ? NULL : "try attributes";
  if (!failed) {
    /* Descriptors instead of paths: a colon or a comma in a name means nothing. */
    char options[160], place[64];
    snprintf(options, sizeof options,
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,userxattr", lower, upper, work);
    snprintf(place, sizeof place, "/proc/self/fd/%d", target);
    if (mount("cerith-try", place, "overlay", MS_NOSUID | MS_NODEV, options) != 0) failed = "try overlay";
  }
  int saved = errno;
  if (upper >= 0) close(upper);
  if (work >= 0) close(work);
  errno = saved;
  return failed;
}

int lock_layers(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  int saved = errno;
  if (fd >= 0) close(fd);
  errno = saved;
  return -1;
}

/* Every range of ids that exists here, as itself. */
static bool write_map(pid_t pid, const char *name) {
  char path[64], text[4096], map[8192];
  snprintf(path, sizeof path, "/proc/self/%s", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  size_t length = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    unsigned first, outside, count;
    if (scan_text(line, "%u %u %u", &first, &outside, &count) != 3) return false;
    length += (size_t)snprintf(map + length, sizeof map - length, "%u %u %u\n", first, first, count);
  }
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = fd >= 0 && write(fd, map, length) == (ssize_t)length;
  if (fd >= 0) close(fd);
  return ok;
}

/* Only a process that stays in the old namespace may write such a map. */
bool map_everyone(pid_t *mapper, int *go) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pid_t builder = getpid();
  *mapper = fork();
  if (*mapper == 0) {
    char byte;
    close(ends[1]);
    bool ok = read(ends[0], &byte, 1) == 1 && write_map(builder, "uid_map") && write_map(builder, "gid_map");
    _exit(ok ? 0 : 1);
  }
  close(ends[0]);
  *go = ends[1];
  return *mapper > 0;
}

bool mapped(pid_t mapper, int go) {
  int status = 1;
  bool sent = write(go, "1", 1) == 1;
  close(go);
  while (waitpid(mapper, &status, 0) < 0 && errno == EINTR) {}
  return sent && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
