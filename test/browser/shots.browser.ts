/**
 * Every view as a picture, on a desk and on a phone, light and dark, empty and broken; and each of them without
 * violations.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { ASKING, asWebp, firstLine, root, rows, until, violations, World } from './harness.js'

const shots = join(root, 'test/browser/shots')
const DESK = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
const VARIANTS = [
  { name: '', size: DESK, dark: false },
  { name: '-dark', size: DESK, dark: true },
  { name: '-phone-dark', size: PHONE, dark: true },
  { name: '-phone', size: PHONE, dark: false },
]

/** Those that docs/ui.md shows. */
const SHOWN = [
  'live',
  'session',
  'replay',
  'activity',
  'job-dark',
  'whole-output',
  'list-phone',
  'take-over-phone-dark',
]

const world = new World('shop')
/** All of them are told at the end of a test. */
let problems: string[] = []
beforeAll(async () => {
  mkdirSync(shots, { recursive: true })
  await world.open()
})
afterAll(async () => {
  if (process.env['CERITH_DOCS'] === '1')
    for (const name of SHOWN) {
      const picture = await asWebp(world.browser, readFileSync(join(shots, `${name}.png`)))
      expect(picture.length, name).toBeLessThan(60_000)
      writeFileSync(join(root, 'docs/ui', `${name}.webp`), picture)
    }
  await world.close()
})
beforeEach(() => void (problems = []))
afterEach(() => world.rest())

/** Leaves the page as it was: wide and light. */
async function shoot(page: Page, name: string): Promise<void> {
  for (const variant of [...VARIANTS, { ...VARIANTS[0]!, name: null }]) {
    await page.setViewportSize(variant.size)
    await page.emulateMedia({ colorScheme: variant.dark ? 'dark' : 'light' })
    if (variant.name === null) return
    // Two frames and what a resized terminal needs to draw itself again.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    await page.waitForTimeout(250)
    await page.screenshot({ path: join(shots, `${name}${variant.name}.png`) })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    const found = [...(await violations(page)), ...(overflow > 0 ? [`${overflow} px wider than the screen`] : [])]
    problems.push(...found.map((problem) => `${name}${variant.name}: ${problem}`))
  }
}

test('empty, without a key, with a used link, with a key that has ended', async () => {
  const { link, origin } = await world.ui()
  const page = await world.page(link)
  await page.getByText('Nothing runs').waitFor()
  await shoot(page, 'empty')
  await page.getByRole('button', { name: 'Activity' }).click()
  await page.getByText('Nothing to plot yet').waitFor()
  await shoot(page, 'activity-empty')
  const stranger = await world.page(origin)
  await stranger.getByText('This page needs its link').waitFor()
  await shoot(stranger, 'no-key')
  const second = await world.page(link)
  await second.locator('strong', { hasText: 'This link was used before' }).waitFor()
  await shoot(second, 'used-link')
  await page.locator('strong', { hasText: 'This key has ended' }).waitFor()
  await shoot(page, 'ended')
  expect(problems).toEqual([])
})

