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
    wrap: (inner, clientArgs) => [
      'ssh',
      '-T',
      ...OPTIONS,
      ...clientArgs,
      ...words,
      `exec ${inner.map(quoteWord).join(' ')}`,
    ],
    judge: judgeBy([
      [
        /permission denied|host key verification failed|no matching host key|too many authentication failures|identification has changed|bad configuration|not allowed/i,
        'refused',
      ],
      [/could not resolve hostname/i, 'retry'],
    ]),
    hint: `Try it by hand, it should print works: ssh ${words.filter((word) => word !== '--').join(' ')} echo works`,
  }
}
