#!/bin/bash
# run.sh RUNNER PROFILE [ID...]: plays the attempts of cases.sh through a sandbox and says which boundaries held. See README.md.
here=$(cd "$(dirname "$0")" && pwd)
runner=$(realpath "$1"); profile=$2; shift 2; only=" $* "
[[ $profile == off && $EUID == 0 ]] && { echo "off is played as an ordinary user only: the attempts work there" >&2; exit 2; }
case $profile in off) column=0;; read-only) column=1;; workspace) column=2;; strict) column=3;; landlock) column=4;; *) echo "profile?" >&2; exit 2;; esac
scratch=$(mktemp -d "${ESC_BASE:-$HOME}/escapes.XXXXXX"); chmod 755 "$scratch"
export ESC_TMP=$scratch ESC_HOME=$scratch/home ESC_WS=$scratch/home/work ESC_STATE=$scratch/home/.local/state/cerith ESC_OUT=$scratch/outside
export CANARY="canary-$RANDOM$RANDOM"
fresh_ground() {
  rm -rf "$ESC_HOME" "$ESC_OUT"; mkdir -p "$ESC_WS/.git/hooks" "$ESC_WS/node_modules/.bin" "$ESC_WS/src" "$ESC_HOME/.ssh" "$ESC_HOME/.aws" "$ESC_HOME/.config" "$ESC_STATE" "$ESC_OUT"
  echo "$CANARY" >"$ESC_HOME/.ssh/id_ed25519"; echo "$CANARY" >"$ESC_HOME/.aws/credentials"; echo "$CANARY" >"$ESC_STATE/vault"; echo "$CANARY" >"$ESC_OUT/secret"
  echo '# rc' >"$ESC_HOME/.bashrc"; echo '[core]' >"$ESC_WS/.git/config"; echo original >"$ESC_OUT/file"; chmod 600 "$ESC_HOME/.ssh/id_ed25519" "$ESC_STATE/vault"
}
held=0 crossed=0 wrong=0 skipped=0
helpers=()
# Each in a group of its own, which ends with all that it started.
background() { setsid "$@" >/dev/null 2>&1 </dev/null & helpers+=($!); }
stop_helpers() { for pid in "${helpers[@]}"; do kill -9 "$pid" -- "-$pid" 2>/dev/null; done; wait "${helpers[@]}" 2>/dev/null; helpers=(); }
# try ID EXPECTED TITLE: uses the functions prepare, attempt (prints bash text), detect
try() {
  local id=$1 expected=${2:$column:1} title=$3 outcome
  [[ $only != "  " && $only != *" $id "* ]] && return
  fresh_ground; ESC_NEED=; export ESC_LIMITS=; prepare
  if [[ -n $ESC_NEED ]]; then printf '%-4s n/a      %s (%s)\n' "$id" "$title" "$ESC_NEED"; skipped=$((skipped+1)); stop_helpers; return; fi
  timeout -k 1 60 "$runner" "$profile" "$(attempt)" >"$scratch/out" 2>&1 </dev/null; ESC_CODE=$?
  # What the guard refuses by its text never came to the sandbox: it is played where the guard has nothing to read.
  if said '^cerith: refused ('; then ESC_UNREAD=1 timeout -k 1 60 "$runner" "$profile" "$(attempt)" >"$scratch/out" 2>&1 </dev/null; ESC_CODE=$?; fi
  if [[ $id == W* ]]; then if detect; then outcome=works; [[ $expected == w ]]; else outcome=BROKEN; [[ $expected == b || $expected == '?' ]]; fi
  else if detect; then outcome=CROSSED; crossed=$((crossed+1)); [[ $expected == c || $expected == '?' ]]; else outcome=held; held=$((held+1)); [[ $expected == h || $expected == '?' ]]; fi; fi
  local right=$?; [[ $right != 0 && $outcome == works && $expected == '?' ]] && right=0
  printf '%-4s %-8s %s%s\n' "$id" "$outcome" "$title" "$([[ $right == 0 ]] || echo "   <== expected $expected: $(tr '\n' '|' <"$scratch/out" | head -c 160)")"
  [[ $right == 0 ]] || wrong=$((wrong+1))
  stop_helpers
}
said() { grep -q -- "$1" "$scratch/out"; }
prepare() { :; }
. "$here/cases.sh"
. "$here/more-cases.sh"
. "$here/attack-cases.sh"
. "$here/later-cases.sh"
. "$here/further-cases.sh"
. "$here/fifth-cases.sh"
stop_helpers
rm -rf "$scratch"
echo "$profile: $held held, $crossed crossed, $skipped not played, $wrong not as expected"
exit $((wrong > 0))
