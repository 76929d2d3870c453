/**
 * Lays the layers of the configuration over each other. The project's file may tighten what the
 * user set, never loosen it.
 */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { badConfig, type ShellError } from '../contract/errors.js'
import { tightenedSetting } from './sandbox-rows.js'
import { SETTINGS } from './schema.js'
import type { Setting } from './setting.js'
import { attempt } from '../contract/attempt.js'
import { isInside } from '../contract/names/inside.js'

export type LayerName = 'default' | 'user' | 'project' | 'environment' | 'flag'

export interface Layer {
  readonly name: Exclude<LayerName, 'default'>
  readonly values: ReadonlyMap<string, unknown>
}

interface Combined {
  readonly values: Record<string, unknown>
  readonly origins: Record<string, readonly LayerName[]>
}

export function combine(layers: readonly Layer[], projectFile: string | null): Combined {
  const values: Record<string, unknown> = {}
  const origins: Record<string, readonly LayerName[]> = {}
  const userHasPolicy = layers.some(
    ({ name, values: own }) => name !== 'project' && [...own.keys()].some((key) => key.startsWith('policy.')),
  )
  for (const setting of SETTINGS) {
    let value = setting.default
    let from: LayerName[] = ['default']
    for (const { name, values: own } of inOrder(layers, setting)) {
      if (!own.has(setting.key)) continue
      const given = own.get(setting.key)
      if (name !== 'project') [value, from] = [given, [name]]
      else if (setting.project === 'never') throw notInProject(setting, projectFile)
      else {
        const merged = fromProject(setting, value, from, given, userHasPolicy, projectFile)
        if (merged.changed)
          [value, from] = [merged.value, merged.added && from[0] !== 'default' ? [...from, 'project'] : ['project']]
      }
    }
    values[setting.key] = value
    origins[setting.key] = from
  }
  return { values, origins }
}

/**
 * What only tightens is laid over everything the user said, flags and environment included; the
 * rest goes in the usual order.
 */
function inOrder(layers: readonly Layer[], setting: Setting): readonly Layer[] {
  if (setting.project === 'override' || setting.project === 'never') return layers
  return [...layers.filter(({ name }) => name !== 'project'), ...layers.filter(({ name }) => name === 'project')]
}

interface Merged {
  readonly value: unknown
  readonly changed: boolean
  /** Both the user's and the project's values count. */
  readonly added: boolean
}

const STRICTNESS = ['open', 'careful', 'readonly']

function fromProject(
  setting: Setting,
  current: unknown,
  from: readonly LayerName[],
  given: unknown,
  userHasPolicy: boolean,
  file: string | null,
): Merged {
  const isUsers = from[0] !== 'default'
  const extended = (more: readonly unknown[]): Merged => ({
    value: [...(current as unknown[]), ...more],
    changed: more.length > 0,
    added: true,
  })
  if (setting.project === 'override') return { value: given, changed: true, added: false }
  if (setting.project === 'add') return extended(given as unknown[])
  if (setting.project === 'within') {
    // Without roots of the user's own, `careful` means the working directory: a project may not
    // widen that beyond itself.
    if (setting.key === 'policy.roots' && !isUsers && userHasPolicy && file)
      return within(setting, [dirname(file)], given as string[], true, file)
    return within(setting, current as string[], given as string[], isUsers, file)
  }
  if (setting.project === 'tightens') {
    const value = tightenedSetting(setting.key, current, given)
    return { value, changed: JSON.stringify(value) !== JSON.stringify(current), added: isUsers }
  }
  if (setting.key === 'policy.preset')
    return {
      value: given,
      changed: STRICTNESS.indexOf(given as string) > STRICTNESS.indexOf(current as string),
      added: false,
    }
  if (setting.key === 'policy.rules') {
    // Where the user has a policy, a project's `allow` could answer a question that the user wanted to be asked.
    return extended((given as { decision?: string }[]).filter((rule) => !userHasPolicy || rule.decision !== 'allow'))
  }
  return { value: protectedOfBoth(current as Protected | null, given as Protected), changed: true, added: isUsers }
}

interface Protected {
  readonly paths?: readonly string[]
  readonly decision?: 'ask' | 'deny'
}

function protectedOfBoth(users: Protected | null, projects: Protected): Protected {
  if (!users) return projects
  const decision =
    users.decision === 'deny' || projects.decision === 'deny' ? 'deny' : (users.decision ?? projects.decision)
  return {
    ...users,
    ...projects,
    paths: [...new Set([...(users.paths ?? []), ...(projects.paths ?? [])])],
    ...(decision ? { decision } : {}),
  }
}

function within(
  setting: Setting,
  users: readonly string[],
  projects: readonly string[],
  isUsers: boolean,
  file: string | null,
): Merged {
  const isWithin = (path: string): boolean => users.some((root) => isInside(real(path), real(root)))
  const outside = isUsers && users.length > 0 ? projects.find((path) => !isWithin(path)) : undefined
  if (outside !== undefined)
    throw badConfig(
      `${file}: ${setting.key} names ${outside}, which lies outside your own ${setting.key}`,
      `Your configuration allows: ${users.join(', ')}`,
    )
  return { value: projects, changed: projects.length > 0, added: false }
}

function real(path: string): string {
  return attempt(() => realpathSync(path), path)
}

function notInProject(setting: Setting, file: string | null): ShellError {
  return badConfig(
    `${file}: ${setting.key} cannot be set by a project`,
    `It decides what commands may do to you, so it belongs into your own configuration (\`cerith config\` ` +
      `shows where)${setting.variable ? ` or into $${setting.variable}` : ''}.`,
  )
}
