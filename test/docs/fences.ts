/** The fenced blocks of a page, and how a reader compares what they show with what comes. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

export interface Fence {
  readonly kind: string
  /** A second word after the kind: what the block needs to run. */
  readonly tag: string
  readonly body: string
  readonly line: number
  /** The block that follows directly, as the output of a script. */
  readonly shows: string | null
}

export function fencesOf(file: string): Fence[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  const found = [...text.matchAll(/^```(\w*) ?(\w*)[^\n]*\n([^]*?)^```\n?/gm)].map((match) => ({
    kind: match[1] as string,
    tag: match[2] as string,
    body: match[3] as string,
    from: match.index,
    to: match.index + match[0].length,
  }))
  return found.map(({ kind, tag, body, from, to }, i) => {
    const next = found[i + 1]
    const shows = next && next.kind === 'text' && text.slice(to, next.from).trim() === '' ? next.body : null
    return { kind, tag, body, line: text.slice(0, from).split('\n').length, shows }
  })
}

/** Compares as a reader would: `...` is anything, trailing blanks are nothing. */
export function expectLike(actual: string, shown: string, what: string): void {
  const tidy = (text: string): string => text.replace(/[ \t\r]+$/gm, '').trim()
  const pattern = tidy(shown)
    .split('...')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*?')
  expect(tidy(actual), what).toMatch(new RegExp(`^${pattern}$`))
}

/**
 * Runs what stands behind each `$ ` of a `console` block and compares what comes with the lines below it; `$id` is kept
 * from step to step.
 */
export function runSteps(
  body: string,
  { cwd, env, what }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly what: string },
): void {
  for (const step of body.split(/^(?=\$ )/m)) {
    const [command = '', ...shown] = step.replace(/^\$ /, '').split('\n')
    const script = `exec 2>&1\n[ ! -f .vars ] || . ./.vars\n${command.replace(/\s+# .*$/, '')}\ndeclare -p id > .vars 2>/dev/null || :`
    const { stdout } = spawnSync('bash', ['--norc', '-c', script], { cwd, env, encoding: 'utf8', timeout: 60_000 })
    expectLike(stdout, shown.join('\n'), `${what}: ${command}`)
  }
}
