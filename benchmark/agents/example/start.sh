#!/usr/bin/env bash
# Entry point of the example agent. Keeps what it runs in $WORKSPACE/code, so that it is part of the record.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
code="$WORKSPACE/code/example_agent"
mkdir -p "$code" "$OUTPUT_DIR"
cp -f "$here"/*.py "$code/"
chmod u+w "$code"/*.py

export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
export HF_HOME="${HF_HOME:-$HOME/.cache/huggingface}" HF_DATASETS_DISABLE_PROGRESS_BARS=1
export TRANSFORMERS_VERBOSITY=error TOKENIZERS_PARALLELISM=false HF_HUB_DISABLE_PROGRESS_BARS=1
# Threads that wait by spinning starve each other where other programs use the same cores.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-PASSIVE}"

cd "$WORKSPACE"
export PYTHONPATH="$WORKSPACE/code${PYTHONPATH:+:$PYTHONPATH}"
exec "${PYTHON:-python3}" -m example_agent.train
