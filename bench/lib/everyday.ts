/** Different everyday commands of an agent, and a directory in which they make sense. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const VARIANTS = Number(process.env['VARIANTS'] ?? 8)

/** Each line is one command; `N` is a number that makes it different from the others of its kind. */
const KINDS = String.raw`
git status --short
git log --oneline -N
git log -N --format=%s -- src
git diff --stat HEAD~1 -- src/fileN.ts
git show HEAD:src/fileN.ts | head -5
git branch topicN
git rev-parse --short HEAD~0
git ls-files src | grep fileN
grep -rn "line N" src
grep -c export src/fileN.ts
grep -rln "value N" src | sort | head -3
sed -n 'N,20p' src/fileN.ts
sed -i 's/value N/value 1N/' src/fileN.ts
find src -name 'file*N.ts' -type f
find . -maxdepth 2 -name '*N*' -not -path './.git/*' | wc -l
ls -la src | head -N
ls | wc -l; echo N
cat src/fileN.ts
head -n N README.md
tail -n 3 src/fileN.ts | cut -c1-N
wc -l src/fileN.ts README.md
sort src/fileN.ts | uniq -c | sort -rn | head -2
awk '{ n += NF } END { print n, N }' src/fileN.ts
echo "step N done"
echo "entry N" >> notes.txt
printf '%s\n' alpha beta N > listN.txt
COUNT=N
export STAGE=stageN
NAME="file$COUNT-N"; echo "$NAME"
cd src && ls fileN.ts && cd ..
cd src
cd ..
mkdir -p out/dirN && touch out/dirN/a.txt
cp README.md out/copyN.md
mv out/copyN.md out/movedN.md
rm -f out/movedN.md
for f in src/fileN.ts README.md; do wc -c "$f"; done
if [ -f src/fileN.ts ]; then echo "has N"; else echo none; fi
test -d src && echo "dir N"
V=$(grep -c line src/fileN.ts); echo "$V of N"
`
  .trim()
  .split('\n')

export function listed(): string[] {
  const all: string[] = []
  for (let variant = 1; variant <= VARIANTS; variant++)
    for (const kind of KINDS) all.push(kind.replaceAll(/(?<![A-Z])N(?![AFR])/g, String(variant)))
  return all
}

/** A repository with some files in it. */
export function workspace(root: string, name: string): string {
  const folder = join(root, name)
  mkdirSync(join(folder, 'src'), { recursive: true })
  for (let at = 1; at <= 20; at++)
    writeFileSync(
      join(folder, 'src', `file${at}.ts`),
      Array.from({ length: 30 }, (_, line) => `export const name${line} = 'line ${line} value ${at}'\n`).join(''),
    )
  writeFileSync(join(folder, 'README.md'), '# A project\n\nWith some words in it.\n'.repeat(10))
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFileSync(join(folder, 'notes.txt'), 'notes\n')
  git('add', '.')
  git('commit', '-qm', 'second')
  return folder
}
