/** The page at work: what a person sees and does reaches the agents, and nothing else does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ASKING, isSmoke, root, rows, until, World } from './harness.js'

const world = new World()

/** The page's own policy forbids to read the clipboard, also here: what is written to it is seen on its way. */
const watchClipboard = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const wrote: string[] = []
    Object.assign(globalThis, { wrote })
    navigator.clipboard.writeText = async (text) => void wrote.push(text)
  })
const copied = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { wrote: string[] }).wrote)

beforeAll(() => world.open())
afterEach(() => world.rest())
afterAll(() => world.close())

describe('acting', () => {
  test('live output of a session in another process, masked, as it comes; interrupt and background', async () => {
    const engine = await world.agent()
    engine.secrets.set('T', 'super-secret-value-42')
    const { link } = await world.ui()
    const page = await world.page(link)
    const session = await engine.session('w')
    const run = session.run({
      command: 'echo {{secret:T}}; for i in 1 2 3; do echo tick-$i; sleep 0.3; done; sleep 60',
    })
    await page.getByRole('button', { name: /session w/ }).click()
    await until(async () => (await rows(page)).includes('tick-3'), 'the output')
    expect(await rows(page)).toContain('[secret:T]')
    expect(await page.content()).not.toContain('super-secret')
    await page.getByRole('button', { name: 'Interrupt' }).click()
    expect((await run).status).not.toBe('running')
    const other = session.run({ command: 'sleep 61' })
    await page.getByRole('button', { name: /sleep 61/ }).click()
    await page.getByRole('button', { name: 'To background' }).click()
    const moved = await other
    expect(moved.status).toBe('running')
    await (await engine.job(moved.id as string)).kill()
    expect(page.wrong).toEqual([])
    await engine.close()
  })

  test('approve lets exactly the waiting call go on; deny does not; the record says who', async () => {
    const engine = await world.agent({ policy: ASKING })
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByText('connected').waitFor()
    const session = await engine.session('s')
    const approved = session.run({ command: 'touch approved', ask: () => new Promise(() => {}) })
    await page.getByRole('button', { name: 'Allow once' }).click()
    expect((await approved).status).toBe('completed')
    expect(existsSync(join(world.dir, 'approved'))).toBe(true)
    const denied = session.run({ command: 'touch denied', ask: () => new Promise(() => {}) })
    await page.getByRole('button', { name: 'Deny' }).click()
    expect((await denied).refused?.reason).toContain('declined')
    expect(existsSync(join(world.dir, 'denied'))).toBe(false)
    await page.getByRole('button', { name: 'Activity' }).click()
    await page.getByRole('cell', { name: 'approved', exact: true }).first().waitFor()
    expect(await page.locator('tr', { hasText: 'touch denied' }).first().innerText()).toMatch(/denied|refused/)
    await engine.close()
  })

  test('a call without anybody to ask waits for the page that is in sight', async () => {
    const engine = await world.agent({ policy: ASKING })
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByText('connected').waitFor()
    await until(async () => {
      const outcome = engine.run({ command: 'touch waited' })
      const first = await Promise.race([
        outcome,
        page
          .getByRole('button', { name: 'Allow once' })
          .click({ timeout: 3_000 })
          .then(
            () => null,
            () => null,
          ),
      ])
      return (first ?? (await outcome)).status === 'completed'
    }, 'it went on')
    await engine.close()
  })

  test('two pages at once: one answers, the other is told; both see the same output', async () => {
    const engine = await world.agent({ policy: ASKING })
    const first = await world.ui()
    const second = await world.ui()
    const pages = [await world.page(first.link), await world.page(second.link)]
    const run = engine.run({ command: 'touch both; echo seen-by-both; sleep 62', ask: () => new Promise(() => {}) })
    for (const page of pages) await page.getByRole('button', { name: 'Allow once' }).waitFor()
    await pages[0]!.getByRole('button', { name: 'Allow once' }).click()
    await pages[1]!.getByRole('button', { name: 'Allow once' }).waitFor({ state: 'detached' })
    for (const page of pages) {
      await page.getByRole('button', { name: /touch both/ }).click()
      await until(async () => (await rows(page)).includes('seen-by-both'), 'the output')
    }
    await pages[1]!.getByRole('button', { name: 'End', exact: true }).click()
    await pages[1]!.getByRole('button', { name: 'End it and all it started' }).click()
    expect((await run).status).toBe('killed')
    await engine.close()
  })

  test('take over: what is typed reaches the program; Ctrl ] gives it back', async () => {
    const engine = await world.agent()
    const job = await engine.start({
      command: 'read -p "Name? " n; echo "hello $n"; sleep 63',
      pty: { cols: 80, rows: 24 },
      description: 'asks a name',
    })
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByRole('button', { name: /asks a name/ }).click()
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByText('You are typing').waitFor()
    await until(async () => (await rows(page)).includes('Name?'), 'the prompt')
    await page.keyboard.type('Ann')
    await page.keyboard.press('Enter')
    await until(async () => (await rows(page)).includes('hello Ann'), 'its answer')
    await page.keyboard.press('Control+]')
    await page.getByText('You are typing').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByRole('button', { name: 'End it and all it started' }).click()
    expect((await job.wait({ timeoutMs: 20_000 })).info.status).toBe('killed')
    await engine.close()
  })

  test.skipIf(isSmoke)(
    'by keyboard alone: find, open, go back, and a question is answered by its button only',
    async () => {
      const engine = await world.agent({ policy: ASKING })
      const job = await engine.start({ command: 'echo by-keys; sleep 64', description: 'by keys' })
      const { link } = await world.ui()
      const page = await world.page(link)
      await page.getByRole('button', { name: /by keys/ }).waitFor()
      for (let n = 0; n < 20 && !(await page.locator('[data-selected=true]', { hasText: 'by keys' }).count()); n++)
        await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await until(async () => (await rows(page)).includes('by-keys'), 'the output')
      const run = engine.run({ command: 'touch keys', ask: () => new Promise(() => {}) })
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      await page.locator('body').press('a')
      for (const key of ['y', 'a', 'Enter', 's']) await page.keyboard.press(key)
      await page.waitForTimeout(800)
      expect(existsSync(join(world.dir, 'keys'))).toBe(false)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect((await run).status).toBe('completed')
      await job.kill()
      await engine.close()
    },
  )
})

