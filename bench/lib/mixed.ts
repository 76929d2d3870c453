/** Commands put together by chance: the same ones for the same seed. Nothing is tuned for them. */

/** `§{` is the beginning of an expansion. */
const KINDS = String.raw`
cat > @NEW.txt <<'EOF'
first @W @N
second line
EOF
cat >> notes.txt <<EOF
$(date +%s) @W
EOF
cd @DIR && ls -1 | wc -l && cd - > /dev/null
(cd src && grep -l "value @N" *.ts)
pwd && ls -d */
git add -A && git commit -qm "@W @N"
git diff --name-only HEAD~1
git stash list | wc -l
git log -1 --pretty=format:%h%n%s
git checkout -q -b work-@NEW && git checkout -q -
git config user.name tester-@N
git show --stat HEAD | tail -3
git blame -L @N,+2 src/file@N.ts | cut -c1-30
grep -n "name@N" src/file@N.ts || echo "no @W"
grep -rE "value (@N|9)" src --include=*.ts -l | xargs wc -l | tail -1
rg_missing_@W 2>/dev/null || echo "not found @N"
sed -e 's/line/row/' -e '@Nd' src/file@N.ts | head -4
sed -i.bak "s/'line @N/'row @N/" src/file@N.ts && rm src/file@N.ts.bak
awk -F"'" 'NR == @N { print $2 }' src/file@N.ts
find . -name '*.md' -newer notes.txt | sort
find src -type f -size -4k -exec basename {} \; | sort | head -@N
ls -lt src | awk '{ print $NF }' | head -3
du -sk src 2>/dev/null | cut -f1
stat -c '%s %n' src/file@N.ts
diff src/file@N.ts src/file1.ts > /dev/null; echo "differs: $?"
cmp -s README.md notes.txt && echo same || echo other
tar cf @NEW.tar src/file@N.ts && tar tf @NEW.tar && rm @NEW.tar
cp -r src copy-@NEW && rm -rf copy-@NEW
ln -sf README.md link-@N && readlink link-@N
mkdir -p build/@NEW/{a,b} && touch build/@NEW/a/x build/@NEW/b/y && find build/@NEW -type f | wc -l
touch @NEW.log; test -s @NEW.log || echo "empty @W"
chmod 600 notes.txt && ls -l notes.txt | cut -c1-10
@VAR=@W-@N
@VAR="§{@VAR:-none}-@N"; echo "$@VAR"
export @VAR=$((@N * 7))
@VAR=$(wc -l < src/file@N.ts); [ "$@VAR" -gt 5 ] && echo "long: $@VAR"
LIST=(@W @N three); echo "§{#LIST[@]} §{LIST[1]}"
i=0; while [ $i -lt @N ]; do i=$((i + 1)); done; echo "counted $i"
for n in 1 2 3; do printf '%s-%s ' "$n" @W; done; echo
for f in src/*.ts; do case "$f" in *@N.ts) echo "hit $f";; esac; done
while read -r line; do echo "> $line"; done < notes.txt | head -@N
if grep -q "value @N" src/file@N.ts; then echo yes; elif [ -d out ]; then echo dir; else echo no; fi
[[ -f src/file@N.ts && @N -lt 9 ]] && echo "both @W"
case @W in alpha) echo first;; *) echo "rest @N";; esac
printf '%03d %s\n' @N @W
echo "$HOME" | tr '/' '-'
echo {1..@N} | wc -w
env | grep -c '^LANG' || true
date -u +%Y | grep -c 20
basename "$PWD"; dirname src/file@N.ts
type ls | head -1
command -v git && git --version
seq 1 @N | paste -sd+ - | sed 's/+/ + /g'
sort -u notes.txt -o sorted-@N.txt && wc -l < sorted-@N.txt
head -c @N0 README.md | od -c | head -2
tr a-z A-Z < notes.txt | tail -n 1
tee out-@NEW.txt <<< "@W @N" > /dev/null
ls nowhere-@W 2>&1 | sed 's/.*: //'
true && false || echo "recovered @N"
sleep 0; echo "slept @W"
hash -r; echo "$?"
greet() { echo "hello $1 @N"; }; greet @W
set -- a b @W; echo "$# $3"
unset @VAR; echo "§{@VAR-unset}"
`

/** One command may have several lines: a here-document, up to its end. */
function kinds(): string[] {
  const found: string[] = []
  let open = false
  for (const line of KINDS.trim().replaceAll('§{', '${').split('\n')) {
    if (open) found.push(`${found.pop() ?? ''}\n${line}`)
    else found.push(line)
    if (/<<'?EOF'?$/.test(line)) open = true
    if (line === 'EOF') open = false
  }
  return found.map((one) => (one.endsWith('\nEOF') ? `${one}\n` : one))
}

export function mixed(seed: number, count: number): string[] {
  let state = seed >>> 0
  // mulberry32
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixedUp = Math.imul(state ^ (state >>> 15), state | 1)
    mixedUp ^= mixedUp + Math.imul(mixedUp ^ (mixedUp >>> 7), mixedUp | 61)
    return ((mixedUp ^ (mixedUp >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const templates = kinds()
  const all: string[] = []
  const fill = (template: string, fresh: number): string => {
    const values: Readonly<Record<string, string>> = {
      N: String(1 + Math.floor(random() * 19)),
      W: pick(['alpha', 'beta', 'gamma', 'delta', 'omega']),
      VAR: pick(['COUNT', 'STAGE', 'TARGET', 'RESULT']),
      DIR: pick(['src', '.', './src']),
      NEW: `made${fresh}`,
    }
    return template.replaceAll(/@(NEW|VAR|DIR|N|W)/g, (_, name: string) => values[name] as string)
  }
  while (all.length < count) {
    const one = fill(pick(templates), all.length)
    // Some are two at once, as agents like to write them.
    const two = one.endsWith('\n') || random() < 0.75 ? null : fill(pick(templates), all.length)
    all.push(two === null ? one : `${one}${pick([' && ', '; '])}${two}`)
  }
  return all
}
