/** `ssh://[user@]host[:port][/dir]`: the person's own ssh, with their configuration, agents and host keys. */
import { badAddress, knownSettings, wordOf, type Address } from './address.js'
import { judgeBy, type Step } from './place.js'
import { quoteWord } from '../../contract/quote.js'

/** Given before the person's own: ssh takes the first value of an option. Which keys are trusted is left to them. */
const OPTIONS = [
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'BatchMode=yes',
  // A master that runs is used. Ours would take the sessions of others along when it ends.
  'ControlMaster=no',
  'PermitLocalCommand=no',
  'Tunnel=no',
  'SendEnv=-*',
].flatMap((option) => ['-o', option])

export function sshStep(address: Address): Step {
  knownSettings(address, [])
  const [, user, host = '', port, dir] =
    /^(?:([^/]*)@)?(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/s.exec(address.rest) ?? []
  if (host === '') throw badAddress(`ssh://${address.rest}`, 'it names no host')
  const words = [
    ...(port === undefined ? [] : ['-p', port]),
    ...(user === undefined ? [] : ['-l', wordOf(user, 'the user', address, /^[\w][\w.@+\\-]*$/)]),
    '--',
    wordOf(host.replace(/^\[(.*)\]$/, '$1'), 'the host', address, /^[\w:][\w.:%-]*$/),
  ]
  return {
    ...(dir === undefined || dir === '/' ? {} : { cwd: dir }),
    // Exec: the login shell there is not to stay behind.
    wrap: (inner, clientArgs) => {
      return ['ssh', '-T', ...OPTIONS, ...clientArgs, ...words, `exec ${inner.map(quoteWord).join(' ')}`]
    },
    judge: judgeBy([
      [
        // With the ways that were tried; a profile there may say the same of a file.
        /permission denied \(|host key verification failed|no matching host key|too many authentication failures|identification has changed|bad configuration|not allowed/i,
        'refused',
      ],
      [/could not resolve hostname/i, 'retry'],
    ]),
    hint:
      'Try it by hand; it must print works without a question (a known host key, ssh-add for a passphrase): ssh ' +
      `${words.filter((word) => word !== '--').join(' ')} echo works`,
  }
}
