import { describe, expect, test } from 'vitest'
import { planDelivery } from '../../../src/secrets/deliver/deliver.js'
import { lookupIn, runCommand } from './run-bash.js'

const T = '{{secret:x}}'
const plan = (command: string, value = 'a[$(id)]') => planDelivery(command, lookupIn({ x: value }))

describe('a command without a known token is not touched', () => {
  test.each([
    '',
    'echo hi',
    'printf "%s" {{secret:unknown}} {{decrypt:unknown}}',
    "echo '{{secret:}}' {{ secret:x }} {{secret:x} {secret:x}} {{SECRET:x}} {{secret:x y}} {{secret:-x}}",
    '\0\x01 weird ${{secret:unknown}} `',
    '# only a comment {{secret:x}}',
    "cat <<'E'\n{{secret:unknown}}\nE\n",
  ])('REF-04: %j', (command) => {
    expect(plan(command)).toEqual({ kind: 'plain', script: command })
  })
})

describe('what is bound', () => {
  test('REF-06: the script holds names only, one binding per secret, unguessable from one call to the next', () => {
    const delivery = planDelivery(
      `echo ${T} '${T}' {{decrypt:x}}`,
      lookupIn({ x: 'value-one', 'decrypt:x': 'value-two' }),
    )
    if (delivery.kind !== 'bound') throw new Error('not bound')
    expect(delivery.bindings.map(({ value }) => Buffer.from(value).toString())).toEqual(['value-one', 'value-two'])
    expect(delivery.script).not.toMatch(/value-/)
    const again = planDelivery(`echo ${T}`, lookupIn({ x: 'value-one' }))
    expect(again.kind === 'bound' && again.bindings[0]?.variable).not.toBe(delivery.bindings[0]?.variable)
  })

  test('a token in a comment needs no value', () => {
    const delivery = plan(`echo hi # ${T}`)
    expect(delivery).toEqual({ kind: 'plain', script: `echo hi # ${T}` })
  })
})

