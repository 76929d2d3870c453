# The scene of docs/agent-at-work.svg: on one side an agent that works, on the other the person
# who looks over its shoulder.
mkdir -p bin && printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$NODE" "$CERITH_CLI" > bin/cerith && chmod +x bin/cerith
mkdir app && cd app && git init -q . 2>/dev/null

# The agent.
server=$(cerith run --background 'python3 -u -m http.server 5173 --bind 127.0.0.1')
tests=$(cerith run --background --pty 'for i in $(seq 1 400); do printf "\r\033[32m✓\033[0m %d of 400 tests" $i; sleep 0.05; done; echo')
cerith wait "$server" --port 5173 --timeout 20000 > /dev/null
setsid cerith run --approval-wait 60s --set policy.preset=careful 'curl -s http://127.0.0.1:5173/' > ../curl.out 2>&1 < /dev/null &

say() { # types a line as a person would, then runs it
  printf '\033[36m$\033[0m '
  for ((i = 0; i < ${#1}; i++)); do printf %s "${1:i:1}"; sleep 0.03; done
  sleep 0.3
  echo
  eval "${2:-$1}"
  sleep "${3:-1.5}"
}

clear
printf '\033]0;scene\007'
say 'cerith ps' 'cerith ps' 2.5
say "cerith attach --read-only $tests" "timeout --foreground -s TERM 2.5 cerith attach --read-only $tests; printf '\\r\\n'" 0.5
id=$(cerith approve --json | grep -o 'ask_[0-9a-f]*' | head -1)
say 'cerith approve' 'cerith approve' 2
say "cerith approve --yes $id" "cerith approve --yes $id" 1.5
say "cerith kill $server" "cerith kill $server" 1.5
cerith kill "$tests" > /dev/null
