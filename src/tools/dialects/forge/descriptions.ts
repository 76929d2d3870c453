/** What the model reads about the forge tools (documents 002 and 003). */
import type { Facts } from '../../dialect.js'

export const bash = ({
  shell,
  timeouts,
}: Facts): string => `Executes a given bash command in a persistent shell session (${shell}): directory and variables stay for the next call.

For terminal operations like git, npm, docker. Do NOT use it for file operations: use the specialized file tools instead.

- The command argument is required
- Timeout defaults to ${timeouts.defaultMs}ms, max ${timeouts.maxMs}ms; then the command is ended and its output so far returned
- Output exceeding 30000 characters will be truncated
- Use run_in_background=true for long-running commands
- Quote file paths with spaces using double quotes
- Use && to chain dependent commands, ; when you don't care if earlier commands fail`

export const bashOutput = `Retrieves output from a running or completed background bash shell.

- Takes the bash_id of the shell
- Returns only new output since last check, stderr under [stderr], along with shell status
- Supports optional regex filtering; lines filtered out count as read
- Reading never stops the shell`

export const killShell = `Kills a running background bash shell, with every process it started, by its ID.

- Takes a shell_id parameter identifying the shell to kill
- A shell that has already stopped is not an error`
