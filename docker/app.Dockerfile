# The platform itself. Two images from one file:
#   docker build -f docker/app.Dockerfile --target web    -t agent2-web:latest .      pages, API, beat, default queue
#   docker build -f docker/app.Dockerfile --target worker -t agent2-worker:latest .   agents and grading queues
# Agents and the grading runner work in another one: docker/sandbox.Dockerfile.
# Pin the base by digest in production: --build-arg PYTHON=python:3.11-slim-bookworm@sha256:...
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS web-packages
# A mirror, or https://download.pytorch.org/whl/cpu as the extra index for an image without CUDA's libraries.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -m venv /opt/venv
WORKDIR /build
COPY requirements-web.txt requirements-s3.txt ./
RUN /opt/venv/bin/pip install -r requirements-web.txt -r requirements-s3.txt

FROM web-packages AS worker-packages
ARG REQUIREMENTS=requirements.txt
COPY requirements.txt requirements-gpu.txt ./
RUN for file in ${REQUIREMENTS}; do set -- "$@" -r "$file"; done && /opt/venv/bin/pip install "$@"

FROM ${PYTHON} AS base
ARG UID=1000
RUN groupadd --gid ${UID} agent2 \
    && useradd --uid ${UID} --gid ${UID} --home-dir /home/agent2 --create-home --shell /usr/sbin/nologin agent2 \
    && install -d -o ${UID} -g ${UID} /srv/agent2
ENV PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 AGENT2_DEPLOYMENT=production AGENT2_DATA_DIR=/srv/agent2
WORKDIR /opt/agent2
ENTRYPOINT ["/opt/agent2/docker/entrypoint.sh"]

FROM base AS web
COPY --from=web-packages /opt/venv /opt/venv
COPY . .
RUN python -m compileall -q . && chmod -R a+rX .
USER agent2
CMD ["web"]

FROM base AS worker
# For a worker without Docker: AGENT2_SANDBOX=bubblewrap.
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/*
COPY --from=worker-packages /opt/venv /opt/venv
COPY . .
RUN python -m compileall -q . && chmod -R a+rX .
USER agent2
CMD ["worker"]
