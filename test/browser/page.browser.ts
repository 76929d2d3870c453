/** The page at work: what a person sees and does reaches the agents, and nothing else does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { existsSync, readFileSync } from 'node:fs'
import { ASKING, root, rows, until, World } from './harness.js'

const world = new World()
beforeAll(() => world.open())
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

  test('by keyboard alone: find, open, go back, and a question is answered by its button only', async () => {
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
  })
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

  test('the page cannot be framed, and no worker of another page sees it', async () => {
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
    const evil = String.raw`\e]0;PWNED\a\e]2;PWNED\a\e]7;file:///x\a\e]9;note\a\e]52;c;aGFja2Vk\a\e]133;A\a\e]777;notify;a;b\a\e]1337;File=:AA\a\e]8;;javascript:alert(1)\aclick\e]8;;\a <img src=x onerror=alert(1)><script>alert(2)</script>\e[c\e[>c\e[5n\e[6n\e[?6n\eP$qm\e\\ \u202eevil end-of-evil`
    const job = await engine.start({
      command: `stty raw -echo; printf '${evil}'; timeout 3 cat -v > answers; sleep 66`,
      pty: { cols: 80, rows: 24 },
      description: 'hostile',
    })
    const { link } = await world.ui()
    const page = await world.page(link)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => (dialogs.push(dialog.message()), void dialog.dismiss()))
    await page.evaluate(() => {
      const wrote: string[] = []
      Object.assign(globalThis, { wrote })
      navigator.clipboard.writeText = async (text) => void wrote.push(text)
    })
    await page.getByRole('button', { name: /hostile/ }).click()
    await until(async () => (await rows(page)).includes('end-of-evil'), 'the output')
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByText('You are typing').waitFor()
    await page.waitForTimeout(4_000)
    expect(readFileSync(join(world.dir, 'answers'), 'utf8')).toBe('')
    expect(await page.title()).toBe('cerith')
    expect(await page.evaluate(() => (globalThis as unknown as { wrote: string[] }).wrote)).toEqual([])
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

describe('when things end', () => {
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

describe('budgets', () => {
  test('the page is small, paints soon, and stays quick with a thousand jobs and a flood', async () => {
    const gz = (name: string): number => gzipSync(readFileSync(join(root, 'dist/web', name)), { level: 9 }).length
    const page0 = gz('index.html') + gz('app.css') + gz('app.js')
    console.log(
      `page without terminal and plots: ${(page0 / 1000).toFixed(1)} kB gzip (budget 40); terminal ${(gz('terminal.js') / 1000).toFixed(0)}, plots ${(gz('plots.js') / 1000).toFixed(0)}`,
    )
    expect(page0).toBeLessThan(40_000)
    const engine = await world.agent({ limits: { maxRunningJobs: 2_000 } })
    for (let n = 0; n < 1_000; n += 25)
      await Promise.all(
        Array.from({ length: 25 }, (_, at) =>
          engine.start({ command: `echo job ${n + at}`, description: `job ${n + at}` }),
        ),
      )
    const paints: number[] = []
    let page = await world.page((await world.ui()).link)
    for (let n = 0; n < 3; n++) {
      page = await world.page((await world.ui()).link)
      await page.getByText('Jobs ended').waitFor()
      paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0))
    }
    console.log(
      `first paint with 1,000 jobs: best ${Math.min(...paints).toFixed(0)} ms of ${paints.length} (budget 200 on a quiet machine)`,
    )
    const frames = await page.evaluate(async () => {
      const list = document.querySelector('.list')!
      const took: number[] = []
      let before = performance.now()
      for (let n = 0; n < 120; n++) {
        list.scrollTop += 400
        await new Promise(requestAnimationFrame)
        took.push(performance.now() - before)
        before = performance.now()
      }
      return took.slice(5).sort((a, b) => a - b)
    })
    const at = (part: number): number => frames[Math.floor(frames.length * part)] ?? 0
    console.log(
      `scrolling 1,000 jobs: median frame ${at(0.5).toFixed(1)} ms, 95 % ${at(0.95).toFixed(1)}, worst ${frames.at(-1)?.toFixed(1)} (budget 50 on a quiet machine)`,
    )
    expect(await page.locator('.row').count()).toBeLessThan(60)
    const flood = await engine.start({
      command:
        'yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz | pv -qL 10m 2>/dev/null || yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c 80000000; sleep 68',
      description: 'flood',
      maxStoredBytes: 4_000_000,
    })
    await page.getByPlaceholder('Find a command').fill('flood')
    await page.getByRole('button', { name: /flood/ }).click()
    await page.getByText('are not shown here').waitFor()
    const heap = (): Promise<number> =>
      page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize)
    const early = await heap()
    await page.waitForTimeout(6_000)
    const late = await heap()
    console.log(
      `heap under a flood: ${(early / 1e6).toFixed(0)} MB, 6 s later ${(late / 1e6).toFixed(0)} MB; the view skipped ${await page.locator('.band').first().innerText()}`,
    )
    expect(late).toBeLessThan(early + 60_000_000)
    await flood.kill()
    await engine.close()
  })
})
