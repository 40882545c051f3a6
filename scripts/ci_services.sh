#!/usr/bin/env bash
# For tests in CI on Debian or Ubuntu as root: bubblewrap, Chromium, PostgreSQL, Redis and a Docker engine, each brought
# up if it is not there. What cannot be had is said and left out; its tests then skip with their reason. Safe to repeat.
set -uo pipefail
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null; }
install() { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
said() { echo "ci: $*"; }

have bwrap || install bubblewrap || said "no bubblewrap"
{ have chromium && have chromedriver; } || install chromium chromium-driver fonts-dejavu-core || said "no Chromium"
{ have g++ && have make && have cmake; } || install build-essential cmake || said "no compiler"

if ! listens 5432; then
  have pg_ctlcluster || install postgresql
  pg_ctlcluster --skip-systemctl-redirect "$(ls /etc/postgresql | tail -n 1)" main start || said "no PostgreSQL"
fi
if ! listens 6379; then
  have redis-server || install redis-server
  redis-server --daemonize yes --bind 127.0.0.1 --save "" >/dev/null || said "no Redis"
fi
bash scripts/docker_engine.sh && bash scripts/docker_base_image.sh || said "no Docker engine"
bash scripts/docker_compose_plugin.sh >/dev/null || said "no Docker Compose"
exit 0
