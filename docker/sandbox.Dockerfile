# Where agents and the grading runner work: Python with their packages, a shell, a compiler. No code of ours: that is mounted.
#   docker build -f docker/sandbox.Dockerfile -t agent2-sandbox:latest .
# With GPU: --build-arg REQUIREMENTS="requirements.txt requirements-gpu.txt" (files of the repository's root).
# TASKS names the tasks whose own packages are put in: `all`, `none`, or ids such as "webshop alfworld".
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS tools
# libnuma1: vLLM on CPUs. tmux: OpenHands' terminal.
ARG TOOLS="bash build-essential ca-certificates curl git libnuma1 procps python3-dev tmux"
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${TOOLS} \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 1000 agent \
    && useradd --uid 1000 --gid 1000 --home-dir /home/agent --create-home --shell /bin/bash agent \
    && mkdir -p /workspace /run/agent2

FROM ${PYTHON} AS packages
ARG REQUIREMENTS=requirements.txt
ARG TASKS=all
# A mirror, or https://download.pytorch.org/whl/cpu as the extra index for an image without CUDA's libraries.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends build-essential cmake python3-dev \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/venv
WORKDIR /build
COPY requirements.txt requirements-web.txt requirements-gpu.txt ./
RUN for file in ${REQUIREMENTS}; do set -- "$@" -r "$file"; done && /opt/venv/bin/pip install "$@"
# Together with the first, so that no task moves what the platform pins.
COPY benchmark/tasks tasks
RUN for file in ${REQUIREMENTS}; do set -- "$@" -r "$file"; done \
    && for file in tasks/*/requirements.txt; do \
         task=$(basename "$(dirname "$file")"); \
         case " ${TASKS} " in *" all "*|*" ${task} "*) set -- "$@" -r "$file";; esac; \
       done \
    && /opt/venv/bin/pip install "$@"

FROM tools
COPY --from=packages /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER agent
WORKDIR /workspace
CMD ["bash"]
