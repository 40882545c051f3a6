#!/usr/bin/env bash
# Claude Code in headless mode: its stream of events is the run's transcript.
set -euo pipefail
export PATH="$AGENT_TOOLS/node_modules/.bin:$PATH"
export ANTHROPIC_BASE_URL="$PROVIDER_URL" ANTHROPIC_API_KEY="$PROVIDER_KEY"

# Everything it asks goes to the run's driver, also titles and summaries.
export ANTHROPIC_MODEL="$PROVIDER_MODEL" ANTHROPIC_DEFAULT_HAIKU_MODEL="$PROVIDER_MODEL"
export ANTHROPIC_SMALL_FAST_MODEL="$PROVIDER_MODEL" CLAUDE_CODE_SUBAGENT_MODEL="$PROVIDER_MODEL"

# It kills commands after two minutes by default; training takes hours.
export BASH_DEFAULT_TIMEOUT_MS=3600000 BASH_MAX_TIMEOUT_MS=86400000
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_MAX_RETRIES="${CLAUDE_CODE_MAX_RETRIES:-10}"

cd "$WORKSPACE"
exec claude --print --verbose --output-format stream-json --model "$PROVIDER_MODEL" \
    --dangerously-skip-permissions "$PROMPT" </dev/null
