/** What the model reads about the phoenix tool (document 001). */
import type { Facts } from '../../dialect.js'

export const bash = ({
  cwd,
  shell,
  timeouts,
}: Facts): string => `Executes shell commands via bash -c (${shell}), returning combined stdout/stderr. Each call is a new shell: state does NOT persist. No TTY, stdin is empty.

Modes: default (${timeouts.defaultMs / 1_000} seconds), slow (${timeouts.slowMs / 60_000} minutes), background (detached; returns pid and output file at once, is never timed out). After a timeout the process group is ended and the output so far returned.

<pwd>${cwd}</pwd>`
