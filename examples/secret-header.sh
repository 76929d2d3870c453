#!/usr/bin/env bash
# A secret in a header: the value goes from stdin into the vault, from there to curl, and never onto the screen.
# CERITH_PASSPHRASE (for cerith itself) opens the vault.
set -euo pipefail
url=${1:?usage: secret-header.sh URL}

printf '%s' 's3cret with "quotes" and $(nothing run)' | cerith secret set API_KEY
cerith run --env "URL=$url" 'curl -s -H "X-Key: {{secret:API_KEY}}" "$URL"'
