#!/usr/bin/env bash
# Back up the platform of docker-compose.yml into one folder: the database, and the records beside it.
#   scripts/backup.sh FOLDER          makes FOLDER/<UTC time>/ with database.dump, records.tar.zst (or .gz), SHA256SUMS
# Kept: transcripts, code of submissions, logs, grading records, bundles. Not kept: workspaces and checkpoints, which are
# large and can be made again; add what you want kept to RECORDS. Restoring: scripts/restore.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?the folder to write to}
data=${AGENT2_DATA_DIR:-$(sed -n 's/^AGENT2_DATA_DIR=//p' "${AGENT2_ENV_FILE:-.env}" 2>/dev/null | tail -n 1)}
data=${data:-/srv/agent2}
compose=${COMPOSE:-docker compose}
records=${RECORDS:-traces evaluations bundles}
folder="$target/$(date -u +%Y%m%d-%H%M%S)"
draft="$folder.part"
mkdir -p "$draft"
trap 'rm -rf "$draft"' EXIT

# First the database: a row's files are written before it, so every file that the dump names is there afterwards.
$compose exec -T postgres pg_dump --username agent2 --format custom agent2 >"$draft/database.dump"

present=()
for name in $records; do [ -e "$data/$name" ] && present+=("$name"); done
pack=(gzip -1) suffix=gz
if command -v zstd >/dev/null; then pack=(zstd -q -3 -T0) suffix=zst; fi
# Logs of runs, without their workspaces.
( cd "$data" && { printf '%s\0' "${present[@]}"; [ -d runs ] && find runs -maxdepth 2 -type f -print0; true; } \
  | tar --create --null --files-from - --ignore-failed-read --warning=no-file-changed --warning=no-file-removed ) \
  | "${pack[@]}" >"$draft/records.tar.$suffix" || [ "${PIPESTATUS[0]}" -le 1 ]
( cd "$draft" && sha256sum -- * >SHA256SUMS )
mv "$draft" "$folder"
echo "$folder"
