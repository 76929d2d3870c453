/**
 * README and docs tell the truth: every `js` snippet runs (and prints the `text` block right behind it), every
 * `console` snippet gives what it shows, every `json` snippet that is a configuration is a valid one. `...` in a shown
 * output stands for anything.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { afterAll, describe, expect, test } from 'vitest'
import { compilePolicy, type PolicyConfig } from '../../src/guard/policy/policy.js'
import { configJsonSchema } from '../../src/config/json-schema.js'
import { isInsideEngine } from '../../src/os/process/inside-engine.js'
import { expectLike, fencesOf as allFences, runSteps, type Fence } from './fences.js'
import { temporaryFolder } from '../fixtures/folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const base = temporaryFolder('docs')
afterAll(() => {
  // Jobs of the examples outlive the calls that made them, as they should; not this test.
  for (const page of pages)
    spawnSync('cerith', ['ps', '--json'], { env: envFor(page), encoding: 'utf8' })
      .stdout?.match(/shell_[0-9a-f]{8}/g)
      ?.forEach((id) => spawnSync('cerith', ['kill', id], { env: envFor(page) }))
})

mkdirSync(join(base, 'bin'))
mkdirSync(join(base, 'node_modules'))
symlinkSync(root, join(base, 'node_modules', 'cerith'))
writeFileSync(join(base, 'bin', 'cerith'), `#!/bin/sh\nexec ${process.execPath} ${join(root, 'dist/cli.js')} "$@"\n`)
chmodSync(join(base, 'bin', 'cerith'), 0o755)

const pages = ['README.md', 'AGENTS.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith('.md'),
)

function envFor(page: string): NodeJS.ProcessEnv {
  const name = page.replaceAll(/\W/g, '-')
  return {
    ...process.env,
    PATH: `${join(base, 'bin')}:${process.env['PATH']}`,
    HOME: '/home/u',
    CERITH_HOME: join(base, `state-${name}`),
    // The recipes begin from nothing.
    CERITH_PASSPHRASE: page === 'docs/recipes.md' ? undefined : 'correct horse battery staple',
    NO_COLOR: '1',
    CERITH_ENGINE: undefined,
  }
}

/** Those that need a server of their own are run by the test that starts it. */
const fencesOf = (page: string): Fence[] => allFences(join(root, page)).filter(({ tag }) => tag === '')

// Inside an agent's shell no answer counts as a person's.
const inside = isInsideEngine()
const RUNNABLE = ['js', 'console', 'json']

describe.each(pages.filter((page) => fencesOf(page).some(({ kind }) => RUNNABLE.includes(kind))))('%s', (page) => {
  const fences = fencesOf(page)
  const work = join(base, `work-${page.replaceAll(/\W/g, '-')}`)
  mkdirSync(work, { recursive: true })
  symlinkSync(join(base, 'node_modules'), join(work, 'node_modules'))

  test.each(fences.filter(({ kind }) => kind === 'js'))('the script at line $line runs', ({ body, line, shows }) => {
    const file = join(work, `line-${line}.mjs`)
    writeFileSync(file, body)
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: work,
      env: envFor(page),
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(status, stderr).toBe(0)
    if (shows !== null) expectLike(stdout, shows, `${page}:${line}`)
  })

  test.each(fences.filter(({ kind, body }) => kind === 'console' && !(inside && body.includes('cerith approve'))))(
    'the terminal at line $line shows what it says',
    ({ body, line }) => {
      runSteps(body, { cwd: work, env: envFor(page), what: `${page}:${line}` })
    },
  )

  test.each(fences.filter(({ kind }) => kind === 'json'))('the JSON at line $line is right', ({ body }) => {
    const value = JSON.parse(body) as Record<string, unknown>
    if (!['policy', 'limits', 'env', 'secrets', 'audit', 'roots'].some((key) => key in value)) return
    const validate = new Ajv({ strict: false }).compile(configJsonSchema())
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
    if (value['policy']) compilePolicy(value['policy'] as PolicyConfig)
  })
})

test('the pages that are made from the product are up to date', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/docs.mjs'), '--check', '--no-api'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
})

test('every page is in the index of the README, and every link of ours leads somewhere', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  for (const page of pages.filter((name) => name.startsWith('docs/'))) expect(readme, page).toContain(page)
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g))
      expect(() => readFileSync(join(root, page, '..', target as string)), `${page} links to ${target}`).not.toThrow(
        /ENOENT/,
      )
  }
})
