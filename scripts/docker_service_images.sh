#!/usr/bin/env bash
# For tests in CI without an image registry: PostgreSQL, Redis and Caddy from the distribution's packages, under the names
# and with the few options that docker-compose.yml uses. Not for production. Safe to repeat.
#   scripts/docker_service_images.sh        needs the base image of scripts/docker_base_image.sh
set -euo pipefail
base=${BASE:-python:3.11-slim-bookworm}
postgres=${POSTGRES_IMAGE:-postgres:16.9-bookworm} redis=${REDIS_IMAGE:-redis:7.4.4-bookworm} caddy=${CADDY_IMAGE:-caddy:2.10.0}

have() { docker image inspect "$1" >/dev/null 2>&1; }
apt='apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends'

have "$postgres" || docker build -q -t "$postgres" - <<EOF
FROM $base
RUN $apt postgresql && rm -rf /var/lib/apt/lists/* && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/ 2>/dev/null; true
RUN printf '%s\n' '#!/bin/bash' 'set -e' 'data=/var/lib/postgresql/data' \
  'install -d -o postgres -g postgres -m 700 \$data' \
  'as() { setpriv --reuid postgres --regid postgres --clear-groups "\$@"; }' \
  'if [ ! -s \$data/PG_VERSION ]; then' \
  '  install -m 600 -o postgres /dev/null /tmp/word && echo "\$POSTGRES_PASSWORD" > /tmp/word' \
  '  as initdb -D \$data -U "\$POSTGRES_USER" --auth-local=trust --auth-host=scram-sha-256 --pwfile=/tmp/word >/dev/null' \
  '  rm /tmp/word' \
  '  echo "host all all all scram-sha-256" >> \$data/pg_hba.conf' \
  '  as pg_ctl -D \$data -o "-c listen_addresses=" -w start >/dev/null' \
  '  as createdb -U "\$POSTGRES_USER" "\$POSTGRES_DB"' \
  '  as pg_ctl -D \$data -m fast -w stop >/dev/null' \
  'fi' \
  'exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D \$data -c listen_addresses="*"' > /entry.sh \
  && chmod +x /entry.sh && install -d -o postgres /var/run/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["/entry.sh"]
EOF
have "$redis" || docker build -q -t "$redis" - <<EOF
FROM $base
RUN $apt redis-server && rm -rf /var/lib/apt/lists/*
USER redis
WORKDIR /tmp
CMD ["redis-server", "--bind", "*"]
EOF
have "$caddy" || docker build -q -t "$caddy" - <<EOF
FROM $base
RUN $apt caddy && rm -rf /var/lib/apt/lists/*
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
EOF
docker image ls --format '{{.Repository}}:{{.Tag}}' | grep -E '^(postgres|redis|caddy):'
