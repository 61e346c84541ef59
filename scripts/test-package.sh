#!/usr/bin/env bash
# Packs the package, or takes the archive that is named, installs it into an empty directory, and does there what the
# README does. Run it after `npm ci`, with each Node that is to be held to it; leaves nothing behind. With --nodes it fetches
# those Nodes from the registry, packs once, and does so with each of them.
#
#   scripts/test-package.sh [--nodes 20,22,24] [ARCHIVE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Milliseconds until a command has said something, on a machine that does other work as well.
MAX_SILENCE_MS=3000
MAX_BYTES=5000000
# The native library with its two, and flagkeel itself.
MAX_LIBRARIES=4
project=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED  $1"
  exit 1
}

nodes=
if [ "${1:-}" = --nodes ]; then
  nodes=$2
  shift 2
fi
archive=${1:-}
if [ -z "$archive" ]; then
  npm pack --pack-destination "$work" >"$work/packed" 2>&1 || { cat "$work/packed"; fail 'npm pack'; }
  archive=$(ls "$work"/*.tgz)
  git diff --quiet -- package.json || fail 'package.json is as it was'
fi
archive=$(realpath "$archive")
bytes=$(stat --format %s "$archive")
[ "$bytes" -le "$MAX_BYTES" ] || fail "is small (the archive has $bytes bytes)"

if [ -n "$nodes" ]; then
  for version in ${nodes//,/ }; do
    npm install --prefix "$work/node-$version" --no-audit --no-fund "node@$version" >"$work/said" 2>&1 ||
      { cat "$work/said"; fail "the registry has Node $version"; }
    PATH="$work/node-$version/node_modules/node/bin:$PATH" "$project/scripts/test-package.sh" "$archive"
  done
  exit 0
fi

mkdir "$work/app" && cd "$work/app"
npm init --yes >/dev/null
# A library that wants a newer Node than this one ends the installation.
npm install --engine-strict --prefer-offline --no-audit --no-fund "$archive" >"$work/said" 2>&1 ||
  { cat "$work/said"; fail 'installs on this Node'; }
# What npm says of the machine's own settings is no word about the package.
if grep -v 'Unknown .* config' "$work/said" | grep -qi 'warn'; then cat "$work/said"; fail 'installs without a warning'; fi
echo "ok      installs on Node $(node --version) without a warning"

installed=node_modules/flagkeel
[ -z "$(find "$installed" -path "$installed/node_modules" -prune -o -name '*.map' -print)" ] ||
  fail 'holds no source maps'
node - "$project/package-lock.json" <<'JS' || fail 'installs the libraries that the tests ran with'
const { readFileSync, existsSync } = require('node:fs');
const { packages } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const versionIn = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version;
const differing = Object.entries(packages).filter(([path, { dev, version }]) => {
  return path !== '' && dev !== true && existsSync(path) && versionIn(path) !== version;
});
for (const [path] of differing) console.log(path);
process.exitCode = differing.length;
JS
npm ls --all >"$work/said" 2>&1 || { cat "$work/said"; fail 'npm finds nothing wrong with what is installed'; }
libraries=$(find node_modules -name package.json -path '*node_modules/*' -not -path '*/@libsql/*' | wc -l)
[ "$libraries" -le "$MAX_LIBRARIES" ] || fail "installs few libraries (there are $libraries)"
grep -q '^yaml [0-9.]* (ISC)$' "$installed/dist/THIRD-PARTY.txt" || fail 'names the licences of the libraries that it holds'
echo 'ok      installs the libraries that the tests ran with'

program=$PWD/node_modules/.bin/flagkeel
start=$(date +%s%3N)
"$program" --version >/dev/null
silence=$(($(date +%s%3N) - start))
[ "$silence" -le "$MAX_SILENCE_MS" ] || fail "says something at once (it took $silence ms)"
mkdir "$work/empty" && cd "$work/empty"
"$program" init --example shop >/dev/null || fail 'writes the example'
"$program" reconcile --embedded shop >"$work/said" 2>&1 || { cat "$work/said"; fail 'creates the example'; }
grep -q 'In sync' "$work/said" || { cat "$work/said"; fail 'is in sync'; }
"$program" plan --embedded shop >/dev/null 2>&1 || fail 'plans'
"$program" explain UNREACHABLE >/dev/null || fail 'explains a code'
echo 'ok      the quick start works from an empty folder'
page=$project/docs/watch-operations.md
install=$(grep '^npm install --prefix otel ' "$page")
$install --no-audit --no-fund >"$work/said" 2>&1 || { cat "$work/said"; fail 'the SDK of OpenTelemetry installs as the docs say'; }
sed -n '/^```js otel\/otel.mjs$/,/^```$/{//!p}' "$page" >otel/otel.mjs
node - "$program" <<'JS' || fail 'sends traces with the SDK that the docs load'
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const seen = new Set();
const collector = createServer((request, response) => {
  seen.add(request.url);
  request.resume().on('end', () => response.end('{}'));
}).listen(0, '127.0.0.1', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${collector.address().port}`;
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT, NODE_OPTIONS: '--import ./otel/otel.mjs' };
  spawn(process.argv[2], ['plan', '--embedded', 'shop'], { env }).on('close', (code) => {
    process.exit(code === 0 && seen.has('/v1/traces') ? 0 : 1);
  });
});
JS
echo 'ok      sends traces with the SDK that the docs load'
