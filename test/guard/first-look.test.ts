/** What passes at a first look gets the verdict that following every word would give it. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../src/contract/verdict.js'
import { firstLook } from '../../src/guard/first-look.js'
import { inspect, inspectFully } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'
import { parseScript } from '../../src/guard/words/syntax.js'

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const lines = (path: string): string[] =>
  file(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('␤', '\n').replaceAll('␍', '\r'))
const rows = <T>(path: string): T[] => lines(path).map((line) => JSON.parse(line) as T)

const everyday = lines('./variants/allow.txt')
const corpus = [
  ...rows<{ cmd: string }>('../corpus/dangerous.jsonl').map(({ cmd }) => cmd),
  ...rows<{ calls: string[] }>('../corpus/sequences.jsonl').flatMap(({ calls }) => calls),
  ...everyday,
  ...lines('./variants/deny.txt'),
  ...lines('./variants/own-allow.txt'),
  ...lines('./variants/own-deny.txt'),
  // Every command of the tests about facts, one a line: also what is no command at all.
  ...lines('./walk/shell-facts.test.ts'),
  ...lines('../../bench/lib/everyday.ts'),
]

const plain: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }
const STATE = '/home/u/.local/state/cerith'
const engine: GuardContext = {
  ...plain,
  variables: { HOME: '/home/u', PATH: '/usr/bin:/bin', OLDPWD: '/home/u', NAME: 'a b', F: `${STATE}/vault` },
  functions: {},
  aliases: {},
  // OPTIND is an integer in every bash.
  held: { positional: [], arrays: {}, references: {}, integers: ['OPTIND'], directories: [], hashed: {} },
  own: { pids: [4242], names: ['cerith'] },
  protectedPaths: [STATE, '/home/u/.config/cerith'],
  unreadablePaths: ['vault', 'vault.key', 'http-tokens'].map((name) => `${STATE}/${name}`),
  automation: [{ program: 'Git', subcommands: ['log'], tools: 'history', feature: 'git', enabled: true }],
}
const CONTEXTS: Readonly<Record<string, GuardContext>> = {
  'a fresh shell': plain,
  'an engine': engine,
  'a shell beside the files that must not be read': { ...engine, cwd: STATE },
  'a home that holds them': { ...engine, cwd: '/home/u' },
  'links that lead to them': {
    ...engine,
    unreadablePaths: [STATE, '/home/u/proj/state'].flatMap((folder) =>
      ['vault', 'vault.key', 'http-tokens'].map((name) => `${folder}/${name}`),
    ),
    resolveSymlink: (path) => (path.startsWith(STATE) ? `/home/u/proj/state${path.slice(STATE.length)}` : path),
  },
  'a directory that is a link to them': {
    ...engine,
    resolveSymlink: (path) => (path.startsWith(plain.cwd) ? STATE + path.slice(plain.cwd.length) : path),
  },
  'a name that is another program': {
    ...engine,
    resolveSymlink: (path) => (path.endsWith('bin/tidy') ? '/bin/rm' : path.endsWith('bin/jq') ? '/opt/jq' : undefined),
  },
  'a fresh shell in which a name is another program': {
    ...plain,
    resolveSymlink: (path) => (path.endsWith('bin/tidy') ? '/bin/rm' : undefined),
  },
  'a link to the home': {
    ...engine,
    resolveSymlink: (path) => path.replace('/home/u/proj/src', '/home/u'),
  },
  'the root': { ...engine, cwd: '/', resolveSymlink: (path) => path },
  'a directory of hooks': { ...engine, cwd: '/home/u/proj/.git/hooks' },
  'a shell that has written files': {
    ...engine,
    held: { ...engine.held, files: { '/home/u/proj/notes.txt': 'rm -rf /', '/home/u/proj/a': 'rm x' } },
  },
  'a shell with functions and aliases': {
    ...engine,
    functions: { cat: 'cat () { rm -rf "$HOME"; }', helper: 'helper () { true; }' },
    aliases: { ls: 'rm -rf', head: 'head -n1' },
    held: { arrays: { LIST: ['a', 'b'] }, positional: ['x'] },
  },
  'links to a directory of secrets': {
    ...engine,
    automation: [],
    resolveSymlink: (path) => path.replace(/^\/home\/u\/proj\/s(?=\/|$)/, STATE),
  },
  'a home with programs': { ...plain, cwd: '/home/u', variables: { PATH: 'bin:/usr/bin' } },
  'a shell with settings of git in arrays': {
    ...engine,
    held: {
      ...engine.held,
      arrays: { GIT_DIR: ['/x'], GIT_WORK_TREE: ['/'], GIT_CONFIG_PARAMETERS: ["'core.pager'='reboot'"] },
    },
  },
  'a directory of PATH': { ...plain, cwd: '/home/u/bin', variables: { PATH: '/home/u/bin:.:/usr/bin' } },
  'the processes': { ...engine, automation: [], cwd: '/proc' },
  'a shell with fields of its own': { ...engine, variables: { ...engine.variables, IFS: '-' } },
  'a shell that holds code': {
    ...engine,
    automation: [{ program: 'cat', subcommands: [], tools: 'reading', feature: 'files', enabled: true }],
    variables: { ...engine.variables, x: 'a -o -v b[$(reboot)]', NAME: 'a[$(reboot)]' },
    functions: { grep: 'grep () { reboot; }' },
    held: { ...engine.held, integers: ['OPTIND', 'A'], arrays: { LIST: ['a[$(reboot)]', 'b'] } },
  },
  'a shell with integers': {
    ...engine,
    held: { ...engine.held, integers: ['OPTIND', 'A', 'COUNT', 'NAME', 'STAGE', 'x'] },
  },
  'a project with a protected directory': { ...engine, protectedPaths: ['/home/u/proj/x/'], unreadablePaths: [] },
  'a shell that holds numbers': { ...engine, variables: { ...engine.variables, x: '5', _: '5' } },
  'a shell with fields and directories in arrays': {
    ...engine,
    held: { ...engine.held, arrays: { IFS: ['-'], CDPATH: ['/'], OLDPWD: ['/'], HOME: ['/'] } },
  },
  'a shell that holds more': {
    ...engine,
    variables: {
      ...engine.variables,
      CDPATH: '/etc',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.pager',
      GIT_CONFIG_VALUE_0: 'rm -rf /',
    },
    held: { references: { NAME: 'PATH' }, directories: ['/etc'], hashed: { ls: '/bin/rm' } },
  },
}

const NONE_PASSES = new Set([
  'a shell that holds more',
  'a shell with fields of its own',
  'a shell with settings of git in arrays',
  'a shell with fields and directories in arrays',
])

/** All that a session, a person or the next verdict would notice; without what only an explanation shows. */
function told(verdict: Verdict): unknown {
  const { decision, rule, reason, dangerous, shell, facts, secretsAsCode } = verdict
  const variables = Object.fromEntries(Object.entries(verdict.mutations.variables).sort())
  const mutations = { ...verdict.mutations, variables }
  return { decision, rule, reason, dangerous, mutations, shell, facts, secretsAsCode }
}

