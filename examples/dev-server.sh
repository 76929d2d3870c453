#!/usr/bin/env bash
# A development server: start it as a job, wait for its port, test it, stop it. Needs python3 and curl.
set -euo pipefail
port=${1:-8765}
folder=$(mktemp -d)
echo 'it works' > "$folder/index.html"

id=$(cerith run --background --cwd "$folder" "python3 -m http.server $port --bind 127.0.0.1")
trap 'cerith kill "$id" > /dev/null; rm -r "$folder"' EXIT

cerith wait "$id" --port "$port" --timeout 20s
curl -s "http://127.0.0.1:$port/"
cerith read "$id" --stderr --filter 'GET /' > /dev/null
