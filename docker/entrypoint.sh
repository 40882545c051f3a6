#!/bin/sh
# What a container of the platform does: web, worker [QUEUES], beat, migrate, join URL TOKEN, or any `manage.py` command.
set -eu

what=${1:-web}
[ $# -eq 0 ] || shift

case "$what" in
  web)
    exec uvicorn config.asgi:application --host 0.0.0.0 --port 8000 --workers "${AGENT2_WEB_WORKERS:-2}" \
      --proxy-headers --forwarded-allow-ips '*' --timeout-graceful-shutdown 20 --no-access-log --log-level info
    ;;
  worker)
    # A Docker sandbox mounts files of the code, and the engine looks for them on its host: so the code runs from the
    # data folder, which has the same path there.
    if [ "${AGENT2_SANDBOX:-docker}" = docker ]; then
      here=$(cat /opt/agent2/docker/.version 2>/dev/null || find . -name '*.py' -newermt 2000-01-01 -printf '%p %s %T@\n' | sort | sha256sum | cut -c1-12)
      code="$AGENT2_DATA_DIR/code/$here"
      if [ ! -d "$code" ]; then
        mkdir -p "$AGENT2_DATA_DIR/code"
        draft=$(mktemp -d "$AGENT2_DATA_DIR/code/.draft-XXXXXX")
        cp -R /opt/agent2/. "$draft"
        chmod -R a+rX "$draft"
        mv -T "$draft" "$code" 2>/dev/null || rm -rf "$draft"
      fi
      cd "$code"
    fi
    exec python manage.py worker ${1:+--queues "$1"}
    ;;
  join)
    # The engine makes a folder that is not there, and makes it root's: as root, hand it over first.
    if [ "$(id -u)" = 0 ]; then
      install -d -o 1000 -g 1000 -m 0755 "$AGENT2_DATA_DIR"
      exec setpriv --reuid 1000 --regid 1000 --clear-groups python -m benchmark.join "$@"
    fi
    exec python -m benchmark.join "$@"
    ;;
  beat)
    exec celery -A config beat --loglevel WARNING --schedule /tmp/beat --pidfile ''
    ;;
  migrate)
    python manage.py migrate --noinput
    exec python manage.py collectstatic --noinput -v0
    ;;
  *)
    exec python manage.py "$what" "$@"
    ;;
esac
