#!/usr/bin/env bash
# Fuzzes the administration service from its own description: starts one, fills it, and lets schemathesis
# call every endpoint with valid and broken requests, twice. First with the description as it is served and all of its
# checks, by `scripts/schemathesis.toml`; what a right service answers otherwise than the tool expects stands there, with
# the reason. Then with names in the bodies, so that more requests get past what no schema can say, and with a workspace
# that requires titles and comments; there only a 5xx and what is not described fails.
#
# Needs schemathesis 4: `pipx install schemathesis`, or a venv of its own (`python3 -m venv V && V/bin/pip install
# schemathesis`) whose `bin` is on PATH. With FUZZ_DATABASE, the URL of an empty database, the service stands over
# PostgreSQL.
#
#   scripts/fuzz-service.sh [seconds of each run] [examples per operation] [seed]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60} examples=${2:-100} seed=${3:-1}
if ! command -v schemathesis >/dev/null; then
  echo 'scripts/fuzz-service.sh needs schemathesis on PATH: pipx install schemathesis' >&2
  exit 69
fi
[ -f dist/main.js ] || npm run build

work=$(mktemp -d)
store=(--memory)
[ -z "${FUZZ_DATABASE:-}" ] || store=(--database "$FUZZ_DATABASE")
node dist/main.js service "${store[@]}" --port 0 --log-format json >"$work/out" 2>"$work/log" &
service=$!
# Nothing but the exit code of the fuzz counts, and the service is to end before its folder goes.
trap 'kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
  grep -q 'shown this once' "$work/out" && break
  sleep 0.1
done
origin=$(sed -n 's/^listening on //p' "$work/out")
key=$(sed -n 's/^Admin API key, shown this once: //p' "$work/out")
if [ -z "$key" ]; then
  echo 'the service did not start:' >&2
  cat "$work/log" >&2
  exit 1
fi

FLAGKEEL_API_KEY=$key node scripts/fuzz-service.mjs "$origin" >"$work/named.json"
config=$PWD/scripts/schemathesis.toml
cd "$work"
status=0

fuzz() {
  schemathesis "${@:1:2}" run "${@:3}" --url "$origin" --header "Authorization: Bearer $key" \
    --max-time "$seconds" --max-examples "$examples" --seed "$seed" \
    --request-timeout 10 --continue-on-failure --warnings off --suppress-health-check all || status=1
}

fuzz --config-file "$config" "$origin/openapi.json" --checks all
# What revokes keys stays out: the run would end its own.
fuzz --config-file /dev/null named.json --exclude-path-regex apiKeys \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance

# Requests that schemathesis takes for harmless must not have been errors of the service either.
if grep -E '"(status|code)":5[0-9]{2}' "$work/log" >&2; then status=1; fi
echo "requests by status:"
grep -oE '"status":[0-9]+' "$work/log" | sort | uniq -c
exit "$status"