describe('data is never put where it would be code', () => {
  test.each([
    // another interpreter
    `bash -c 'echo ${T}'`,
    `bash -lc "echo ${T}"`,
    `sh -euo pipefail -c 'echo ${T}'`,
    `/bin/bash -c -- "${T}"`,
    `"bash" -c ${T}`,
    `\\bash -c ${T}`,
    `$SHELL -c "${T}"`,
    `b=bash; "$b" -c "${T}"`,
    `sudo -u root bash -c "${T}"`,
    `env A=1 sh -c '${T}'`,
    `timeout 5 nice -n 3 bash -c '${T}'`,
    `find . -exec sh -c 'echo ${T}' \\;`,
    `xargs -I{} sh -c 'echo {}' <<< ${T}`,
    `docker exec -it c sh -c 'echo ${T}'`,
    `python3 -c 'print("${T}")'`,
    `python -Ic"print('${T}')"`,
    `perl -ne 'print "${T}"'`,
    `ruby -e 'puts "${T}"'`,
    `node -e 'console.log("${T}")'`,
    `node --eval="${T}"`,
    `php -r 'echo "${T}";'`,
    `awk '{print "${T}"}' f`,
    `awk -F: "/${T}/" f`,
    `sed 's/a/${T}/' f`,
    `sed -i -e "s/a/${T}/" f`,
    `jq '.a = "${T}"' f`,
    `psql -c "select '${T}'"`,
    `mysql -e "select '${T}'"`,
    `sqlite3 db "select '${T}'"`,
    `ssh host "echo ${T}"`,
    `ssh -p 22 -i key host echo ${T}`,
    `ssh -o ProxyCommand="${T}" host`,
    `watch -n1 "echo ${T}"`,
    `su - u -c "${T}"`,
    `env -S "echo ${T}"`,
    `parallel "echo ${T}" ::: a`,
    `tmux send-keys "${T}" Enter`,
    `git rebase --exec "${T}" main`,
    // bash itself
    `eval echo ${T}`,
    `eval "echo '${T}'"`,
    `builtin eval ${T}`,
    `trap "${T}" EXIT`,
    `alias a='${T}'`,
    `source <(echo ${T})`,
    `. <(echo '${T}')`,
    `bash <(echo ${T})`,
    `python3 <(echo "${T}")`,
    `eval "$(echo ${T})"`,
    `compgen -W "${T}"`,
    `PS4=${T}; set -x; :`,
    `PROMPT_COMMAND='${T}'`,
    `export PS1="${T}"`,
    `GIT_SSH_COMMAND=${T} git fetch`,
    `cmd=(bash -c "${T}"); "\${cmd[@]}"`,
    // standard input
    `echo ${T} | bash`,
    `echo '${T}' | sudo sh -s`,
    `printf %s ${T} | python3`,
    `bash <<< "${T}"`,
    `bash <<EOF\necho ${T}\nEOF`,
    `python3 - <<'EOF'\nprint("${T}")\nEOF`,
    `cat <<EOF | sh\n${T}\nEOF`,
    `{ echo ${T}; } | bash`,
    `(echo ${T}; echo b) | cat | bash -x`,
    `{ cat | bash; } <<< ${T}`,
    `if true; then echo ${T}; fi | sh`,
    `psql db <<E\nselect '${T}'\nE`,
    `ssh host <<< ${T}`,
    `source /dev/stdin <<< ${T}`,
    // names and arithmetic
    `echo $((${T} + 1))`,
    `(( ${T} ))`,
    `for ((i=${T}; i<1; i++)); do :; done`,
    `let x=${T}`,
    `let "x=${T}"`,
    `a[${T}]=1`,
    `a[ ${T} ]=1`,
    `a=([${T}]=1)`,
    `echo \${a[${T}]}`,
    `echo "\${a:${T}}"`,
    `[[ ${T} -eq 1 ]]`,
    `[[ 1 -lt "${T}" ]]`,
    `[[ -v ${T} ]]`,
    `[ -v ${T} ]`,
    `test -v "${T}"`,
    `declare -i n=${T}`,
    `declare ${T}=1`,
    `export "${T}"`,
    `read ${T}`,
    `unset ${T}`,
    `printf -v ${T} x`,
    `mapfile ${T}`,
    `declare -n r=${T}`,
    `declare "a[${T}]=1"`,
    `echo $[ ${T} ]`,
    `echo $(( $(echo ${T}) ))`,
    `declare -i n; n=${T}`,
    `for ${T} in a; do :; done`,
    `${T}() { :; }`,
    `function ${T} { :; }`,
    `cat <<${T}\nx\n`,
    `echo \${${T}}`,
    `echo "\${${T}}"`,
    `echo $${T}`.replace('$$', '$'),
    `echo "\${!${T}}"`,
    // through a variable
    `X=${T}; eval "echo $X"`,
    `X=${T}; bash -c "echo $X"`,
    `X=${T}; echo $((X + 1))`,
    `export X=${T}; (( X > 1 ))`,
    `X=${T}; echo "$X" | bash`,
    `for X in ${T}; do eval $X; done`,
    `X=${T}; [[ $X -gt 1 ]]`,
    `make A=${T}`,
  ])('refused: %s', (command) => {
    const delivery = plan(command, 'a[$(id)]$x')
    expect(delivery).toMatchObject({ kind: 'refused', token: T })
    expect(JSON.stringify(delivery)).not.toContain('$(id)')
  })

  test('a value with a NUL is refused: nothing in a shell can hold it', () => {
    expect(plan(`echo ${T}`, 'a\0b')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('NUL') })
  })

  test('nesting without end is refused, not a crash', () => {
    expect(plan(`${'$('.repeat(200_000)}${T}`)).toMatchObject({ kind: 'refused' })
  })
})

