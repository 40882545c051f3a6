#!/usr/bin/env bash
# OpenCode in one go: its events are the run's transcript. Titles and summaries are asked of the driver too.
set -euo pipefail
export PATH="$AGENT_TOOLS/node_modules/.bin:$PATH"
case "$PROVIDER_DIALECT" in
    anthropic) package=@ai-sdk/anthropic url="$PROVIDER_URL/v1" ;;
    gemini) package=@ai-sdk/google url="$PROVIDER_URL/v1beta" ;;
    *) package=@ai-sdk/openai-compatible url="$PROVIDER_URL" ;;
esac
read -r -d '' OPENCODE_CONFIG_CONTENT <<END || true
{"autoupdate": false, "share": "disabled", "enabled_providers": ["gateway"], "small_model": "gateway/$PROVIDER_MODEL",
 "provider": {"gateway": {"npm": "$package", "options": {"baseURL": "$url", "apiKey": "{env:PROVIDER_KEY}"},
  "models": {"$PROVIDER_MODEL": {"limit": {"context": ${CONTEXT_TOKENS:-200000}, "output": ${OUTPUT_TOKENS:-32000}}}}}}}
END
export OPENCODE_CONFIG_CONTENT OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1
export OPENCODE_DISABLE_LSP_DOWNLOAD=1 OPENCODE_DISABLE_DEFAULT_PLUGINS=1

# It kills commands after two minutes by default; training takes hours.
export OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS=86400000

cd "$WORKSPACE"
exec opencode run --model "gateway/$PROVIDER_MODEL" --format json --auto "$PROMPT" </dev/null
