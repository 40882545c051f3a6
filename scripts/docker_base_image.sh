#!/usr/bin/env bash
# For tests in CI without an image registry: make a small Debian with Python from the distribution's own packages.
#   scripts/docker_base_image.sh [TAG]      (python:3.11-slim-bookworm, what docker/sandbox.Dockerfile starts from)
# Does nothing when the image is there. Needs root and a running engine (scripts/docker_engine.sh).
set -euo pipefail

tag=${1:-python:3.11-slim-bookworm}
suite=${SUITE:-bookworm}
packages=ca-certificates,python3,python3-pip,python3-venv

if docker image inspect "$tag" >/dev/null 2>&1; then
  exit 0
fi
if ! command -v debootstrap >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
debootstrap >/dev/null --variant=minbase --include="$packages" "$suite" "$folder/system"
ln -s python3 "$folder/system/usr/bin/python"
rm -rf "$folder"/system/var/cache/apt/archives/*.deb
tar --create --directory "$folder/system" --numeric-owner . | docker import --change 'CMD ["python3"]' - "$tag"
