/* The terminal of a command. The warden holds the command's side open as long as the leader lives: a program that
   closes all its descriptors and opens /dev/tty again must not find its terminal hung up. */
#define _GNU_SOURCE
#include "helper.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

bool terminal_open(Terminal *terminal, int cols, int rows) {
  terminal->held = -1;
  terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal->master < 0) return false;
  if (grantpt(terminal->master) != 0 || unlockpt(terminal->master) != 0
      || ptsname_r(terminal->master, terminal->path, sizeof terminal->path) != 0) return false;
  terminal->held = open(terminal->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal->held < 0) return false;
  if (fcntl(terminal->master, F_SETFL, O_NONBLOCK) != 0) return false;
  /* The size is there before the first program can ask for it. Text is UTF-8: erasing takes whole characters. */
  terminal_size(terminal, cols, rows);
  struct termios modes;
  if (tcgetattr(terminal->held, &modes) == 0) {
    modes.c_iflag |= IUTF8;
    tcsetattr(terminal->held, TCSANOW, &modes);   /* or erasing takes bytes: nothing is lost */
  }
  return true;
}

void terminal_let_go(Terminal *terminal) {
  if (terminal->held >= 0) close(terminal->held);
  terminal->held = -1;
}

void terminal_size(Terminal *terminal, int cols, int rows) {
  if (terminal->master < 0 || cols < 1 || rows < 1 || cols > 10000 || rows > 10000) return;
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  ioctl(terminal->master, TIOCSWINSZ, &size);   /* fails only for a terminal that is gone */
}

char terminal_eof_key(const Terminal *terminal) {
  struct termios modes;
  if (terminal->master < 0 || tcgetattr(terminal->master, &modes) != 0 || modes.c_cc[VEOF] == 0) return 4;
  return (char)modes.c_cc[VEOF];
}

/* What a person at the terminal would know: who is in front, whether typing shows, whether something typed is still
   unread. */
void terminal_describe(const Terminal *terminal, char *text, size_t size) {
  struct winsize window = {0};
  struct termios modes;
  pid_t front = 0;
  int unread = 0;
  text[0] = 0;
  if (terminal->master < 0) return;
  if (ioctl(terminal->master, TIOCGWINSZ, &window) != 0) memset(&window, 0, sizeof window);
  if (ioctl(terminal->master, TIOCGPGRP, &front) != 0) front = 0;
  if (terminal->held >= 0 && ioctl(terminal->held, FIONREAD, &unread) != 0) unread = 0;
  if (tcgetattr(terminal->master, &modes) != 0) memset(&modes, 0, sizeof modes);
  snprintf(text, size, "path=%s\ncols=%d\nrows=%d\nforeground=%d\ncanonical=%d\necho=%d\nsignals=%d\nunread=%d\n",
      terminal->path, window.ws_col, window.ws_row,
           (int)front, (modes.c_lflag & ICANON) != 0, (modes.c_lflag & ECHO) != 0, (modes.c_lflag & ISIG) != 0, unread);
}
