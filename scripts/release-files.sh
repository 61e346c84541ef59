#!/usr/bin/env bash
# Makes the files of a release out of this checkout: the archive, the list of its contents, the notes and the checksums.
# Publishes nothing, and writes into package.json where the package comes from. Run it after `npm ci`.
#
#   scripts/release-files.sh vX.Y.Z https://github.com/OWNER/flagkeel FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tag=$1
home=$2
folder=$(realpath "$3")

node scripts/release.mjs "$tag" "$home" >"$folder/notes.md"
npm pack --pack-destination "$folder"
npm sbom --omit dev --sbom-format cyclonedx >"$folder/flagkeel.cdx.json"
cd "$folder"
sha256sum flagkeel-*.tgz flagkeel.cdx.json >SHA256SUMS
