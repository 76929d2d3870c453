/**
 * Reads one value of a setting, from JSON or from the text of an environment variable, and says what is wrong with it.
 */
import { resolve } from 'node:path'
import { badConfig, ShellError } from '../contract/errors.js'
import type { Setting } from './setting.js'
import { isRecord } from '../contract/attempt.js'

/** Where a value was found, for messages; relative paths are resolved against `base`. */
export interface Place {
  readonly name: string
  readonly base: string
  readonly home: string
}

/** The value as it will be used: checked, paths absolute. */
export function readValue(setting: Setting, value: unknown, place: Place): unknown {
  const { type, min = 0, max = Number.MAX_SAFE_INTEGER } = setting
  const isWhole = (one: unknown): boolean => Number.isInteger(one) && (one as number) >= min && (one as number) <= max
  if (type === 'boolean') return typeof value === 'boolean' ? value : wrong(setting, value, place, 'true or false')
  if (type === 'number')
    return isWhole(value) ? value : wrong(setting, value, place, `a whole number from ${min} to ${max}`)
  if (type === 'string') {
    if (typeof value !== 'string') return wrong(setting, value, place, 'a text')
    return !setting.choices || setting.choices.includes(value)
      ? value
      : wrong(setting, value, place, `one of ${setting.choices.join(', ')}`)
  }
  if (type === 'path') return isText(value) ? absolute(value, place) : wrong(setting, value, place, 'a path')
  if (type === 'numbers')
    return Array.isArray(value) && value.every(isWhole)
      ? value
      : wrong(setting, value, place, `a list of whole numbers from ${min} to ${max}`)
  if (type === 'names' || type === 'paths') {
    if (!Array.isArray(value) || !value.every(isText)) return wrong(setting, value, place, 'a list of non-empty texts')
    return type === 'paths' ? value.map((path: string) => absolute(path, place)) : [...value]
  }
  if (type === 'objects')
    return Array.isArray(value) && value.every(isRecord) ? value : wrong(setting, value, place, 'a list of objects')
  if (!isRecord(value)) return wrong(setting, value, place, 'an object')
  if (type === 'flags' && !Object.values(value).every((flag) => typeof flag === 'boolean'))
    return wrong(setting, value, place, 'an object of true and false')
  if (type === 'texts' && !Object.values(value).every(isText)) return wrong(setting, value, place, 'an object of texts')
  if (
    type === 'commands' &&
    !Object.values(value).every(
      (argv) => Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string'),
    )
  )
    return wrong(setting, value, place, 'an object of lists of words')
  return value
}

const YES = new Set(['1', 'true', 'yes', 'on'])
const NO = new Set(['0', 'false', 'no', 'off'])

/** The value that a text means: of a variable, or of `--set KEY=VALUE`. */
export function readText(setting: Setting, text: string, place: Place): unknown {
  const { type } = setting
  if (type === 'boolean') {
    const word = text.toLowerCase()
    return YES.has(word) ? true : NO.has(word) ? false : wrong(setting, text, place, 'true or false')
  }
  if (type === 'number')
    return readValue(setting, /^-?\d+$/.test(text.replaceAll('_', '')) ? Number(text.replaceAll('_', '')) : text, place)
  if (type === 'string' || type === 'path') return readValue(setting, text, place)
  if (/^\s*[[{]/.test(text) || (type !== 'names' && type !== 'paths')) {
    try {
      return readValue(setting, JSON.parse(text), place)
    } catch (error) {
      if (ShellError.is(error)) throw error
      return wrong(setting, text, place, 'JSON')
    }
  }
  return readValue(
    setting,
    text.split(type === 'paths' ? ':' : ',').filter((part) => part !== ''),
    place,
  )
}

function absolute(path: string, { base, home }: Place): string {
  const expanded = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
  return resolve(base, expanded)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

function wrong(setting: Setting, value: unknown, place: Place, expected: string): never {
  const shown = JSON.stringify(value) ?? String(value)
  throw badConfig(
    `${place.name}: ${setting.key} must be ${expected}, got ${shown.length > 80 ? `${shown.slice(0, 80)}...` : shown}`,
    setting.about,
  )
}
