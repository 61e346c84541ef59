#!/usr/bin/env bash
# Builds the container image, or takes the one that is named, and holds it to what docs/container.md promises. Needs
# podman, git and curl; leaves nothing behind but the image.
#
#   scripts/test-image.sh [IMAGE]
#
# FLAGKEEL_BUILD_FLAGS: more words for `podman build`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

MAX_MB=250
PORT=${FLAGKEEL_TEST_PORT:-18790}
work=$(mktemp -d)
names=()
volumes=()
failures=0

clean_up() {
  [ ${#names[@]} -eq 0 ] || podman rm --force --time 1 "${names[@]}" >/dev/null 2>&1 || true
  [ ${#volumes[@]} -eq 0 ] || podman volume rm --force "${volumes[@]}" >/dev/null 2>&1 || true
  # Files of the container's user, seen from here, may be somebody else's.
  rm -rf "$work" 2>/dev/null || podman unshare rm -rf "$work"
}
trap clean_up EXIT

# check NAME COMMAND…: goes on after a failure, so that one run shows all of them.
check() {
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    tail -15 "$work/said" | sed 's/^/        /'
    failures=$((failures + 1))
  fi
}

exits() {
  local expected=$1 code=0
  shift
  "$@" || code=$?
  [ "$code" -eq "$expected" ] || { echo "exit code $code instead of $expected"; return 1; }
}

says() {
  local pattern=$1
  shift
  "$@" 2>&1 | tee "$work/answer"
  grep -qE -- "$pattern" "$work/answer" || { echo "nothing in it matches $pattern"; return 1; }
}

# As docs/container.md runs it where it says "as little as possible".
least=(--read-only --tmpfs /tmp --cap-drop=all --security-opt=no-new-privileges --network=host)

run() { podman run --rm "${least[@]}" "$@"; }

# start NAME ARGUMENTS…: one that stays. Where there is no systemd, podman complains that nobody will ask for the health
# of it; here the test does.
start() {
  local name=$1
  shift
  names+=("$name")
  podman run --detach --name "$name" "${least[@]}" "$@" >/dev/null 2>"$work/started" || {
    cat "$work/started"
    exit 1
  }
}

eventually() {
  for _ in $(seq 100); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  "$@"
}

exit_code() { podman inspect --format '{{.State.ExitCode}}' "$1"; }
is_running() { says '^true$' podman inspect --format '{{.State.Running}}' "$1"; }
answers() { curl --fail --silent --show-error --max-time 2 "$@"; }

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
image=${1:-}
if [ -z "$image" ]; then
  image=localhost/flagkeel:test
  # The format that has health checks.
  # shellcheck disable=SC2086
  podman build --format docker ${FLAGKEEL_BUILD_FLAGS:-} --build-arg "VERSION=$version" \
    --build-arg "SOURCE=https://github.com/OWNER/flagkeel" --tag "$image" . >"$work/build.log" 2>&1 || {
    tail -50 "$work/build.log"
    exit 1
  }
fi

size() { podman image inspect --format '{{.Size}}' "$image"; }
echo "$image: $(($(size) / 1000000)) MB"
is_small() { [ "$(size)" -lt $((MAX_MB * 1000000)) ]; }
check "is smaller than $MAX_MB MB" is_small
check 'names another user than root' says '^node$' podman image inspect --format '{{.User}}' "$image"
check 'runs as uid 1000' says '^1000$' run --entrypoint id "$image" -u
check 'has git, ssh and certificates' run --entrypoint /bin/sh "$image" -c \
  'git --version && ssh -V && test -s /etc/ssl/certs/ca-certificates.crt'
# It has to be said: a container that did not start has no program either.
has_no() { says '^absent$' run --entrypoint /bin/sh "$image" -c "command -v $1 || echo absent"; }
for program in npm yarn gcc curl; do check "brings no $program" has_no "$program"; done
check 'cannot write to its root' says 'Read-only' run --entrypoint /bin/sh "$image" -c 'touch /app/x 2>&1; true'
label() { podman image inspect --format "{{index .Labels \"org.opencontainers.image.$1\"}}" "$image"; }
check 'bears its version' says "^${version//./\\.}$" label version
check 'says where its source is' says '^https://' label source
# Builders and runtimes differ in whether they make a working directory that nobody mounted.
check 'has a place for the config repository' says '^/config$' run --entrypoint pwd "$image"
check 'tells how it is used' says 'watch' run "$image"
# Nobody listens there: what counts is that the program for https is found and starts.
check 'fetches over https' says 'Failed to connect' run --entrypoint /bin/sh "$image" -c \
  'git ls-remote https://127.0.0.1:9/x 2>&1; true'

# A repository of somebody else, read-only, as docs/container.md mounts it.
cp -R specs-example "$work/flags"
rm -rf "$work/flags/.flagkeel"
git init --quiet --initial-branch=main "$work/flags"
commit() {
  git -C "$work/flags" add --all
  git -C "$work/flags" -c user.name=tester -c user.email=tester@example.com commit --quiet --message "$1"
}
commit 'Start with the flags of a small shop'
chmod -R a+rX "$work"
volumes+=("flagkeel-image-test-$$")
mounts=(--volume "$work/flags:/config:ro,z" --volume "${volumes[0]}:/var/lib/flagkeel")

check 'validates' exits 0 run "${mounts[@]}" "$image" validate
check 'refuses a wrong command line with 64' exits 64 run "${mounts[@]}" "$image" reconcile --no-such-option
embedded=(reconcile --embedded --embedded-dir /var/lib/flagkeel/service)
check 'applies' exits 0 run "${mounts[@]}" "$image" "${embedded[@]}"
check 'remembers in its volume what it applied' exits 0 run "${mounts[@]}" "$image" \
  "${embedded[@]}" --dry-run --detailed-exitcode

# The service, with the environments of those specs.
cp deploy/compose/seed.json "$work/seed.json"
chmod a+r "$work/seed.json"
start "service-$$" "${mounts[@]}" --volume "$work/seed.json:/seed.json:ro,z" "$image" \
  service --port "$PORT" --directory /var/lib/flagkeel/served --seed /seed.json
check 'serves' eventually answers "http://127.0.0.1:$PORT/health"
check 'finds the service well' podman healthcheck run "service-$$"
podman logs "service-$$" 2>/dev/null | sed -n 's/^Admin API key.*: //p' >"$work/key"
chmod a+r "$work/key"

# The daemon.
daemon=http://127.0.0.1:$((PORT + 1))
watch=("${mounts[@]}" --volume "$work/key:/key:ro,z" --env FLAGKEEL_API_KEY_FILE=/key
  "$image" watch --url "http://127.0.0.1:$PORT" --interval 1s --log-format json)
start "daemon-$$" "${watch[@]}" --listen "$((PORT + 1))"
check 'watches, and is ready' eventually answers "$daemon/readyz"
check 'finds the daemon well' podman healthcheck run "daemon-$$"
check 'shows its metrics' says '^flagkeel_ready.* 1$' answers "$daemon/metrics"
printf '\n# Another line.\n' >>"$work/flags/flags/platform/image-service.yaml"
commit 'Say something'
applied() { says "\"$(git -C "$work/flags" rev-parse HEAD)\"" answers "$daemon/status"; }
check 'takes a commit' eventually applied

# Every process of that name in the container: the image has neither pkill nor pidof.
signal_node() {
  podman exec "daemon-$$" /bin/sh -c \
    'for p in /proc/[0-9]*; do [ "$(cat "$p/comm")" != node ] || kill -s '"$1"' "${p#/proc/}"; done'
}
# Any other code says that nothing was asked.
is_unwell() { exits 1 podman healthcheck run "daemon-$$"; }
signal_node STOP
check 'finds a daemon unwell that answers no more' is_unwell
signal_node CONT
check 'finds it well when it answers again' podman healthcheck run "daemon-$$"

# Stopped while it works, it says so by its exit code, and long before anybody would have killed it.
before=$SECONDS
podman stop --time 30 "daemon-$$" >/dev/null 2>&1
soon() { [ $((SECONDS - before)) -lt 15 ]; }
check 'ends soon when it is told to' soon
check 'ends with 143' says '^143$' exit_code "daemon-$$"
check 'says that it stopped' says '"msg":"stopped"' podman logs "daemon-$$"

start "silent-$$" "${watch[@]}"
check 'finds well what cannot be asked' eventually podman healthcheck run "silent-$$"
check 'goes on without a port' is_running "silent-$$"

[ "$failures" -eq 0 ] || {
  echo "$failures failed"
  exit 1
}
