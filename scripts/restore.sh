#!/usr/bin/env bash
# Restore what scripts/backup.sh made, into the platform of docker-compose.yml. What is there is replaced.
#   scripts/restore.sh FOLDER/<UTC time>
# Stops everything but PostgreSQL, restores, migrates to the code's version, and starts everything again.
set -euo pipefail
cd "$(dirname "$0")/.."

from=$(cd "${1:?the folder of one backup}" && pwd)
data=${AGENT2_DATA_DIR:-$(sed -n 's/^AGENT2_DATA_DIR=//p' "${AGENT2_ENV_FILE:-.env}" 2>/dev/null | tail -n 1)}
data=${data:-/srv/agent2}
compose=${COMPOSE:-docker compose}

( cd "$from" && sha256sum --check --quiet SHA256SUMS )
$compose stop proxy web beat worker-default worker-agents worker-grading
$compose up -d postgres
for _ in $(seq 60); do $compose exec -T postgres pg_isready -q -U agent2 -d postgres && break; sleep 1; done
$compose exec -T postgres dropdb --username agent2 --maintenance-db postgres --if-exists --force agent2
$compose exec -T postgres createdb --username agent2 --maintenance-db postgres agent2
$compose exec -T postgres pg_restore --username agent2 --dbname agent2 --no-owner --exit-on-error <"$from/database.dump"
mkdir -p "$data"  # on a new machine there is none; `prepare` gives it to the platform's user
archive=$(ls "$from"/records.tar.*)
case "$archive" in *.zst) unpack=(zstd -dq) ;; *) unpack=(gzip -d) ;; esac
"${unpack[@]}" <"$archive" | tar --extract --directory "$data" --same-owner --same-permissions
# The archive has runs' files without their folders, which are the platform's user's alone.
if [ -d "$data/runs" ]; then
  chown 1000:1000 "$data/runs"
  find "$data/runs" -mindepth 1 -maxdepth 1 -type d -exec chown 1000:1000 {} + -exec chmod 700 {} +
fi
$compose up -d
echo "restored $from"
