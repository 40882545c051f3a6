#!/usr/bin/env bash
# OpenHands in headless mode: its JSON events, between lines of banners, are the run's transcript.
set -euo pipefail
export LLM_MODEL="$PROVIDER_DIALECT/$PROVIDER_MODEL" LLM_BASE_URL="$PROVIDER_URL" LLM_API_KEY="$PROVIDER_KEY"
export LITELLM_LOCAL_MODEL_COST_MAP=True OPENHANDS_SUPPRESS_BANNER=1 PYTHONUNBUFFERED=1
# Its terminal lives in a tmux server that is found through this folder.
export TMUX_TMPDIR="$HOME/.tmux"
mkdir -p "$TMUX_TMPDIR"

cd "$WORKSPACE"
# -I: PYTHONPATH is for the agent's training code, not for the agent.
exec "$AGENT_TOOLS/venv/bin/python" -I -u "$(dirname "$0")/launch.py" "$AGENT_TOOLS/venv/bin/openhands" \
    --headless --json --override-with-envs -t "$PROMPT" </dev/null
