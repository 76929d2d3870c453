import { describe, expect, test } from 'vitest'
import { planDelivery } from '../../../src/secrets/deliver/deliver.js'
import { lookupIn, runCommand } from './run-bash.js'

const T = '{{secret:x}}'
/** Every character that means something to bash somewhere; the word it would print if run is not written in it. */
const VALUE = 'a\'b"c$(printf "%s%s" PW N)`printf "%s%s" PW N`\\ *?[x]{a,b}~ end'

describe('a token in an odd place arrives as it is', () => {
  test.each([
    [`cat <<E\n${T}\n\\${T}\nE\n`, `${VALUE}\n\\${VALUE}\n`],
    [`cat <<'E'\n${T}\n\\${T}\nE\n`, `${VALUE}\n\\${VALUE}\n`],
    [`cat <<A <<"B"x\n${T}\nA\n${T}\nBx\n`, `${VALUE}\n`],
    [`case x in x) cat <<E ;; esac\n${T}\nE`, `${VALUE}\n`],
    [`cat <<E; echo $((echo b\n) | cat)\n${T}\nE\n`, `${VALUE}\nb\n`],
    [`cat <<E\n\${y-'${T}'}\nE`, `'${VALUE}'\n`],
    [`case ${T} in ${T}) echo yes;; *) echo no;; esac`, 'yes\n'],
    [`case a in (${T}|b) echo no;; (a) printf %s ${T};; esac`, VALUE],
    [`printf %s "$(printf %s "$(case x in x) printf %s ${T};; esac)")"`, VALUE],
    [`printf %s "$(# it's a comment\nprintf %s ${T})"`, VALUE],
    [`printf %s "$((printf %s ${T}) )"`, VALUE],
    [`((printf %s ${T}) )`, VALUE],
    [`printf %s \\${T}`, VALUE],
    [`printf %s \\\\${T}`, `\\${VALUE}`],
    [`printf %s "\\${T}"`, `\\${VALUE}`],
    [`printf %s '\\${T}'`, `\\${VALUE}`],
    [`printf %s "\${y:-\${z:-${T}}}"`, VALUE],
    [`printf %s {${T},b}`, `${VALUE}b`],
    [`x=(${T} [1]=${T}); printf '<%s>' "\${x[@]}"`, `<${VALUE}><${VALUE}>`],
    [`[[ ${T} == ${T} ]] && printf same`, 'same'],
  ])('REF-07: %j', async (command, expected) => {
    const ran = await runCommand(command, { x: VALUE })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect('stdout' in ran && ran.stdout.toString()).toBe(expected)
  })
})

describe('or is refused before anything runs', () => {
  test.each([
    `cat <<${T}\nhi\n${T}\n`,
    `cat <<E${T}\nhi\nE${T}\n`,
    `declare -A m; m["${T}"]=1`,
    `declare -A m=([${T}]=v)`,
    `echo "\${a[${T}]}"`,
    `printf %s $'\\${T}'`,
    `printf %s "\${y:-a\\${T}}"`,
    `for ((i=${T};;)); do break; done`,
    `. <(echo ${T})`,
  ])('%j', (command) => {
    expect(planDelivery(command, lookupIn({ x: VALUE })).kind).toBe('refused')
  })
})

test('what only looks like arithmetic does not lose the here-documents announced before it', () => {
  const tail = planDelivery(`cat <<'E'; ((echo a); (echo b))\n${T}\nE\n`, lookupIn({ x: VALUE }))
  expect(tail.kind).toBe('bound')
})

test('a token in a command that cannot be read to its end is refused', () => {
  for (const command of [`<<E((&&$(\n)) ${T}`, `cat <<'E' ((a $(\n${T}\nE\n) )`, `for x in ${T}; do`, `echo "${T}`])
    expect(planDelivery(command, lookupIn({ x: VALUE }))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('cannot be read'),
    })
})

test.each([
  [`bash 2>&1 <<E\n${T}\nE`, 'standard input'],
  [`ssh host 2>/dev/null <<< ${T}`, 'standard input'],
  [`X=${T}; a=abc; echo \${a:X}`, 'arithmetic'],
])('the number of a descriptor is no word, and a slice is arithmetic: %j', (command, reason) => {
  const delivery = planDelivery(command, lookupIn({ x: VALUE }))
  expect(delivery).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) })
})