function passesAtOnce(verdict: Verdict): boolean {
  return Object.getOwnPropertyDescriptor(verdict, 'commands')?.get !== undefined
}

function mayPass(command: string, context: GuardContext): boolean {
  try {
    return firstLook(parseScript(command).commands, command, context) !== null
  } catch {
    return false
  }
}

function disagreements(commands: readonly string[], context: GuardContext): { wrong: unknown[]; passed: number } {
  const wrong: unknown[] = []
  let passed = 0
  for (const command of commands) {
    // (What does not pass is walked, which takes a hundred times as long.)
    if (!mayPass(command, context)) continue
    const looked = inspect(command, context)
    if (!passesAtOnce(looked)) continue
    passed += 1
    const full = inspectFully(command, context)
    if (JSON.stringify(told(looked)) !== JSON.stringify(told(full))) wrong.push([command, told(looked), told(full)])
  }
  return { wrong, passed }
}

describe('a first look agrees with the walk', () => {
  for (const [name, context] of Object.entries(CONTEXTS))
    test(`on every command of the corpus and the lists, in ${name}`, () => {
      const { wrong, passed } = disagreements(corpus, context)
      expect(wrong).toEqual([])
      expect(passed).toBeGreaterThan(NONE_PASSES.has(name) ? -1 : 50)
    })

  // COUNT=600000 SEED=2 tries more of them, and others.
  const commands = [...combined(Number(process.env['COUNT'] ?? 60_000))]
  test.each(Object.keys(CONTEXTS))('on words that would be dangerous elsewhere, in %s', (name) => {
    // All of them in the shell of an engine; elsewhere a part.
    const some = name === 'an engine' ? commands : commands.slice(0, commands.length / 5)
    const { wrong, passed } = disagreements(some, CONTEXTS[name] as GuardContext)
    expect(wrong).toEqual([])
    expect(passed).toBeGreaterThan(name === 'an engine' ? 1_000 : NONE_PASSES.has(name) ? -1 : 100)
  })

  test('on variables whose value something runs', () => {
    const names =
      'PROMPT_COMMAND GIT_PAGER EDITOR PAGER BROWSER LESSOPEN KUBE_EDITOR FCEDIT MAKEFLAGS PERL5OPT RUBYOPT PERL5DB PYTHONSTARTUP NODE_OPTIONS TAR_OPTIONS LESS PS1 BASH_ENV ENV npm_config_script_shell'
    const values = [
      'rm -rf ~',
      '-esystem("rm -rf ~")',
      '--to-command="rm -rf ~"',
      '$(rm -rf ~)',
      '/bin/rm',
      '+!rm -rf ~',
    ]
    const lines = names
      .split(' ')
      .flatMap((name) => values.flatMap((value) => [`${name}='${value}'`, `export ${name}='${value}'; ls`]))
    const { wrong } = disagreements([...lines, ...lines.map((line) => `${line} ls`)], plain)
    expect(wrong).toEqual([])
  })

  test('nothing passes that is denied', () => {
    const denied = rows<{ cmd: string; expect: string }>('../corpus/dangerous.jsonl').filter(
      (row) => row.expect === 'deny',
    )
    expect(denied.filter(({ cmd }) => passesAtOnce(inspect(cmd, plain)))).toEqual([])
  })

  const attacks: readonly (readonly [name: string, ...commands: string[]])[] = [
    [
      'an engine',
      `find . -exec true \\; -exec sh -c 'rm -rf ~' \\;`,
      'find . -rm',
      `printf '${STATE}/vault\\0' > x && find -files0-from x -exec cat {} +`,
      ...['{ xargs cat; }', '(xargs cat)', 'if xargs cat; then :; fi', 'grep . | xargs cat', 'echo "$(xargs cat)"'].map(
        (reader) => `echo ${STATE}/vault | ${reader}`,
      ),
      `echo ${STATE}/vault > x; xargs cat < x`,
      `echo 'rm -rf /' | grep rm > x`,
      `echo 'rm -rf /' | sort -o x`,
      `echo 'rm -rf /' | { sort -o x; }`,
      'cat \\/home/u/.local/state/cerith/\\v*',
      `ls -d ${STATE}/vault | xargs cat`,
      `find . -maxdepth 0 -printf '\\057home\\057u\\057.local\\057state\\057cerith\\057vault' | xargs cat`,
      'V=$(stat -c %m .)',
      'V=$(df --output=target .)',
      "V=$(date '+rm -rf /')",
      `stat -c %n 'rm -rf /' > x`,
      'git config user.name bob; V=$(git config user.name)',
      'grep x a | cut -d: -f6 > homes',
      `echo 'a[$(iptables -F)]' > a; x=$(git show :a); echo $((x))`,
      `for x in 5 'a[$(reboot)]'; do echo $((x)); done`,
      `echo 'a[$(reboot)]' | while read -r x; do echo $((x)); done`,
      `x='a -o -v b[$(reboot)]'; [ -f $x ]`,
      `[ -f $(echo a -o -v 'b[$(reboot)]') ]`,
      'while true; do (ls &); done',
      'until false; do { ls & }; done',
      'echo iptables -F > fish/config.fish',
      'echo iptables -F > a; mv a fish/config.fish',
      "printf '[Socket]\\nExecStartPre=iptables -F\\n' > a.socket",
      `cat s/vault/`,
      `${'( '.repeat(90)}ls${' )'.repeat(90)}`,
      'V=~/"Documents"',
      "for x in ~/'a'; do ls; done",
      'for x in {01..03}; do :; done',
      'for x in a b; do :; done; if [ "$x" != a ]; then :; fi',
      'x=0; while [ $x -lt 3 ]; do x=$((x+1)); done; if [ "$x" != 0 ]; then echo ok; fi',
      `file -f ${STATE}/vault`,
      `diff -r ${STATE} a`,
      'while cd ..; do rm -rf u; done',
      `git log 'ext::sh -c "rm -rf /"'`,
      'find . -exec git log ext::reboot \\;',
      `x="-f ${STATE}/vault"; file $x`,
      `x=--files0-from=${STATE}/vault; du $x`,
      `c=-v; d='a[$(reboot)]'; [ -n "$c" "$d" ]`,
      "git config push.program 'iptables -F'",
      `awk 'BEGIN{popen("reboot")}'`,
      'V=$(df target)',
      `find . | grep -rl 'a[$(reboot)]' -e > o`,
      'cat <<EOF > x\n$(y=$(wc -l < a))/\nEOF',
      "V=$'\\uFDD1'",
      `echo 'rm -rf ~' | sort 1< a > x`,
      'sleep rm -rf /',
      `awk 'while true; fork'`,
    ],
    [
      'a project with a protected directory',
      'cp -t./x a',
      'cp --target-directory=./x a',
      `echo 'rm -rf ~' | uniq - x/a`,
    ],
    [
      'a shell that holds numbers',
      `echo 'a[$(reboot)]' | while true; do echo $((x)); read x; done`,
      `echo 'a -o -v b[$(reboot)]' | while true; do [ $x -lt 3 ]; read x; done`,
      `echo 'a[$(reboot)]' | for y in 1 2 3 4 5 6 7 8 9; do echo $((x)); read -r x; done`,
      `: 'a -o -v b[$(reboot)]'; [ $_ -gt 3 ]`,
    ],
    ['a shell with fields and directories in arrays', 'cd etc && rm passwd', 'cd - && rm -r etc'],
    [
      'links to a directory of secrets',
      ...['touch x/y', 'rm -rf x/audit', 'cp a x', 'tar cf x/y a', 'cd x && touch y'].map((next) => `mv s x; ${next}`),
      `cat 's/vault/;a=b'`,
      ...['--exclude-dir=s a', '--file=s', '@s a', '-Cs .'].map((words) => `grep -r x ${words}`),
      'rgrep x s',
      'cd s && date -fvault',
      'cd s && date -fv*',
      'grep -nd recurse x s',
      'grep --di=recurse x s',
      'cp -t./s a',
    ],
    [
      'a home with programs',
      'echo iptables -F > proj/bin/ls && cd proj && ls',
      'mv rm proj/bin/tidy && cd proj && tidy -rf /',
    ],
    ['a shell with settings of git in arrays', 'git checkout a', 'git status'],
    ['a fresh shell in which a name is another program', 'tidy -rf ~', 'ls; tidy -rf /'],
    [
      'a fresh shell',
      `--eval:'discard execShellCmd("rm -rf ~")' a`,
      `OPTIND='a[$(reboot)]'`,
      `for RANDOM in 'a[$(reboot)]'; do :; done`,
      ...['cp bin/rm x', "echo 'rm -rf /' | cp dev/stdin x"].map((next) => `cd / && ${next}`),
      'uniq a -- -x',
    ],
    ['a shell with functions and aliases', 'ls | xargs cat', 'find . -exec cat {} \\;'],
    ['a shell with integers', "A='a[$(reboot)]' ls"],
    ['a shell that holds code', 'echo $((LIST))', 'ls | xargs cat', '[ -f $x ]', "A='a[$(reboot)]' true"],
    ['a directory of PATH', 'echo iptables -F > ls; ls'],
    ['a shell that has written files', 'xargs cat < not\\es.txt', 'V=$(wc -l "n"otes.txt)'],
    ['the processes', `cat self/root${STATE}/v\\ault`, `grep -r x self/root${STATE}`],
    ['a shell with fields of its own', 'for x in Documents-x; do rm -rf $x; done'],
  ]
  test.each(attacks)('on what once passed, in %s', (name, ...commands) => {
    const context = CONTEXTS[name] as GuardContext
    for (const one of [context, { ...context, automation: [] }])
      for (const command of commands)
        expect([command, told(inspect(command, one))]).toEqual([command, told(inspectFully(command, one))])
  })

  test('loops in loops are not looked at without end', () => {
    const nested = (depth: number): string =>
      depth === 0 ? 'ls' : `for a in 1 2 3 4 5 6 7 8; do echo $(${nested(depth - 1)}); done`
    const began = performance.now()
    inspect(nested(12), plain)
    inspect(`${'cd a && '.repeat(60)}rm ${'{1..99} '.repeat(60)}`, plain)
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  test.each([
    '(cd src && grep -l value *.ts)',
    'cd src && ls | wc -l && cd - > /dev/null',
    'i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done; echo "$i"',
    'while IFS= read -r line; do echo "> $line"; done < notes.txt | head -3',
    'for f in src/*.ts; do case "$f" in *1.ts) echo "hit ${f%.ts}";; esac; done',
    '[[ -f a.txt && 3 -lt 9 ]] && echo both',
    'V=$(wc -l < a.txt); [ "$V" -gt 5 ] && echo "long: $V"',
    'grep -rE "a|b" src --include=*.ts -l | xargs wc -l | tail -1',
    'find src -type f -exec basename {} \\; | sort',
    'mkdir -p build/{a,b} && chmod 644 a.txt && tar cf x.tar src && rm x.tar',
    "sed -i.bak 's/a/b/' a.txt && rm a.txt.bak",
    'git checkout -q -b work && git checkout -q - && git config user.name me && git stash',
    'sort -u a.txt -o b.txt; grep x a.txt | sort | tee c.txt',
    'tsc --noEmit -p . && mytool src',
    'unset V; echo "${V:-none} $((2 * 3))"',
  ])('%s passes at once', (command) => {
    const context = { ...engine, automation: [] }
    expect(passesAtOnce(inspect(command, context))).toBe(true)
    expect(told(inspect(command, context))).toEqual(told(inspectFully(command, context)))
  })

  test.each(['echo a >> notes.txt', 'mkdir -p out/a && touch out/a/b', 'mv a.txt b.txt', 'mytool src'])(
    '%s passes at once where PATH is not known yet',
    (command) => expect(passesAtOnce(inspect(command, plain))).toBe(true),
  )

  test('what is asked of its explanation is what the walk says', () => {
    const command = 'ls -la src | head -5'
    const looked = inspect(command, plain)
    expect(passesAtOnce(looked)).toBe(true)
    expect(looked.commands).toEqual(inspectFully(command, plain).commands)
    expect(looked.tree).toEqual(inspectFully(command, plain).tree)
    expect(structuredClone(looked).commands).toEqual(looked.commands)
  })
})

/** Commands put together by chance, always the same ones. */
function* combined(count: number): Iterable<string> {
  let state = Number(process.env['SEED'] ?? 20_261_116)
  // mulberry32
  const pick = <T>(from: readonly T[]): T => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return from[Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * from.length)] as T
  }
  const programs =
    'cat grep ls head sort uniq find sed awk git echo printf test [ wc cut tr diff cd export stat du rm cp mv mkdir touch date type hash env echo printf cat wc rm cp mv mkdir touch tee xargs command chmod tar read unset'.split(
      ' ',
    )
  // What such a program gets is seldom met by chance.
  const heads = [
    ...programs,
    ...programs,
    ...(
      'git checkout,git config,git config user.name,git stash,git reset,git switch -c,sed -i,sed -i.bak s/a/b/,sort -o,sort -o x,tar cf x,tar cf,tar tf,tar -czf,' +
      'chmod 644,chmod +x,find . -exec,find src -type f -exec grep,ls | xargs,grep -l a src | xargs wc,cat a | xargs,echo /etc/passwd | xargs cat,find . | xargs -n 1 head,' +
      'grep x a | tee,grep x a | sort | tee,grep x a | sed s/.*/rm/ | tee,grep x a | head -1 >,ls | sort >,read -r x,read -r x y <,IFS= read -r x,unset x,unset NAME,' +
      '[ $x -gt,[ "$x" -lt 3 ] &&,[ $# -eq 0 ] ||,[[ -f a && b != c ]] &&,[[ $x -gt 3 ]] &&,[[ $NAME == a* ]] ||,[[ -v x ]],[[ a =~ b ]] &&,export x=1; echo,x=1; echo,rg,jq,tidy,mytool --cmd,pnpm,rg -n a,tool --exec sudo rm,whatis'
    ).split(','),
  ]
  const begins =
    `|||||||! |A=1 |time |GIT_DIR=x |if ls; then |case a in a) |cd src && |cd - && |cd src && ls && cd - > /dev/null && |
for x in a src notes.txt; do |ls && cd src && |V=$(grep -c x a); |V=$(wc -l < a) |(|(cd src && |{ |for x in src/*.ts; do |
for x in {1..3} b; do |for x in src/{a,b}; do |while read -r x; do |until test -f a; do |while IFS= read -r x; do |
x=0; while [ $x -lt 3 ]; do x=$((x + 1)); |while true; do |ls % while read -r x; do |x=5; (x=7; `
      .replaceAll('\n', '')
      .split('|')
      .map((begin) => begin.replace('%', '|'))
  const words =
    `-r -rf -o -n -i -e -exec -delete -fprint -v -f -c -C -O --output --output=x --ext-diff --all status log show branch clean rm config ` +
    `-rfX / . .. ~ ~/x $HOME "$NAME" "$F" $F \${NAME} \${NAME:-x} \${#NAME} $? $_ $$ $(ls) $(rm\\ -rf\\ /) \`ls\` "$(cat x)" * *.ts src/* {a,b} [ab]* 'a b' "a b" a\\ b ; ` +
    `'a[\$(rm\\ -rf\\ /)]' -a = -eq x=1 GIT_PAGER=rm A=b /dev/sda /etc/passwd ${STATE}/vault .local/state/cerith/vault ../.local/state/cerith/vault --file=${STATE}/vault -f/etc/passwd @${STATE}/vault ` +
    `vault src/vault src/a out/x notes.txt a b c.txt ./a .bashrc .git/config .git/hooks/pre-commit pre-commit .ssh Documents etc passwd home u state bin/sh x.desktop a.service usercustomize.py crontab -p -R -a $x "$x" \${x} V=$(date) %s%s r m cm0gLXJmIC8= abcdefghij ` +
    `'s/.*:/x/' 's/a/b/' 's/a/b/e' 's/a/b/w x' '1,5p' 'w /etc/passwd' '{print $1}' '{system("rm -rf /")}' '{print > "/etc/passwd"}' ] ! ( ) src $((1+2)) $((x+1)) $((NAME+1)) \${x%.ts} \${NAME:+y} {1..3} src/{a,b} -i.bak HEAD~1 user.name core.pager core.worktree 644 777 u+s cf x.tar {} \\; -n -0 -I 'a[$(reboot)]' 'a -o -v b[$(reboot)]' ~/"x" \\v* {01..03} -c%n --format=%n + -exec -m -q . --hard --include=*.ts --include=v* --exclude=*.md`
  const joints = [' | ', ' && ', ' || ', '; ', ' & ', '\n', ' |& ']
  const tails = [
    '',
    '',
    '',
    ' 2>&1',
    ' >/dev/null',
    ' 2>/dev/null',
    ' > x',
    ' > a',
    ' >> notes.txt',
    ' > src/a',
    ' > .bashrc',
    ' > pre-commit',
    ' > vault',
    ' < vault',
    ' > a > b',
    ' 2> err',
    ' >| x',
    ' <<EOF > x\nhello there\nEOF\n',
    " > x <<'EOF'\nrm -rf /\nEOF\n",
    ' <<EOF >> a\n$(date) /\nEOF\n',
    ' >> ~/.bashrc',
    ' < x',
    ' &>/dev/null',
    ' >&2',
    ' <&0',
    ' 3>&1',
    ' {fd}>&1',
    ' <<< x',
  ]
  const all = words.split(' ')
  for (let at = 0; at < count; at++) {
    let text = ''
    for (let parts = pick([1, 1, 1, 2, 2, 3]); parts > 0; parts--) {
      const given = Array.from({ length: pick([0, 1, 1, 2, 2, 3]) }, () => pick(all))
      text += `${pick(begins)}${[pick(heads), ...given].join(' ')}${pick(tails)}`
      if (text.includes('; then ') && !text.includes('; fi')) text += '; fi'
      if (text.includes('case a') && !text.includes('esac')) text += ';; esac'
      if (/; do /.test(text) && !text.includes('done'))
        text += pick([
          '; cat $x; done',
          '; rm "$x"; done',
          '; echo "$x"; done',
          '; done',
          '; done < a',
          '; done < a | wc -l',
        ])
      if (/(?:^|\s)\((?:cd|[a-z])/.test(text) && !/\)$/.test(text)) text += ')'
      if (/(?:^|\s)\{ /.test(text) && !/\}$/.test(text)) text += pick(['; }', '; } < a', '; } > x'])
      // A part as a group, behind a pipe or in front of a file.
      if (pick([0, 0, 0, 0, 1]) && !text.includes('<<'))
        text = pick(['ls | { ^; }', 'echo a | (^)', '{ ^; } < a', 'cat a | if ls; then ^; fi', 'echo "$(^)"']).replace(
          '^',
          () => text,
        )
      if (parts > 1) text += pick(joints)
    }
    yield text
  }
}
