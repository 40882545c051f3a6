#!/usr/bin/env bash
# For tests in CI on Debian or Ubuntu as root: Docker Compose 2, where the engine came without it. Safe to repeat.
# Debian 12 has version 1 alone: there the plugin of the next release is taken, a single program.
set -euo pipefail

if docker compose version >/dev/null 2>&1; then
  exit 0
fi
plugins=${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins
apt-get update -qq
for package in docker-compose-plugin docker-compose-v2; do
  if apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
    exit 0
  fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$plugins"
mirror=$(apt-get indextargets --format "\$(REPO_URI)" | grep -v security | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
  >"$folder/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/lists" \
    -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root "$@"
}
apt update
( cd "$folder" && apt download docker-compose docker-buildx )
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder/unpacked"; done
cp "$folder"/unpacked/usr/libexec/docker/cli-plugins/docker-* "$plugins"
docker compose version
