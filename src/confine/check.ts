/** Says what is wrong with a sandbox that was asked for, in words; null where nothing is. */
import { SANDBOX_NETWORKS, SANDBOX_PROFILES } from '../contract/sandbox.js'

const LISTS = ['domains', 'write', 'hide', 'protect', 'show', 'sockets'] as const
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  profile: SANDBOX_PROFILES,
  network: SANDBOX_NETWORKS,
  unavailable: ['fail', 'weaker'],
  outside: ['ask', 'never'],
  accept: ['ask', 'always', 'never'],
  tier: ['auto', 'rooms', 'landlock'],
}
const LIMITS = ['memoryBytes', 'processes', 'cpus', 'tmpBytes']
const KEYS = [...LISTS, ...Object.keys(CHOICES), 'ports', 'nested', 'limits', 'try', 'tryKeepDays']
/**
 * `example.com`, `.example.com`, an address; each with `:PORT`, and `=ADDRESS` where a person
 * vouches for where it leads.
 */
const NAME = String.raw`\.?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?)*|\[[0-9a-f:.]+\]`
// Only an address: a name here would be resolved without being judged. One of IPv6 has two colons.
const ADDRESS = String.raw`\d{1,3}(?:\.\d{1,3}){3}|(?=(?:[^:]*:){2})[0-9a-f:.]+`
const DOMAIN = new RegExp(`^(?:${NAME})(?::[1-9]\\d{0,4})?(?:=(?:${ADDRESS}))?$`, 'i')

const TRY = /^(?:new|try_[0-9a-f]{10})$/

export function sandboxMistake(asked: unknown): string | null {
  if (typeof asked !== 'object' || asked === null || Symbol.iterator in asked) return 'sandbox must be an object'
  const given = asked as Record<string, unknown>
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return `sandbox has no ${unknown}; it has ${KEYS.join(', ')}`
  for (const [key, choices] of Object.entries(CHOICES))
    if (given[key] !== undefined && !choices.includes(given[key] as string))
      return `sandbox.${key} must be one of ${choices.join(', ')}`
  for (const key of LISTS) {
    const list = given[key]
    if (
      list !== undefined &&
      !(Array.isArray(list) && list.every((one) => typeof one === 'string' && one !== '' && !one.includes('\0')))
    )
      return `sandbox.${key} must be a list of texts`
  }
  const domain = (given['domains'] as readonly string[] | undefined)?.find((name) => !DOMAIN.test(name))
  if (domain !== undefined)
    return (
      `sandbox.domains: ${JSON.stringify(domain)} is no host; write example.com, .example.com for all below it, ` +
      'or example.com:8443=10.0.0.5 for an address that you vouch for'
    )
  if (given['nested'] !== undefined && typeof given['nested'] !== 'boolean')
    return 'sandbox.nested must be true or false'
  const { ports, limits, try: tried, tryKeepDays: days } = given
  if (tried !== undefined && typeof tried !== 'boolean' && !(typeof tried === 'string' && TRY.test(tried)))
    return 'sandbox.try must be true, false, "new" or the id of a try'
  if (days !== undefined && !(typeof days === 'number' && days > 0))
    return 'sandbox.tryKeepDays must be a positive number'
  if (
    ports !== undefined &&
    !(Array.isArray(ports) && ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536))
  )
    return 'sandbox.ports must be a list of ports'
  if (limits !== undefined) {
    if (typeof limits !== 'object' || limits === null || Symbol.iterator in limits)
      return 'sandbox.limits must be an object'
    for (const [name, value] of Object.entries(limits))
      if (!LIMITS.includes(name) || typeof value !== 'number' || !(value > 0))
        return `sandbox.limits.${name} must be a positive number (${LIMITS.join(', ')})`
  }
  return null
}
