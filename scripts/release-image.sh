#!/usr/bin/env bash
# Builds the image of a release, with labels that say version, source and commit.
#
#   scripts/release-image.sh WORD…    words for `docker buildx build`, such as --push
#
# GITHUB_REF_NAME is the tag vX.Y.Z; GITHUB_SERVER_URL, GITHUB_REPOSITORY and GITHUB_SHA say where the commit is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docker buildx build \
  --build-arg "VERSION=${GITHUB_REF_NAME#v}" \
  --build-arg "SOURCE=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
  --build-arg "REVISION=$GITHUB_SHA" \
  "$@" .
