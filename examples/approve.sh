#!/usr/bin/env bash
# Approve from another terminal: an agent's command waits for a person, the person allows exactly that, once.
set -uo pipefail
export CERITH_POLICY_PRESET=careful
command="curl -s ${1:?usage: approve.sh URL}"

cerith run "$command"                                             # the agent: refused, nobody could be asked
echo "first try: exit code $?"
id=$(cerith approve --json | grep -o 'ask_[0-9a-f]*' | head -n 1) # the person, elsewhere: what is waiting?
cerith approve "$id"
cerith run "$command"                                             # the agent again: runs now
echo "second try: exit code $?"
cerith run "$command" 2> /dev/null                                # and only once
echo "third try: exit code $?"
