/**
 * What a command can do to its shell: typical commands of agents are seen to leave it alone, and nothing that changes
 * it is.
 */
import { describe, expect, test } from 'vitest'
import { inspect } from '../../../src/guard/inspect.js'

const factsOf = (command: string) => inspect(command, { cwd: '/work', home: '/home/u' }).shell

/** Typical commands of agents; those behind the line change the shell, and must. */
const HARMLESS = String.raw`
ls -la
ls -la src | head -20
pwd
cat package.json
cat package.json | jq .scripts
head -50 README.md
tail -n 100 build.log
wc -l src/*.ts
find . -name '*.ts' -not -path './node_modules/*' | wc -l
find . -type f -name "*.py" -exec grep -l TODO {} +
grep -rn "TODO" src --include=*.ts | head
grep -c 'export' src/index.ts
rg -n "function \w+" src
sed -n '10,40p' src/index.ts
sed -i 's/foo/bar/g' src/index.ts
awk '{ print $1 }' data.txt | sort | uniq -c | sort -rn | head
git status
git status --short && git diff --stat
git log --oneline -10
git diff HEAD~1 -- src
git add -A && git commit -m "Fix the thing"
git commit -m "$(cat message.txt)"
git checkout -b feature/x
git stash list
git show HEAD:src/index.ts | head -30
npm test
npm test 2>&1 | tail -40
npm run build && echo built
npx tsc --noEmit
npx vitest run test/a.test.ts 2>&1 | grep -E "fail|pass"
node -e 'console.log(process.version)'
node --version && npm --version
python3 -c "import sys; print(sys.version)"
python3 script.py --input data.csv > out.txt
pip install -r requirements.txt
pytest -q tests/test_a.py
go build ./... && go test ./...
cargo build --release 2>&1 | tail -5
make -j4
./configure --enable-foo --prefix=/usr
./gradlew test
docker ps -a
docker compose up -d
curl -s http://localhost:3000/health
curl -s https://example.com | jq '.items[] | .name'
mkdir -p src/new && touch src/new/index.ts
cp -r src/a src/b
mv old.txt new.txt
rm -f tmp.txt
chmod +x scripts/run.sh
echo "hello" > hello.txt
echo 'line' >> notes.md
printf '%s\n' a b c > list.txt
test -f package.json && echo yes || echo no
[ -d node_modules ] || npm ci
[[ -f .env ]] && cat .env
if [ -f Makefile ]; then make; else echo none; fi
which node; which python3
command -v rg
type git
du -sh node_modules 2>/dev/null
df -h /
ps aux | grep node | head -5
date +%s
whoami && hostname
realpath ./src
env | sort | head
FOO=bar node script.js
tar czf out.tgz src
diff <(sort a.txt) <(sort b.txt)
cat <<'EOF' > config.json
{ "a": 1 }
EOF
ls nowhere 2>&1 || true
sleep 1; echo done
(cd sub && npm test)
timeout 5 ./server & echo started
echo "$HOME and $(date)"
echo "trap ERR EXIT eval exec builtin enable"
xargs -n1 basename < list.txt
`
  .trim()
  .split(/\n(?!\{ "a"|EOF)/)

describe('leaves its shell alone', () => {
  test(`${HARMLESS.length} typical commands are enough to say something`, () => {
    expect(HARMLESS.length).toBeGreaterThanOrEqual(73)
  })

  test.each(HARMLESS)('%s', (command) => {
    expect(factsOf(command)).toMatchObject({ harmless: true, clear: true, dynamic: false })
  })
})

describe('may change its shell, but gives no word another meaning', () => {
  test.each([
    'x=1',
    'export A=b',
    'cd src',
    'cd src && ls',
    'x=$(git rev-parse HEAD); echo $x',
    'for f in a b; do echo $f; done',
    'while read -r l; do echo $l; done < file',
    'ls | while read -r f; do echo "$f"; done',
    'ls | { read -r x; echo $x; }',
    'echo ${x:=1}',
    'echo "${x=1}"',
    'cat <<EOF\n${x:=1}\nEOF',
    'echo $((x++))',
    'echo $((x))',
    'echo $[x=1]',
    'echo ${a[x=1]}',
    'echo ${!x}',
    'echo ${x:y:1}',
    '((x++))',
    '[[ $a =~ b ]]',
    '[[ x -eq 1 ]]',
    '[[ -v a[x] ]]',
    'test -v x',
    '[ -v "a[$(id)]" ]',
    'test "$flag" x',
    'printf -v x y',
    'printf "$flag" x',
    'read x',
    'set -e',
    'umask 022',
    'unset x',
    'declare -A m',
    'local x=1',
    'ls {fd}>file',
    'A=1 true',
    'wait',
    'kill %1',
    'exit 3',
    'pushd /tmp',
    'ulimit -n 100',
  ])('%s', (command) => {
    expect(factsOf(command)).toMatchObject({ harmless: false, clear: true })
  })
})

describe('may do anything to its shell', () => {
  test.each([
    'f() { echo; }',
    'function g { :; }',
    'alias ll="ls -l"',
    'unalias -a',
    'eval "$x"',
    '. ./env.sh',
    'source env.sh',
    '$cmd arg',
    '"$@"',
    '$(which ls)',
    'l{s,t}',
    'exec 3>file',
    'exec bash',
    'trap "echo bye" EXIT',
    'enable -n echo',
    'builtin eval x=1',
    'command eval x=1',
    'command -p eval x',
    'shopt -s lastpipe',
    'mapfile -C "x=1;" -c 1 a < file',
    'coproc cat',
    '{ f() { :; }; }',
    'if true; then alias a=b; fi',
    'complete -W "a b" x',
    'history -s x',
  ])('%s', (command) => {
    expect(factsOf(command)).toMatchObject({ harmless: false, clear: false })
  })

  test('a text that cannot be read', () => {
    expect(factsOf('if then (')).toMatchObject({ harmless: false, clear: false, dynamic: true, whole: false })
  })
})

test.each([
  ['eval "$x"', true],
  ['. ./file', true],
  ['cd x && . ./y', true],
  ['if . ./x; then :; fi', true],
  ['(. ./x)', true],
  ['$x', true],
  ['x=1', false],
  ['cd ./x', false],
])('%s runs text that is not in it: %s', (command, dynamic) => {
  expect(factsOf(command).dynamic).toBe(dynamic)
})

test.each([
  ['echo a; true', true],
  ['[ -f x ] && echo y', true],
  ['echo a | cat', false],
  ['echo a > f', false],
  ['ls', false],
  ['echo $(date)', false],
  ['sleep 1 &', false],
  ['(echo)', false],
])('%s consists of builtins only: %s', (command, builtinsOnly) => {
  expect(factsOf(command).builtinsOnly).toBe(builtinsOnly)
})

test.each([
  ['sleep 1 &', true],
  ['cat <(ls)', true],
  ['coproc cat', true],
  ['ls | cat', false],
  ['ls', false],
])('%s may leave a child: %s', (command, leavesChildren) => {
  expect(factsOf(command).leavesChildren).toBe(leavesChildren)
})

test.each([
  ['ls -la', ['; ls -la']],
  [`grep -r 'a b' "src dir"`, [`; grep -r 'a b' "src dir"`]],
  ['/bin/true', ['; /bin/true']],
  ['npm test 2>&1', ['; npm test (joined)']],
  ['npm test 2>/dev/null', ['; npm test (dropped)']],
  ['git log --format=%H -- "a*"', ['; git log --format=%H -- "a*"']],
  ['ls # x', ['; ls']],
  ['ls; id\nuname', ['; ls', '; id', '; uname']],
  ['ls 2>&1 | grep a 2>/dev/null | wc -l', ['; ls (joined)', '| grep a (dropped)', '| wc -l']],
  ['ls && id || uname | wc; pwd -P', null],
  ['ls && id || uname | wc; date', ['; ls', '&& id', '|| uname', '| wc', '; date']],
  ['ls | grep x && id | wc', ['; ls', '| grep x', '&& id', '| wc']],
  ['find . -exec ls {} \\;', null],
  [`find . -name '*.ts' -exec ls '{}' \\;`, [`; find . -name '*.ts' -exec ls '{}' \\;`]],
  ['ls |& cat', null],
  ['time ls | cat', null],
  ['ls | time cat', null],
  ['ls *', null],
  ['ls ~', null],
  ['ls $x', null],
  ['ls {a,b}', null],
  ['ls | while read -r x; do id; done', null],
  ['ls | (cat)', null],
  ['echo a | cat', null],
  ['ls | tee f > g', null],
  ['ls > f', null],
  ['ls < f', null],
  ['ls 2>f', null],
  ['ls 2>&1 2>/dev/null', null],
  ['ls >&2', null],
  ['A=1 ls', null],
  ['echo a', null],
  ['ls &', null],
  ['ls | cat &', null],
  ['\\ls', null],
  ['"ls"', null],
  ['! ls', null],
  ['ls a!b', null],
  ['ls \x1e', ['; ls \x1e']],
  ['ls "a\nb"', null],
  ['', null],
])('%j is nothing but programs: %j', (command, programs) => {
  const shown = factsOf(command).programs?.map(
    ({ joint, words, stderr }) => `${joint} ${words}${stderr === 'kept' ? '' : ` (${stderr})`}`,
  )
  expect(shown ?? null).toEqual(programs)
})

test('comments are no command, and a here-document may lack its end', () => {
  expect(factsOf('# nothing').empty).toBe(true)
  expect(factsOf('\n\n').empty).toBe(true)
  expect(factsOf('ls # x').empty).toBe(false)
  expect(factsOf('cat <<A\nx\nA').whole).toBe(true)
  expect(factsOf('cat <<A\nx').whole).toBe(false)
})