describe('keeping out', () => {
  test('a link to look may not act, whatever its page sends; it can be revoked', async () => {
    const engine = await world.agent()
    const job = await engine.start({ command: 'sleep 65' })
    const { link } = await world.ui('--read-only')
    const page = await world.page(link)
    await page.getByText('read only').waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await page.getByRole('button', { name: /sleep 65/ }).click()
    expect(await page.getByRole('button', { name: 'End', exact: true }).count()).toBe(0)
    const said = await page.evaluate(
      (id) =>
        new Promise((resolve) => {
          const socket = new WebSocket(`ws://${location.host}/live`)
          socket.onopen = () => {
            socket.send(JSON.stringify({ do: 'key', key: sessionStorage.getItem('cerith-key') }))
            socket.send(JSON.stringify({ do: 'kill', id }))
          }
          socket.onmessage = (event) => {
            const message = JSON.parse(event.data as string) as { t: string; text: string }
            if (message.t === 'error') resolve(message.text)
          }
        }),
      job.id,
    )
    expect(said).toBe('This link may only look.')
    expect((await job.info()).isRunning).toBe(true)
    const person = await world.page((await world.ui()).link)
    await person.getByRole('button', { name: 'Share' }).click()
    await person.getByRole('button', { name: 'Make a link' }).click()
    const shared = await world.page(await person.locator('.made code').innerText())
    await shared.getByText('read only').waitFor()
    await person.getByRole('button', { name: 'Revoke' }).click()
    await shared.locator('strong', { hasText: 'This key has ended' }).waitFor()
    await job.kill()
    await engine.close()
  })

  test.skipIf(isSmoke)('the page cannot be framed, and no worker of another page sees it', async () => {
    const { origin, near } = await world.ui()
    const frame = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<iframe src="${near}/"></iframe>`),
    )
    await new Promise<void>((resolve) => frame.listen(0, resolve))
    const page = await world.page(`http://127.0.0.1:${(frame.address() as AddressInfo).port}/`)
    await page.waitForTimeout(500)
    const framed = await page
      .frames()[1]!
      .locator('#app')
      .count()
      .catch(() => 0)
    expect(framed).toBe(0)
    frame.close()
    const own = await world.page(origin)
    const worker = await own.evaluate(() =>
      navigator.serviceWorker.register('/app.js').then(
        () => 'registered',
        (error: Error) => error.name,
      ),
    )
    expect(worker).not.toBe('registered')
    const made = await own.evaluate(() => {
      try {
        document.body.innerHTML = '<b>made</b>'
        return 'made'
      } catch (error) {
        return (error as Error).name
      }
    })
    expect(made).toBe('TypeError')
    expect(await own.evaluate(() => document.cookie)).toBe('')
  })

  test('an agent’s process cannot use a key that it has stolen', async () => {
    const engine = await world.agent()
    const { link, near } = await world.ui()
    const key = /#k=(\S+)/.exec(link)?.[1]
    const script = `const{WebSocket:W}=require(process.env.WS);const w=new W(process.env.O.replace('http','ws')+'/live',{origin:process.env.O});w.on('open',()=>w.send(JSON.stringify({do:'key',key:process.env.K})));w.on('message',m=>{console.log(String(m).slice(0,60));process.exit()});w.on('error',e=>{console.log(e.message);process.exit()})`
    const outcome = await engine.run({
      command: 'env -i WS="$WS" O="$O" K="$K" "$N" -e "$S"',
      env: { N: process.execPath, S: script, WS: join(root, 'node_modules/ws'), O: near, K: String(key) },
    })
    expect(outcome.stdout).toContain('403')
    const page = await world.page(link)
    await page.getByText('connected').waitFor()
    await engine.close()
  })

  test('hostile output changes nothing but its own terminal, and no answer of the terminal goes anywhere', async () => {
    const engine = await world.agent()
    const titles = [0, 1, 2].map((code) => `\\e]${code};PWNED\\a`).join('')
    const acts = [
      '7;file:///x',
      '9;note',
      '52;c;aGFja2Vk',
      '52;c;?',
      '133;A',
      '777;notify;a;b',
      '1337;File=:AA',
      '4;1;?',
      '10;?',
      '11;?',
      '12;?',
    ]
    const asks = [
      '[c',
      '[>c',
      '[=c',
      '[5n',
      '[6n',
      '[?6n',
      '[?1$p',
      '[4$p',
      '[>q',
      '[?u',
      '[14t',
      '[18t',
      '[21t',
      '[x',
      'Z',
      'P$qm\\e\\\\',
      'P+q544e\\e\\\\',
    ]
    const evil = String.raw`${titles}${acts.map((act) => `\\e]${act}\\a`).join('')}\e]8;;javascript:alert(1)\aclick\e]8;;\a <img src=x onerror=alert(1)><script>alert(2)</script>${asks.map((ask) => `\\e${ask}`).join('')} \u202eevil\r\nend-of-evil`
    const job = await engine.start({
      // What the terminal answers would stand in the file before what is typed after it.
      command: `stty raw -echo; printf ready; dd bs=1 count=1 of=/dev/null 2>/dev/null; printf '${evil}'; cat -vu > answers`,
      pty: { cols: 80, rows: 24 },
      description: 'hostile',
    })
    const { link } = await world.ui()
    const page = await world.page(link)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => (dialogs.push(dialog.message()), void dialog.dismiss()))
    await watchClipboard(page)
    await page.getByRole('button', { name: /hostile/ }).click()
    await until(async () => (await rows(page)).includes('ready'), 'the output')
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByText('You are typing').waitFor()
    await until(async () => (await rows(page)).includes('ready'), 'the screen')
    await page.keyboard.press('g')
    await until(async () => (await rows(page)).includes('end-of-evil'), 'the attack')
    await page.keyboard.press('Z')
    const answers = (): string => readFileSync(join(world.dir, 'answers'), 'utf8')
    await until(() => answers().includes('Z'), 'what was typed')
    expect(answers()).toBe('Z')
    expect(await page.title()).toBe('cerith')
    expect(await copied(page)).toEqual([])
    expect(await page.locator('.xterm-rows img, .xterm-rows script, .xterm-rows a').count()).toBe(0)
    await page
      .locator('.xterm-rows')
      .getByText('click')
      .first()
      .click({ force: true })
      .catch(() => {})
    expect(dialogs).toEqual([])
    expect(page.wrong).toEqual([])
    await job.kill()
    await engine.close()
  })

  test('what is approved shows hidden, bidi and foreign letters; a long text must be read to its end', async () => {
    const engine = await world.agent({ policy: ASKING })
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByText('connected').waitFor()
    const ask = (): Promise<never> => new Promise(() => {})
    const run = engine.run({ command: "touch 'a\u202Eb\u200Bc' \u0430pple", ask })
    await page.locator('.ask .odd.hidden').first().waitFor()
    expect(await page.locator('.ask pre').innerText()).toContain('\\u{202e}b\\u{200b}c')
    expect(await page.locator('.ask .odd.foreign').innerText()).toBe('\u0430')
    await page.getByRole('button', { name: 'Deny' }).click()
    await run
    const long = engine.run({ command: `touch ${Array.from({ length: 400 }, (_, n) => `file-${n}`).join(' ')}`, ask })
    await page.getByText('scroll to the end first').waitFor()
    await page.waitForTimeout(700)
    expect(await page.getByRole('button', { name: 'Allow once' }).isDisabled()).toBe(true)
    await page.locator('.ask pre').evaluate((box) => (box.scrollTop = box.scrollHeight))
    await page.getByRole('button', { name: 'Allow once' }).click()
    expect((await long).status).toBe('completed')
    await engine.close()
  })
})

