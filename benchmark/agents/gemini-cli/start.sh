#!/usr/bin/env bash
# Gemini CLI in headless mode: its stream of events is the run's transcript.
set -euo pipefail
export PATH="$AGENT_TOOLS/node_modules/.bin:$PATH"
export GOOGLE_GEMINI_BASE_URL="$PROVIDER_URL" GEMINI_API_KEY="$PROVIDER_KEY"
unset GOOGLE_API_KEY
mkdir -p "$HOME/.gemini"
cat >"$HOME/.gemini/settings.json" <<'END'
{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
 "telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}}
END

cd "$WORKSPACE"
exec gemini --yolo --skip-trust --model "$PROVIDER_MODEL" --output-format stream-json -p "$PROMPT" </dev/null
