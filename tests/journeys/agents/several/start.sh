#!/usr/bin/env bash
set -euo pipefail
exec "$PYTHON" "$(dirname "$0")/agent.py"
