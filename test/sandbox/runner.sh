#!/bin/bash
# Runs one attempt in a sandbox of cerith: runner.sh PROFILE COMMAND. `landlock` is the weaker tier, `off` none at all.
profile=$1; extra=()
[[ $profile == landlock ]] && { profile=workspace; extra=(--set sandbox.tier=landlock); }
[[ $ESC_LIMITS ]] && extra+=(--set "$ESC_LIMITS")
[[ $profile == off ]] && { cd "$ESC_WS" && HOME=$ESC_HOME exec bash -c "$2"; }
words=(bash -c "$2"); [[ $ESC_UNREAD ]] && { extra+=(--input "$2"); words=(bash -c 'exec bash -c "$(cat)" </dev/null'); }
HOME=$ESC_HOME CERITH_HOME=$ESC_STATE exec node "$ESC_CERITH" run --cwd "$ESC_WS" --sandbox "$profile" --network none "${extra[@]}" --timeout 55000 -- "${words[@]}"
