#!/usr/bin/env bash
# For tests in CI: make a Docker engine answer on this Debian or Ubuntu machine. Needs root. Safe to repeat.
#   scripts/docker_engine.sh            uses the running engine, else starts the installed one, else installs it
# The engine's output goes to ${DOCKERD_LOG:-/var/log/dockerd.log}.
set -euo pipefail

answers() { docker info >/dev/null 2>&1; }

# The engine's group weighs as one process: beside busy ones outside, all containers together would get one share.
weigh() {
  local group=/sys/fs/cgroup/cpu/docker
  if [ -d "${group%/docker}" ] && mkdir -p "$group"; then
    echo 8192 >"$group/cpu.shares" || true
  fi
}

if answers; then
  weigh
  exit 0
fi
if ! command -v dockerd >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables >/dev/null
fi
# Debian's package may have started it by itself.
if ! answers; then
  nohup setsid dockerd >"${DOCKERD_LOG:-/var/log/dockerd.log}" 2>&1 </dev/null &
fi
for _ in $(seq 120); do
  if answers; then
    weigh
    exit 0
  fi
  sleep 0.5
done
echo "The Docker engine did not come up; see ${DOCKERD_LOG:-/var/log/dockerd.log}." >&2
exit 1
