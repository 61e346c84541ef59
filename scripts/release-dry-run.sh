#!/usr/bin/env bash
# Does what a release does before it publishes, with the last commit and in a folder of its own, and looks at the result. Run it
# after `npm ci`; leaves nothing behind.
#
#   scripts/release-dry-run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=https://github.com/OWNER/flagkeel
version=$(node -p 'require("./package.json").version')

# check NAME COMMAND…
check() {
  local name=$1
  shift
  "$@" >"$work/said" 2>&1 || {
    echo "FAILED  $name"
    tail -15 "$work/said" | sed 's/^/        /'
    exit 1
  }
  echo "ok      $name"
}
refuses() { ! "$@"; }

git clone --quiet --no-local "$project" "$work/checkout"
cp -al node_modules "$work/checkout/" 2>/dev/null || cp -a node_modules "$work/checkout/"
cd "$work/checkout"
mkdir "$work/files"

if command -v actionlint >/dev/null; then check 'the workflows are valid' actionlint; fi
check 'a tag of another version is refused' refuses node scripts/release.mjs v0.0.0-other "$home"
check 'and leaves package.json as it was' git diff --quiet
check 'the files are made' scripts/release-files.sh "v$version" "$home" "$work/files"
cd "$work/files"
check 'the checksums are those of the files' sha256sum --check --strict SHA256SUMS
check 'the checksums are of everything but the notes' \
  diff <(ls -- *.tgz *.json) <(sed 's/^[0-9a-f]*  //' SHA256SUMS | sort)
check 'the notes say something' grep -q '^- ' notes.md
check 'the notes are of one version' refuses grep -q '^## ' notes.md
tar --extract --gzip --file "flagkeel-$version.tgz" package/package.json
check 'the package says where it comes from' node -e '
  const { version, repository, homepage } = JSON.parse(require("fs").readFileSync("package/package.json"));
  const [, wanted, home] = process.argv;
  if (version !== wanted || repository.url !== `git+${home}.git` || homepage !== `${home}#readme`) process.exit(1);
' "$version" "$home"
check 'the list of contents names the version and the libraries' node -e '
  const { metadata, components } = JSON.parse(require("fs").readFileSync("flagkeel.cdx.json"));
  const names = components.map(({ name }) => name);
  if (metadata.component.version !== process.argv[1] || !names.includes("undici")) process.exit(1);
' "$version"
check 'the archive installs and works' "$work/checkout/scripts/test-package.sh" "$work/files/flagkeel-$version.tgz"
