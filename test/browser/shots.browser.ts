/** Every view as a picture, on a desk and on a phone, light and dark, empty and broken; and each of them without violations. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { ASKING, root, until, violations, World } from './harness.js'

const world = new World()
const shots = join(root, 'test/browser/shots')
beforeAll(async () => {
  mkdirSync(shots, { recursive: true })
  await world.open()
})
afterAll(() => world.close())

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(shots, `${name}.png`) })
  expect(await violations(page), name).toEqual([])
}

test('empty and without a key', async () => {
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
})

test('a day with three agents', async () => {
  const claude = await world.agent({ policy: ASKING })
  const codex = await world.agent({ door: 'library' })
  claude.secrets.set('API_KEY', 'sk-live-0123456789abcdef')
  const main = await claude.session('main')
  const client = 'claude-code'
  await main.run({ command: 'git init -q . 2>/dev/null; echo ready', client })
  await main.run({ command: 'ls -la', client })
  await main.run({ command: 'cat package.json', client })
  await main.run({ command: 'echo "key is {{secret:API_KEY}}"; sleep 0.3', client })
  await main.run({ command: 'node -e "console.log(process.versions)" | head -5', client })
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
  const pending = release.run({ command: 'npm publish --access public', client })
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await page.getByRole('button', { name: /npm test/ }).click()
  await until(async () => (await page.locator('.xterm-rows').innerText()).includes('mcp.test.ts'), 'the output')
  await page.waitForTimeout(700)
  await shoot(page, 'live')
  await page.getByLabel('Dark colours').click()
  await page.waitForTimeout(200)
  await shoot(page, 'live-dark')
  await page.getByRole('button', { name: /dev server/ }).click()
  await until(async () => (await page.locator('.xterm-rows').innerText()).includes('/api/items/'), 'the output')
  await shoot(page, 'job-dark')
  await page.getByLabel('Light colours').click()
  await page.getByRole('button', { name: /numbers/ }).click()
  await page.getByRole('button', { name: 'Whole output' }).first().click()
  await page.getByPlaceholder('Search (regular').fill('999$')
  await page.getByText('20 lines').waitFor()
  await shoot(page, 'whole-output')
  await page.getByRole('button', { name: /deploy script/ }).click()
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You are typing').waitFor()
  await page.waitForTimeout(300)
  await shoot(page, 'take-over')
  await page.getByRole('button', { name: 'Give back' }).click()
  await page.getByRole('button', { name: /npm test/ }).click()
  await page.getByRole('button', { name: 'Session main', exact: true }).click()
  await page.locator('.block').first().waitFor()
  await shoot(page, 'session')
  await page.getByRole('button', { name: 'Activity' }).click()
  await page.getByText('Record intact').waitFor()
  await page.waitForTimeout(3_500)
  await shoot(page, 'activity')
  await page.getByLabel('Dark colours').click()
  await page.waitForTimeout(500)
  await shoot(page, 'activity-dark')
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByPlaceholder('For whom').fill('Ann')
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.locator('.made code').waitFor()
  await shoot(page, 'share-dark')
  const look = await page.locator('.made code').innerText()
  const phone = await world.page(look, { width: 390, height: 844 })
  await phone.getByText('npm publish').first().waitFor()
  await shoot(phone, 'phone-list')
  await phone.getByRole('button', { name: /deploy script/ }).click()
  await phone.locator('.xterm-rows').waitFor()
  await phone.waitForTimeout(400)
  await shoot(phone, 'phone-terminal')
  await phone.getByRole('button', { name: 'Activity' }).click()
  await phone.waitForTimeout(800)
  await shoot(phone, 'phone-activity')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await page.keyboard.press('?')
  await shoot(page, 'help-dark')
  await page.keyboard.press('Escape')
  const gone = child
  gone.kill('SIGKILL')
  await page.getByText('The connection is lost').waitFor()
  await shoot(page, 'lost-dark')
  expect(page.wrong.filter((text) => !/WebSocket|ERR_CONNECTION/.test(text))).toEqual([])
  await Promise.all([dev.kill(), shell.kill()])
  await claude.close()
  await Promise.allSettled([tests, pending])
})
