/** The value of a secret never becomes code, whichever way it is handed on; what uses it as data still runs. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'
import { CALLS, DATA, VALUES, WAYS } from '../fixtures/secret-ways.js'
import { temporaryFolder } from '../fixtures/folder.js'
import { testEngine } from './harness.js'

let base: string
let engine: Engine
beforeAll(async () => {
  base = temporaryFolder('flow')
  engine = await createEngine({ cwd: base, stateDir: join(base, 'state') })
  // Harmless, and seen when it was run.
  engine.secrets.set('m', `touch ${base}/ran; true`)
  engine.secrets.set('api-key', 'k-123456789')
})
afterAll(async () => {
  await engine.close()
})
beforeEach(() => rmSync(join(base, 'ran'), { force: true }))

let sessions = 0
const T = '{{secret:m}}'
const SMUGGLED = [
  // Arithmetic runs the substitutions in subscripts.
  `X=${T}; echo $((X))`,
  `X=${T}; Y=X; echo $((Y))`,
  `X=${T}; [[ $X -eq 1 ]]`,
  `X=${T}; [[ X -eq 1 ]]`,
  `X=${T}; declare -i n="$X"`,
  `X=${T}; let "a[$X]"`,
  `X=${T}; test -v "a[$X]"`,
  `X=${T}; unset "a[$X]"`,
  `X=${T}; read "a[$X]" <<< 1`,
  `X=${T}; printf -v "$X" y`,
  `X=${T}; mapfile -C "$X" -c1 < /dev/null`,
  `X=${T}; [[ -v $X ]]`,
  `X=${T}; echo "\${!X}"`,
  `X=${T}; a=abc; echo "\${a:X}"`,
  `X=${T}; a=abc; echo "\${a:0:$X}"`,
  `X=${T}; history -s "$X"; fc -s`,
  `X=${T}; Y=$(base64 <<< "$X"); base64 -d <<< "$Y" | sh`,
  `X=${T}; Y=$(printf %s "$X" | xxd -p); xxd -r -p <<< "$Y" | sh`,
  `X=${T}; echo "$X" > s.sh; chmod +x s.sh; ./s.sh`,
  `X=${T}; python3 <<< "$X"`,
  `python3 <<< ${T}`,
  `X=${T}; Y=$X; Z=$Y; eval "$Z"`,
  `X=${T}; tr a-z b-za <<< "$X" | sh`,
  `X=${T}; base64 -d <<< "$X" | sh`,
  `X=${T}; echo "$X" | gzip | gunzip | sh`,
  `X=${T}; sed "1e $X" /dev/null`,
  `X=${T}; echo "$X" > a.c; gcc a.c && ./a.out`,
  `X=${T}; command_not_found_handle() { eval "$X"; }; zzz`,
  `X=${T}; bash <<< "$X"`,
  `X=${T}; bash <<E\n$X\nE`,
  `bash <<E\n${T}\nE`,
  `X=${T}; bash < <(echo "$X")`,
  `X=${T}; echo "$X" | bash`,
  `X=${T}; . /dev/stdin <<< "$X"`,
  `X=${T}; source <(echo "$X")`,
  `set -- ${T}; eval "$1"`,
  `set -- a ${T}; shift; eval "$@"`,
  `f() { eval "$1"; }; f ${T}`,
  `f() { local y=$1; eval "$y"; }; f ${T}`,
  `f() { bash -c "$2"; }; f x ${T}`,
  `A=(${T}); eval "\${A[0]}"`,
  `A=(x ${T}); bash -c "\${A[1]}"`,
  `declare -A M; M[k]=${T}; eval "\${M[k]}"`,
  `X=${T}; Y=$X; eval "$Y"`,
  `X=${T}; Y="echo; $X"; bash -c "$Y"`,
  `X=${T}; Y=$X; Z="$Y"; sh -c "$Z"`,
  `X=${T}; declare -n R=X; eval "$R"`,
  `X=${T}; N=X; eval "\${!N}"`,
  `X=${T}; echo "\${X@P}"; X='$(touch '"$PWD"'/ran)'`,
  `echo ${T} > s.sh; bash s.sh`,
  `printf '%s\\n' ${T} > s.sh; sh ./s.sh`,
  `cat > s.sh <<E\n${T}\nE\n. ./s.sh`,
  `X=${T}; tar cf /dev/null --checkpoint=1 --checkpoint-action=exec="$X" /etc/hostname`,
  `X=${T}; git -c alias.q="!$X" q`,
  `read -r X <<< ${T}; eval "$X"`,
  `read -r X < <(echo ${T}); bash -c "$X"`,
  `mapfile -t L <<< ${T}; eval "\${L[0]}"`,
  `X=${T}; python3 <<< "import os; os.system('''$X''')"`,
  `X=${T}; python3 -c "import os; os.system('''$X''')"`,
  `printf -v X '%s' ${T}; eval "$X"`,
  `for X in ${T}; do eval "$X"; done`,
  `X=${T}; trap "$X" EXIT`,
  `X=${T}; alias q="$X"; eval q`,
  `X=${T}; PROMPT_COMMAND=$X`,
  `X=${T}; env bash -c "$X"`,
  `X=${T}; timeout 5 sh -c "$X"`,
  `X=${T}; xargs -I{} sh -c {} <<< "$X"`,
  `X=${T}; perl -e "system(q($X))"`,
  `X=${T}; awk "BEGIN { system(\\"$X\\") }"`,
  `X=${T}; find . -maxdepth 0 -exec sh -c "$X" \\;`,
  `X=${T}; "$BASH" -c "$X"`,
  `X=${T}; $X`,
  `X=${T}; coproc bash -c "$X"; wait`,
  // Through descriptors, integers, programs of other tools and pieces.
  `X=${T}; exec 3<<<"$X"; read -r -u3 Y; eval "$Y"`,
  `X=${T}; exec 3<<<"$X"; mapfile -u 3 -t L; eval "\${L[0]}"`,
  `X=${T}; exec {fd}<<<"$X"; bash <&$fd`,
  `X=${T}; mkfifo p; (echo "$X" > p &); bash p`,
  `X=${T}; coproc bash; echo "$X" >&\${COPROC[1]}; exec {COPROC[1]}>&-; wait`,
  `declare -i N; read N <<< ${T}`,
  `declare -i N; printf -v N %s ${T}`,
  `X=${T}; select z in a; do break; done <<< "$X"; (( REPLY )); :`,
  `X=${T}; for ((i=0;i<\${#X};i++)); do Y+=\${X:i:1}; done; eval "$Y"`,
  `X=${T}; echo a | sed -f <(echo "1e $X")`,
  `X=${T}; echo "$X" | sed 's/x/x/;e'`,
  `X=${T}; make -f - <<< "all:; $X"`,
  `X=${T}; make -f <(echo "$X")`,
  `X=${T}; make SHELL=/bin/sh .SHELLFLAGS="-c '$X'" --eval 'all:;x'`,
  `perl -e 'system shift' ${T}`,
  `node -e 'eval(process.argv[1])' ${T}`,
  `X=${T}; split --filter="$X" /etc/hostname`,
  `X=${T}; PATH=$PWD:$PATH; echo "$X" > mycmd; chmod +x mycmd; mycmd`,
  `X=${T}; echo "$X" > q9.py; python3 -m q9`,
]

const AS_DATA = [
  `printf '%s' ${T} | wc -c`,
  `X=${T}; printf '%s' "$X" | wc -c`,
  `bash -c 'printf %s "$1" | wc -c' _ ${T}`,
  `TOKEN=${T} python3 -c 'import os; print(len(os.environ["TOKEN"]))'`,
  `X=${T}; awk -v x="$X" 'BEGIN { print length(x) }'`,
  `X=${T}; if [[ $X == touch* ]]; then echo yes; fi`,
  `X=${T}; cat <<< "$X" | tr a-z A-Z`,
  `X=${T}; f() { printf '%s' "$1" | wc -c; }; f "$X"`,
  `echo ${T} > value.txt; wc -c < value.txt`,
  `X=${T}; for ((i=0; i<\${#X}; i++)); do :; done; echo $i`,
  `X=${T}; python3 - <<'E'\nprint(1)\nE`,
  `X=${T}; eval 'echo one'; bash -c 'echo two'`,
  `sed -n 1p <<< ${T} | wc -l`,
  `X=$(printf %s u:${T} | base64 -w0); echo "Authorization: Basic $X" | wc -l`,
  `X=${T}; a=abc; echo "\${a:0:\${#X}}"`,
  `X=${T}; exec 3<<<"$X"; read -r -u3 Y; echo "\${#Y}"`,
  `X=${T}; echo "\${X:0:3}" | wc -c`,
]

describe('a value that would be run is refused, and nothing runs', () => {
  test.each(SMUGGLED)('%s', async (command) => {
    const outcome = await engine.run({ command, timeoutMs: 20_000 })
    expect({ ran: existsSync(join(base, 'ran')), refused: outcome.refused?.rule }).toEqual({
      ran: false,
      refused: 'secret-context',
    })
    expect(outcome.refused?.reason).toContain(T)
  })
})

describe('more ways', () => {
  const ways = temporaryFolder('ways')
  const ran = join(ways, 'ran')
  let other: Engine
  beforeAll(async () => {
    other = await createEngine({
      cwd: ways,
      stateDir: join(ways, 'state'),
      env: { PATH: process.env['PATH'], HOME: ways },
    })
    for (const [name, value] of Object.entries(VALUES(ran))) other.secrets.set(name, value)
  })
  afterAll(async () => {
    await other.close()
  })

  test('none of them runs a value', { timeout: 120_000 }, async () => {
    for (const command of WAYS) {
      const { refused } = await other.run({ command, timeoutMs: 20_000 })
      expect([command, refused?.rule, existsSync(ran)]).toEqual([command, 'secret-context', false])
    }
  })

  test('nor by two calls of a session', { timeout: 120_000 }, async () => {
    for (const [at, calls] of CALLS.entries()) {
      const session = await other.session(`calls-${at}`)
      let rule: string | undefined
      for (const command of calls) rule ??= (await session.run({ command, timeoutMs: 20_000 })).refused?.rule
      expect([calls, rule, existsSync(ran)]).toEqual([calls, 'secret-context', false])
      await session.close()
    }
  })

  test('and what uses a value as data runs', { timeout: 120_000 }, async () => {
    for (const command of DATA) {
      const { status, refused } = await other.run({ command, timeoutMs: 20_000 })
      expect([command, status, refused]).toEqual([command, 'completed', null])
    }
  })
})

describe('a value that is data runs', () => {
  test.each(AS_DATA)('%s', async (command) => {
    const outcome = await engine.run({ command, timeoutMs: 20_000 })
    expect(outcome).toMatchObject({ status: 'completed', refused: null })
    expect(existsSync(join(base, 'ran'))).toBe(false)
  })
})

test('a function kept from an earlier call of the session counts', async () => {
  const session = await engine.session('flow')
  await session.run({ command: 'runs() { eval "$1"; }; shows() { printf "%s" "$1" | wc -c; }' })
  expect((await session.run({ command: `runs ${T}` })).refused?.rule).toBe('secret-context')
  expect(await session.run({ command: `shows ${T}` })).toMatchObject({ status: 'completed' })
  expect(existsSync(join(base, 'ran'))).toBe(false)
})

describe('a value that an earlier call left in the session', () => {
  test.each([
    [`X=${T}`, 'eval "$X"'],
    [`X=${T}`, 'bash -c "$X"'],
    [`X=${T}`, 'echo "$X" | sh'],
    [`X=${T}`, 'bash <<< "$X"'],
    [`X=${T}`, 'Y=$X; eval "$Y"'],
    [`X=${T}`, '$X'],
    [`export X=${T}`, `bash -c 'eval "$X"'`],
    [`A=(a ${T})`, 'eval "${A[1]}"'],
    [`set -- ${T}`, 'eval "$1"'],
    [`declare -A M=([k]=${T})`, 'eval "${M[k]}"'],
    [`read -r X <<< ${T}`, '. /dev/stdin <<< "$X"'],
    [`X=$(printf %s ${T})`, 'trap "$X" EXIT'],
    [`printf -v X %s ${T}`, "python3 -c \"import os; os.system('''$X''')\""],
    [`f() { printf %s ${T}; }; X=$(f)`, 'eval "$X"'],
    [`echo ${T} > later.sh`, 'bash later.sh'],
    [`echo ${T} > later.sh; chmod +x later.sh`, './later.sh'],
    [`echo ${T} > later.txt`, 'eval "$(cat later.txt)"'],
    [`echo ${T} | tee later.txt`, 'cat later.txt | sh'],
    [`echo ${T} > later.py`, 'python3 later.py'],
  ])('%s, then %s is refused', async (first, last) => {
    const session = await engine.session(`later-${++sessions}`)
    expect(await session.run({ command: first })).toMatchObject({ status: 'completed' })
    // The second time the shell has been asked what it holds.
    for (let i = 0; i < 2; i++) {
      const outcome = await session.run({ command: last, timeoutMs: 20_000 })
      expect([outcome.refused?.rule, existsSync(join(base, 'ran'))]).toEqual(['secret-context', false])
      expect(outcome.refused?.reason).toContain(T)
      await session.run({ command: 'true; cd .' })
    }
    expect(await session.run({ command: 'echo "${#X}"; eval "echo $HOME"' })).toMatchObject({ status: 'completed' })
    await session.close()
  })

  test('is also not run by a job of that session', async () => {
    const session = await engine.session('later-job')
    await session.run({ command: `X=${T}` })
    await expect(engine.start({ command: 'eval "$X"', session: 'later-job' })).rejects.toThrow(/secret/)
    expect(existsSync(join(base, 'ran'))).toBe(false)
    await session.close()
  })
})

test('a misspelt secret runs as text and is said, with the name that was meant', async () => {
  const session = await engine.session('typo')
  for (const run of [engine.run, (request: { command: string }) => session.run(request)]) {
    const outcome = await run({ command: 'echo {{secret:api-kye}}' })
    expect(outcome).toMatchObject({ status: 'completed', stdout: '{{secret:api-kye}}\n' })
    expect(outcome.notes).toEqual([
      { code: 'unknown-secret', text: expect.stringContaining('There is no secret api-kye') as string },
    ])
    expect(outcome.notes[0]?.text).toContain('did you mean api-key?')
  }
})

test('notes, directories of outcomes and the audit log hold no values that stand in names', async () => {
  const entries: object[] = []
  const audit = {
    write: (entry: object) => void entries.push(entry),
    started: (entry: object) => (entries.push(entry), () => {}),
  }
  const engine = await testEngine({ cwd: temporaryFolder('notes'), audit })
  engine.secrets.set('KEY', 'a-value-in-a-note')
  const session = await engine.session()
  const command = `sh -c 'sleep 60; :' {{secret:KEY}} & mkdir d-{{secret:KEY}}; cd d-{{secret:KEY}}`
  const outcomes = [
    await engine.run({ command: `sh -c 'sleep 60; :' {{secret:KEY}} & true` }),
    await session.run({ command }),
    await engine.start({ command: 'sleep 60', session: session.name }).then(async (job) => {
      await job.kill()
      return session.run({ command: 'rmdir "$PWD"' })
    }),
    await session.run({ command: 'true' }),
  ]
  const notes = JSON.stringify([outcomes.map((outcome) => outcome.notes), (await session.info()).leftovers])
  expect(notes.match(/\[secret:KEY\]/g)?.length).toBeGreaterThanOrEqual(4)
  expect(notes).not.toContain('a-value-in-a-note')
  expect(outcomes[1]?.cwd).toMatch(/\/d-\[secret:KEY\]$/)
  expect(JSON.stringify(outcomes)).not.toContain('a-value-in-a-note')
  expect(JSON.stringify(entries)).toContain('d-[secret:KEY]')
  expect(JSON.stringify(entries)).not.toContain('a-value-in-a-note')
})
