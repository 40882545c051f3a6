#!/usr/bin/env bash
# Codex CLI without questions: its events are the run's transcript. The sandbox around it is the platform's.
set -euo pipefail
export PATH="$AGENT_TOOLS/node_modules/.bin:$PATH"
provider="{name=\"gateway\",base_url=\"$PROVIDER_URL\",wire_api=\"responses\",env_key=\"PROVIDER_KEY\""
provider="$provider,request_max_retries=${CODEX_REQUEST_RETRIES:-8},stream_max_retries=${CODEX_STREAM_RETRIES:-8}}"

cd "$WORKSPACE"
exec codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \
    -c model_provider=gateway -c "model_providers.gateway=$provider" \
    -c analytics.enabled=false -c check_for_update_on_startup=false -c 'otel.metrics_exporter="none"' \
    --disable plugins --disable apps --disable unbounded_connection_retries \
    -m "$PROVIDER_MODEL" "$PROMPT" </dev/null
