/** What the model reads about the gemini tool. */
import type { Facts } from '../../dialect.js'

export const runShellCommand = ({ shell, timeouts }: Facts): string =>
  `Executes a command as \`bash -c <command>\` (${shell}) in a fresh shell, without stdin. Ended after ${timeouts.defaultMs / 1_000} seconds unless is_background. Returns output, and exit code, signal or process group where they matter.`
