/**
 * What the first exec at a place runs: it looks, takes the upload where one is needed, joins the engine or starts it,
 * and becomes the link. POSIX sh, tried with dash and busybox. The script comes over stdin, so that no shell on the
 * way has to quote it; its last word is the helper, and nothing is sent behind the upload before it has answered.
 */
import { quoteWord } from '../../contract/quote.js'

/**
 * Runs what comes on stdin: one line with its length, then the text. The same words everywhere,
 * and nothing in them to quote.
 */
export const BOOT: readonly string[] = ['/bin/sh', '-c', 'read -r n; eval "$(head -c "$n")"']

export interface ScriptSettings {
  /** Fresh for each arrival; lines that do not begin with it are noise (banners, what a profile prints). */
  readonly marker: string
  /**
   * Digests that name the code and the runtime there; the code also by its kind of machine (a
   * home may be shared by several).
   */
  readonly code: string
  readonly runtime: string
  /** Of the code. */
  readonly files: readonly { readonly path: string; readonly architecture?: string }[]
  /** Of the run directory: random, and known to the near side only. */
  readonly name: string
  /** Part of the names in directories that others can write to. */
  readonly salt: string
  readonly leaseMs: number
  readonly beatMs: number
  readonly uploadDir: string
  /** `auto`, `there`, `send` or the path of a Node there. */
  readonly use: string
  /** `batch`: the engine is started by a job that waits for it, because what an exec starts would end with it. */
  readonly start: 'here' | 'batch'
}

/** The far end of a link that hears nothing for so many beats ends: from then on the lease counts. */
const SILENT_BEATS = 20

export function arrivalScript(settings: ScriptSettings): string {
  const { marker, code, runtime, name, salt, leaseMs, beatMs, uploadDir, use, start } = settings
  return `${PLACES(marker, name, salt, uploadDir)}
case $(uname -m) in x86_64|amd64) a=x64;; aarch64|arm64) a=arm64;; armv[78]*) a=arm;; *) a=$(uname -m);; esac
C=${code}-$a T=${runtime} U=${quoteWord(use)} L=${Math.round(leaseMs)}
H=$B/$C/dist/native/cerith-helper-linux-$a
${FILES(settings.files)}
sent() { if [ -f "$B/$T/ld" ]; then "$B/$T/ld" --library-path "$B/$T/lib" "$B/$T/node" "$@"; else "$B/$T/node" "$@"; fi; }
# What cleans directories like /var/tmp removes files that were not used for long, one by one.
has() {
  [ -d "$B/$1" ] || return 1
  if [ "$1" = "$T" ]; then sent --version >/dev/null 2>&1; return; fi
  for f in $F; do [ -f "$B/$C/$f" ] || return 1; done
}
code=need rt=need live=none v=none
has "$C" && code=have
[ -x "$H" ] && "$H" probe "$R/sock" 2>/dev/null && live=live
case $U in auto|there) N=$(command -v node);; send) N=;; *) N=$U;; esac
[ $live = none ] && [ -n "$N" ] && v=$("$N" --version 2>/dev/null)
[ $live = none ] && has "$T" && rt=have
echo "$M look $(uname -s) $a $code $live $rt \${v:-none}"
read -r n k u || exit 1
if [ "$n" != 0 ]; then
  # What an upload that was killed has left; a home may be shared, so only that of this machine.
  for d in "$B/t$(uname -n)"-*; do [ ! -d "$d" ] || kill -0 "\${d##*-}" 2>/dev/null || rm -rf "$d"; done
  t=$B/t$(uname -n)-$$
  # The last entry says that the archive is whole: tar takes one that ends between two files for a good one.
  { mkdir "$t" && head -c "$n" | gzip -d | tar -xf - -C "$t" && [ -f "$t/whole" ]; } || { rm -rf "$t"; fail unpack "$B"; }
  for d in "$C" "$T"; do
    [ -d "$t/$d" ] || continue
    # Another arrival may have brought it meanwhile.
    ! has "$d" || continue
    [ ! -d "$B/$d" ] || mv "$B/$d" "$t/old$d"
    [ -d "$B/$d" ] || mv "$t/$d" "$B/$d"
  done
  rm -rf "$t"
fi
"$H" version >/dev/null 2>&1 || fail helper "$H"
# One that listened a moment ago still does, or is closing. One of an older build is found only now, by our helper.
s=joined wait=0
[ $live = live ] || ! "$H" probe "$R/sock" 2>/dev/null || live=live
if [ $live = none ]; then
  s=started wait=25000
  if [ "$u" != sent ]; then set -- "$N"
  elif [ -f "$B/$T/ld" ]; then set -- "$B/$T/ld" --library-path "$B/$T/lib" "$B/$T/node"
  else set -- "$B/$T/node"; fi
  set -- "$@" --single-threaded --optimize-for-size --max-semi-space-size=1 --no-memory-reducer --expose-gc
  set -- "$@" "$B/$C/dist/far.js" "$R" "$B" "$L"
  ${start === 'here' ? START_HERE : START_BATCH}
fi
unset k
echo "$M $s"
exec "$H" link "$R/sock" $wait "$R/log" "$R/pid" ${SILENT_BEATS * beatMs}
`
}