describe('hostile text costs little time', () => {
  test.each([
    ['unclosed arithmetic', '$(('.repeat(2000)],
    ['unclosed groups', '{ ( '.repeat(2000)],
    ['quotes', `'"\``.repeat(20_000)],
    ['here-documents', '<<A '.repeat(3000) + '\n'.repeat(3000)],
    ['pipes into shells', 'echo a | bash; '.repeat(2000)],
    ['backticks', '`\\`'.repeat(5000)],
    ['expansions', '${a:-'.repeat(2000)],
    ['words', 'sudo bash -c '.repeat(5000)],
    ['array subscripts', 'a[b['.repeat(3000)],
    ['case', 'case a in '.repeat(2000)],
  ])('%s', (_name, text) => {
    const start = performance.now()
    plan(`${text} ${T}`)
    plan(`${T} ${text}`)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

describe('what only looks like code is delivered', () => {
  test.each([
    `curl -H "Authorization: Bearer ${T}" https://example.com`,
    `curl -u user:${T} -d '{"k":"${T}"}' -e ref url`,
    `git -c http.extraHeader="Authorization: ${T}" fetch`,
    `git commit -m ${T}`,
    `grep -e ${T} -c file`,
    `ping -c ${T} host`,
    `bash script.sh ${T}`,
    `bash -x script.sh "${T}"`,
    `bash -c 'use "$1"' _ ${T}`,
    `sh -euo pipefail -c 'use "$1"' _ ${T}`,
    `python3 script.py ${T}`,
    `python3 -c 'import sys' ${T}`,
    `python3 -m tool ${T}`,
    `TOKEN=${T} node app.js`,
    `TOKEN=${T} bash -c 'echo "$TOKEN"'`,
    `node script.mjs --key ${T}`,
    `echo ${T} | docker login --password-stdin`,
    `echo ${T} | sudo -S true`,
    `echo '${T}' | python3 -c 'import sys; sys.stdin.read()'`,
    `printf %s ${T} | bash script.sh`,
    `curl -H "X: ${T}" https://example.com/install | bash`,
    `cat > f.sh <<EOF\n${T}\nEOF`,
    `mysql -p${T} -e 'select 1'`,
    `PGPASSWORD=${T} psql -c 'select 1'`,
    `psql "postgres://u:${T}@h/d" -c 'select 1'`,
    `jq --arg t ${T} '.a = $t' f`,
    `awk -v t=${T} '{print t}' f`,
    `sshpass -p ${T} ssh host uptime`,
    `ssh -i ${T} host uptime`,
    `docker run -e TOKEN=${T} image bash -c 'echo $TOKEN'`,
    `kubectl create secret generic s --from-literal=k=${T}`,
    `echo $( (echo ${T}) )`,
    `echo $((echo ${T}) )`,
    `((echo a); echo ${T})`,
    `declare -r X=${T}`,
    `readonly X='${T}'`,
    `local X=${T}`,
    `printf '%s %d' -p ${T}`,
    `[ -n ${T} ]`,
    `[ ${T} -eq 1 ]`,
    `[[ ${T} == a* ]]`,
    `echo a[${T}]`,
    `read -rp "${T}" v <<< x`,
    `X=${T}; echo "$X" | cat`,
    `X=${T}; bash -c 'echo "$1"' _ "$X"`,
    `make TARGET=1 && echo ${T}`,
    `cmd=(curl -H "${T}"); "\${cmd[@]}"`,
  ])('delivered: %s', (command) => {
    expect(plan(command)).toMatchObject({ kind: 'bound' })
  })

  test('plain numbers may go into arithmetic', async () => {
    const ran = await runCommand(
      `echo $((${T} + 1)); a[${T}]=x; echo "\${a[${T}]} \${#a[@]}"; [[ ${T} -eq 41 ]] && echo same; N=${T}; echo $((N * 2))`,
      { x: '41' },
    )
    expect('stdout' in ran && ran.stdout.toString()).toBe('42\nx 1\nsame\n82\n')
  })

  test('make gets a value without a dollar', () => {
    expect(plan(`make A=${T}`, 'plain')).toMatchObject({ kind: 'bound' })
  })
})

describe('an integer variable of an earlier command', () => {
  test.each(['declare -i n', 'set -u; declare -i n=1', 'declare -n n=other; declare -i other', 'declare -n n'])(
    '%s: the assignment fails by name and evaluates nothing',
    async (before) => {
      const ran = await runCommand(`n=${T}; echo "done $n"`, { x: 'a[$(echo EXECUTED >&2)]' }, { before })
      if ('kind' in ran) throw new Error('refused')
      expect(ran.stderr).not.toContain('EXECUTED')
      expect(ran.stderr).toMatch(/__cerith_x_\w+: parameter/)
      expect(ran.stdout.toString()).toBe('')
    },
  )
})