describe.skipIf(isSmoke)('when things end', () => {
  test('an engine that is killed while it is watched', async () => {
    const { fork } = await import('node:child_process')
    const script = `const{createEngine}=await import(process.env.E);const e=await createEngine({stateDir:process.env.H});e.run({command:'echo watched; sleep 67'});setInterval(()=>{},1e6)`
    const child = fork('-', [], {
      execArgv: ['--input-type=module', '-e', script],
      env: { ...process.env, E: join(root, 'dist/index.js'), H: world.home },
      stdio: 'ignore',
    } as never)
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByRole('button', { name: /echo watched/ }).click()
    await until(async () => (await rows(page)).includes('watched'), 'the output')
    child.kill('SIGKILL')
    await page.getByRole('button', { name: /echo watched/ }).waitFor({ state: 'detached' })
    await page.getByText('has ended').first().waitFor()
    expect(page.wrong).toEqual([])
  })

  test('the page comes back by itself when `cerith ui` is there again on its port, and says that its key has ended', async () => {
    const first = await world.ui('--port', '0')
    const page = await world.page(first.link)
    await page.getByText('connected').waitFor()
    first.child.kill('SIGKILL')
    await page.getByText('The connection is lost').waitFor()
    const { port } = new URL(first.origin)
    await world.ui('--port', port)
    await page.locator('strong', { hasText: /This key has ended|needs its link/ }).waitFor({ timeout: 40_000 })
  })
})