/** Sets $F: those that this kind of machine has. */
function FILES(files: ScriptSettings['files']): string {
  const named = (of: string | undefined): string =>
    files.flatMap(({ path, architecture }) => (architecture === of ? [path] : [])).join(' ')
  const kinds = [...new Set(files.flatMap(({ architecture }) => architecture ?? []))]
  return `F="${named(undefined)}"\ncase $a in ${kinds.map((kind) => `${kind}) F="$F ${named(kind)}";;`).join(' ')} esac`
}

/**
 * The directories: $B, from which programs may be started, and $R, on tmpfs where there is one.
 * Each belongs to this user alone, or is not used.
 */
const PLACES = (marker: string, name: string, salt: string, uploadDir: string): string => `um=$(umask)
umask 077
export PATH="\${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
# What the runtime frees while it reads its code goes back to the system (5 MB); the engine takes it out again.
export MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-32768}"
M=${marker} uid=$(id -u) UP=${quoteWord(uploadDir)}
# A batch system may start us with no environment at all.
if [ -z "\${HOME:-}" ]; then
  h=$(getent passwd "$uid" 2>/dev/null | cut -d: -f6)
  [ -d "$h" ] && export HOME="$h"
fi
fail() { echo "$M fail $1 $2"; exit 9; }
own() {
  mkdir -m 700 "$1" 2>/dev/null
  [ ! -h "$1" ] || return 1
  set -- "$1" $(ls -ldn "$1" 2>/dev/null)
  case $2 in drwx------|drwx------.) [ "$4" = "$uid" ];; *) return 1;; esac
}
runs() {
  printf '#!/bin/sh\\nexit 7\\n' 2>/dev/null >"$1/x$$" && chmod 700 "$1/x$$" || return 1
  "$1/x$$" 2>/dev/null; r=$?
  rm -f "$1/x$$"
  [ $r = 7 ]
}
fits() { own "$1" 2>/dev/null && runs "$1" 2>/dev/null; }
B= wrote=
[ -d "\${HOME:-/nonexistent}" ] && mkdir -m 700 "$HOME/.cache" 2>/dev/null
if [ -n "$UP" ]; then set -- "$UP"
else set -- "\${XDG_CACHE_HOME:+$XDG_CACHE_HOME/cerith-reach}" "\${HOME:+$HOME/.cache/cerith-reach}" \\
  "\${HOME:+$HOME/.cerith-reach}" "/var/tmp/cerith-$uid-${salt}" "/tmp/cerith-$uid-${salt}"; fi
for d; do
  [ -n "$d" ] || continue
  if fits "$d"; then B=$d; break; fi
  own "$d" 2>/dev/null && wrote=$d
done
[ -n "$B" ] || fail nowhere "\${wrote:-none}"
R=
for d in "\${XDG_RUNTIME_DIR:-}" /dev/shm "$B"; do
  if [ -n "$d" ] && own "$d/cerith-$uid-${name}" 2>/dev/null; then R=$d/cerith-$uid-${name}; break; fi
done
[ -n "$R" ] || fail norun "$B"`

/**
 * Commands there get the umask of the login, not that of this script.
 * An engine that has just closed removes the directory; with files of a new one in it, it cannot.
 * The key goes from a shell variable over a pipe: it is in no argument, variable of the environment or file.
 */
const START_HERE = `umask "$um"
  i=0
  until own "$R" && printf '%s\\n' "$k" | "$H" start "$R/log" "$R/pid" "$@"; do
    i=$((i + 1)); [ $i -lt 5 ] || fail start "$R"
  done`

/**
 * The batch job's stdin is not the link: it reads the words and the key from files in $R, and
 * the engine removes the key at once. The pid of an engine before it would say that this one has ended.
 */
const START_BATCH =
  `own "$R"; rm -f "$R/pid"; printf '%s\\n' "$k" >"$R/key" && for w; do printf '%s\\n' "$w"; done ` +
  '>"$R/start.new" && mv "$R/start.new" "$R/start"'

/**
 * What the batch job runs: it waits for the words that the first link writes and starts the engine, and another one
 * after one that was killed: the allocation stays. Where an engine runs already it has nothing to do.
 */
export function batchScript(
  settings: Pick<ScriptSettings, 'name' | 'salt' | 'uploadDir'>,
  waitSeconds: number,
): string {
  return `#!/bin/sh
${PLACES('cerith', settings.name, settings.salt, settings.uploadDir)}
! grep -qs dist/far.js "/proc/$(cat "$R/pid" 2>/dev/null)/cmdline" || exit 0
umask "$um"
while :; do
  i=0
  while [ ! -f "$R/start" ]; do i=$((i + 1)); [ $i -lt ${waitSeconds * 5} ] || exit 1; sleep 0.2; done
  set --
  while IFS= read -r w; do set -- "$@" "$w"; done <"$R/start"
  rm -f "$R/start"
  "$@" <"$R/key" >"$R/log" 2>&1 &
  echo $! >"$R/pid"
  wait $!
  [ $? -gt 128 ] || exit
done
`
}
