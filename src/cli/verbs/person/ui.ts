/** `cerith ui`: the page for the person behind the agents. */
import { ShellError } from '../../../contract/errors.js'
import { loadConfig } from '../../../config/load.js'
import { nearestExisting } from '../../../os/files/paths.js'
import { openInBrowser } from '../../../os/user/browser.js'
import { EXIT, UsageError } from '../../io/io.js'
import { withJobs } from '../../verb/open-engine.js'
import { readPort } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'
import { isLoopback } from '../../../os/peer/tcp.js'

export const verb = defineVerb({
  options: [
    { flags: '--port <N>', about: 'listen on this port (default: any free port)', read: readPort },
    { flags: '--host <ADDRESS>', about: 'listen on this address (default: 127.0.0.1)' },
    { flags: '--allow-remote', about: 'needed for an address that other machines can reach' },
    { flags: '--no-open', about: 'print the link, do not open a browser' },
    { flags: '--read-only', about: 'a link that can look but not act' },
  ],
  examples: [
    ['cerith ui', 'prints a link that is good once, and opens it'],
    ['ssh -L 7738:127.0.0.1:7738 box cerith ui --port 7738 --no-open', 'the page of another machine'],
  ],
  details: 'Ctrl-C ends it; the agents go on. See docs/ui.md.',
  async run({ options }, io) {
    const { port = 0, host = '127.0.0.1', allowRemote, open, readOnly } = options
    if (io.insideEngine)
      throw new ShellError(
        'REFUSED',
        'The page is for a person, and this was started by an agent’s shell',
        'Run it in a terminal of your own.',
      )
    if (!isLoopback(host) && !allowRemote)
      throw new UsageError(
        `${host} can be reached by other machines`,
        'Use an SSH tunnel (see docs/ui.md), or --allow-remote.',
      )
    const { Ui } = await import('../../../web/ui.js')
    const { values } = loadConfig({ cwd: nearestExisting(io.cwd), env: io.env })
    const headCopy = (values['audit.headFile'] as string | null) ?? undefined
    return withJobs(io, async (jobs, stateDir) => {
      const warn = (message: string): void => io.err.write(`cerith: ${message}\n`)
      const ui = new Ui({ jobs, stateDir, readOnly: readOnly === true, warn, headCopy })
      const ended = new Promise<void>((resolve) => void io.onSignal(() => resolve()))
      try {
        await ui.open({ port, host })
        io.out.write(`${ui.link()}\n`)
        if (!isLoopback(host)) warn('keys and output travel in clear text; an SSH tunnel is safer (docs/ui.md)')
        if (open !== false && io.person) await openInBrowser(ui.link(), io.env)
        await ended
      } finally {
        await ui.close()
      }
      return EXIT.ok
    })
  },
})