describe.skipIf(isSmoke)('looking back', () => {
  test('a recorded session is replayed, jumped in, searched and copied; whole output is searched and downloaded', async () => {
    const engine = await world.agent({ recordSessions: true })
    const session = await engine.session('taped')
    await session.run({ command: 'echo first-output' })
    await session.run({ command: 'for i in 1 2 3 4 5 6 7 8; do echo line-$i; sleep 0.1; done' })
    await session.run({ command: 'echo last-output' })
    const job = await engine.start({ command: 'seq 1 50000', description: 'many lines' })
    await job.wait({ exit: true })
    const { link } = await world.ui()
    const page = await world.page(link)
    await watchClipboard(page)
    await page.getByRole('button', { name: /Session taped/ }).click()
    await page.locator('.block').nth(2).waitFor()
    const blocks = (): Promise<string[]> => page.locator('.block > pre:first-of-type').allInnerTexts()
    expect((await blocks()).length).toBe(3)
    await page.getByPlaceholder('Search').last().fill('line-5')
    await until(async () => (await blocks()).length === 1, 'the search of outputs')
    await page.locator('.block').getByRole('button', { name: 'Output', exact: true }).click()
    await page.locator('.printed', { hasText: 'line-8' }).waitFor()
    await page.locator('.block').getByRole('button', { name: 'Copy output' }).click()
    await until(async () => (await copied(page)).join().includes('line-8'), 'the copy')
    await page.locator('.block').getByRole('button', { name: 'Replay from here' }).click()
    await until(async () => (await rows(page)).includes('line-3'), 'the replay')
    await until(async () => (await rows(page)).includes('last-output'), 'its end')
    // By the timeline, back to the first command: what came later is gone from the screen.
    await page.locator('.timeline .bar').first().click()
    await until(async () => !(await rows(page)).includes('line-'), 'the jump')
    await page.getByRole('button', { name: /many lines/ }).click()
    // A second one appears when the view has read more than it begins with.
    await page.getByRole('button', { name: 'Whole output' }).first().click()
    await page.getByPlaceholder('Search (regular').fill('^4999\\d$')
    await page.getByText('10 lines').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8').split('\n').length).toBe(50_001)
    expect(page.wrong).toEqual([])
    await engine.close()
  })

  test('activity finds lines of the record, goes from one to its session, and says when the record was changed', async () => {
    const engine = await world.agent()
    await (await engine.session('looked-for')).run({ command: 'echo needle-in-the-record' })
    const { link } = await world.ui()
    const page = await world.page(link)
    await page.getByRole('button', { name: 'Activity' }).click()
    await page.getByText('Record intact').waitFor()
    await page.getByPlaceholder('Search commands').fill('needle looked-for')
    await until(async () => (await page.locator('tbody tr').count()) === 1, 'one line')
    await page.getByRole('button', { name: 'looked-for' }).click()
    await page.getByRole('heading', { name: 'Session looked-for' }).waitFor()
    const file = join(world.home, 'audit.jsonl')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.replace('needle-in-the-record', 'needle-in-the-recorD'))
    await page.getByRole('button', { name: 'Activity' }).click()
    await page.getByText('Record NOT intact').waitFor()
    writeFileSync(file, before)
    await engine.close()
  })

  test('on a phone: the list, one view, back, and a row of keys that types into a terminal', async () => {
    const engine = await world.agent()
    const job = await engine.start({
      command: 'read -p "Go on? " n; echo "went on"; sleep 69',
      pty: { cols: 80, rows: 24 },
      description: 'asks to go on',
    })
    const { link } = await world.ui()
    const page = await world.page(link, { width: 390, height: 844 })
    await page.getByRole('button', { name: /asks to go on/ }).click()
    await until(async () => (await rows(page)).includes('Go on?'), 'the prompt')
    await page.getByRole('button', { name: '‹ All' }).click()
    await page.getByRole('button', { name: /asks to go on/ }).click()
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByRole('toolbar', { name: 'Keys' }).getByRole('button', { name: 'enter' }).click()
    await until(async () => (await rows(page)).includes('went on'), 'its answer')
    expect((await job.screen()).size.cols).toBeLessThan(60)
    await job.kill()
    await engine.close()
  })
})