test('a disk that is full', async () => {
  // The file system lives and dies with the process: nothing is left mounted.
  const script = `mount -t tmpfs -o size=64k tmpfs "$0" && exec "$1" "$2" ui --no-open`
  const state = join(world.base, 'small')
  mkdirSync(state)
  const child = spawn('unshare', ['-m', 'sh', '-c', script, state, process.execPath, join(root, 'dist/cli.cjs')], {
    env: { ...process.env, CERITH_HOME: state },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const link = await firstLine(child).catch(() => null)
    if (link === null) return console.log('disk full: skipped, a file system cannot be mounted here')
    const page = await world.page(link)
    await page.getByText('is full').waitFor()
    await shoot(page, 'disk-full')
    expect(problems).toEqual([])
  } finally {
    child.kill('SIGTERM')
  }
})

test('a day with three agents', async () => {
  const claude = await world.agent({ policy: ASKING, recordSessions: true })
  const codex = await world.agent({ door: 'library' })
  claude.secrets.set('API_KEY', 'sk-live-0123456789abcdef')
  const main = await claude.session('main')
  const client = 'claude-code'
  await main.run({ command: 'git init -q . 2>/dev/null; echo ready', client })
  await main.run({ command: `printf '%s\\n' README.md package.json src test | sort -r`, client })
  await main.run({ command: 'cat tsconfig.json', client })
  await main.run({ command: 'echo "key is {{secret:API_KEY}}"; sleep 0.3', client })
  await main.run({ command: `for i in 1 2 3 4; do echo "step $i of 4"; sleep 0.2; done`, client })
  const build = await codex.session('build')
  await build.run({ command: 'printf "%s\\n" one two three | sort' })
  await build.run({ command: 'sleep 0.6; exit 2' })
  const { link, child } = await world.ui()
  const page = await world.page(link)
  await page.getByText('connected').waitFor()
  const dev = await codex.start({
    command: `i=0; while :; do i=$((i+1)); printf '\\e[36m%s\\e[0m GET /api/items/%d \\e[32m200\\e[0m %dms\\n' "$(date +%T)" $i $((RANDOM%90)); sleep 0.2; done`,
    description: 'dev server',
  })
  await codex.start({
    command: 'echo building; echo "src/x.ts(3,1): error TS2304: Cannot find name y"; exit 2',
    description: 'type check',
  })
  const seq = await codex.start({ command: 'seq 1 20000; echo done', description: 'numbers' })
  await seq.wait({ exit: true })
  const shell = await codex.start({
    command: 'read -p "Deploy to production? [y/N] " a; echo "you said $a"; sleep 600',
    pty: { cols: 100, rows: 30 },
    description: 'deploy script',
  })
  const tests = main.run({
    command: `for f in engine session guard secrets web audit cli mcp; do printf '\\e[32m✓\\e[0m test/%s.test.ts \\e[2m(%d tests)\\e[0m\\n' $f $((RANDOM%40+5)); sleep 0.25; done; sleep 600`,
    client,
    description: 'npm test',
  })
  const release = await claude.session('release')
  const pending = release.run({ command: 'npm publish --access public', client, ask: () => new Promise(() => {}) })
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await shoot(page, 'list')
  await page.getByRole('button', { name: /npm test/ }).click()
  await until(async () => (await rows(page)).includes('mcp.test.ts'), 'the output')
  await shoot(page, 'live')
  await page.getByRole('button', { name: /dev server/ }).click()
  await until(async () => (await rows(page)).includes('/api/items/'), 'the output')
  await shoot(page, 'job')
  await page.getByRole('button', { name: /numbers/ }).click()
  await page.getByRole('button', { name: 'Whole output' }).first().click()
  await page.getByText('20000').first().waitFor()
  await page.getByPlaceholder('Search (regular').fill('999$')
  await page.getByText('20 lines').waitFor()
  await shoot(page, 'whole-output')
  await page.getByRole('button', { name: /deploy script/ }).click()
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You are typing').waitFor()
  await until(async () => (await rows(page)).includes('Deploy to'), 'the prompt')
  await shoot(page, 'take-over')
  await page.getByRole('button', { name: 'Give back' }).click()
  await page.getByRole('button', { name: /npm test/ }).click()
  await page.getByRole('button', { name: 'Session main', exact: true }).click()
  await page.locator('.block').nth(4).waitFor()
  await page.locator('.block', { hasText: 'step $i' }).getByRole('button', { name: 'Output', exact: true }).click()
  await page.getByText('step 4 of 4').waitFor()
  await shoot(page, 'session')
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await until(async () => (await rows(page)).includes('step 2 of 4'), 'the replay')
  await page.getByRole('button', { name: 'Pause' }).click()
  await shoot(page, 'replay')
  await page.getByRole('button', { name: 'Activity' }).click()
  await page.getByText('Record intact').waitFor()
  await until(async () => (await page.locator('.plot canvas').count()) >= 5, 'the plots')
  await shoot(page, 'activity')
  await page.getByPlaceholder('Search commands').fill('nothing fits this')
  await page.getByText('Nothing in the record fits').waitFor()
  await shoot(page, 'activity-no-hit')
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: /dev server/ }).click()
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByPlaceholder('For whom').fill('Ann')
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.locator('.made code').waitFor()
  await shoot(page, 'share')
  const look = await world.page(await page.locator('.made code').innerText())
  await look.getByText('read only').waitFor()
  await until(async () => (await rows(look)).includes('/api/items/'), 'the output')
  await shoot(look, 'one-job')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await shoot(page, 'help')
  await page.keyboard.press('Escape')
  child.kill('SIGKILL')
  await page.getByText('The connection is lost').waitFor()
  await shoot(page, 'lost')
  expect(problems).toEqual([])
  expect(page.wrong.filter((text) => !/WebSocket|net::ERR_/.test(text))).toEqual([])
  await Promise.all([dev.kill(), shell.kill()])
  await claude.close()
  await Promise.allSettled([tests, pending])
})
