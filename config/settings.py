"""Django settings. Every deployment fact comes from the environment (docs/settings.md lists the variables)."""

import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import api, env
from config.database import database_from_url
from config.logs import logging_of
from config.providers import providers_from_env
from config.site import kept_secret, site_hosts
from config.storage import storages_from_env

BASE_DIR = Path(__file__).resolve().parent.parent
DEPLOYMENT = env.choice("DEPLOYMENT", "embedded", ["embedded", "production"])
EMBEDDED = DEPLOYMENT == "embedded"
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / "var")

SECRET_KEY = env.text("SECRET_KEY", kept_secret(DATA_DIR / "secret_key") if EMBEDDED else None)
DEBUG = env.flag("DEBUG", False)
PUBLIC_URL = env.url("PUBLIC_URL", "http://127.0.0.1:8000" if EMBEDDED else None)
ALLOWED_HOSTS = site_hosts(env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]" if EMBEDDED else ""), PUBLIC_URL)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
SECURE = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "benchmark",
    "traces",
    "grading",
    "bundles",
    "frontend",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "frontend.middleware.static_files",
    "frontend.middleware.content_security_policy",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "frontend.middleware.ObjectStorageAway",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = True
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASE_URL = env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'db.sqlite3'}" if EMBEDDED else None)
AGENT_SLOTS = env.whole("AGENT_SLOTS", 1, low=0, high=64)
GRADING_SLOTS = env.whole("GRADING_SLOTS", 1, low=0, high=64)
DB_POOL = env.whole("DB_POOL", 20 + AGENT_SLOTS + GRADING_SLOTS, low=1, high=500)
"""A job keeps its connection to its end: a pool that knew no slots would starve the heartbeats of what fills them."""
DATABASES = {"default": database_from_url(DATABASE_URL, pool_size=DB_POOL)}
if not EMBEDDED and DATABASE_URL.startswith("sqlite"):
    raise ImproperlyConfigured(
        "Set AGENT2_DATABASE_URL to a postgresql:// URL: SQLite serves the embedded default only."
    )
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "leaderboard"
LOGOUT_REDIRECT_URL = "leaderboard"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# The grading API reads its body itself, with its own smaller limit (grading/api/body.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
_plotly = find_spec("plotly")
PLOTLY_ASSETS = Path(_plotly.origin).parent / "package_data" if _plotly and _plotly.origin else None
STATICFILES_DIRS = [("plotly", PLOTLY_ASSETS)] if PLOTLY_ASSETS else []
COLLECT_STATIC = EMBEDDED
"""Whether the web server puts static files into STATIC_ROOT itself when it starts; else `collectstatic` has."""

REST_FRAMEWORK, SPECTACULAR_SETTINGS = api.REST_FRAMEWORK, api.SPECTACULAR_SETTINGS
API_PER_MINUTE_ANONYMOUS = env.whole("API_PER_MINUTE_ANONYMOUS", 300, low=0, high=1e6)
"""Requests to the API from one address; 0: no limit."""
API_PER_MINUTE_USER = env.whole("API_PER_MINUTE_USER", 1200, low=0, high=1e6)
SIGN_INS_PER_MINUTE = env.whole("SIGN_INS_PER_MINUTE", 10, low=0, high=1e6)
"""Tries from one address, and at one account; 0: no limit."""

REDIS_SCHEMES = ("redis", "rediss", "unix")
REDIS_URL = env.url("REDIS_URL", "" if EMBEDDED else None, schemes=REDIS_SCHEMES)
BROKER_URL = env.url("BROKER_URL", REDIS_URL, schemes=("redis", "rediss", "amqp", "amqps"))
CHANNEL_LAYERS = (
    {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}}
    if REDIS_URL
    else {}
)
CACHES = (
    {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
    if REDIS_URL
    else {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
)

# What runs, and where.
WORKER_URL = env.url("WORKER_URL", PUBLIC_URL)
"""The web server as workers reach it; the gateway of each sandbox forwards there."""
PLACE = env.text("PLACE", "")
"""The disk of this worker, by its host's name; empty where it is the web server's."""
HOST_TOKEN = env.text("HOST_TOKEN", "")
if PLACE and not HOST_TOKEN:
    raise ImproperlyConfigured("Set AGENT2_HOST_TOKEN beside AGENT2_PLACE: `manage.py host` enrols a host.")
HOSTS_DATABASE_URL = env.url("HOSTS_DATABASE_URL", "", schemes=("postgresql", "postgres"))
HOSTS_REDIS_URL = env.url("HOSTS_REDIS_URL", "", schemes=("redis", "rediss"))
"""Both services as other hosts reach them; told to those that join."""
SANDBOX = env.choice("SANDBOX", "auto" if EMBEDDED else "docker", ["auto", "bubblewrap", "docker", "process"])
SANDBOX_IMAGE = env.text("SANDBOX_IMAGE", "agent2-sandbox:latest")
SANDBOX_READ_ONLY = [Path(path) for path in env.words("SANDBOX_READ_ONLY")]
SANDBOX_PYTHON = env.text("SANDBOX_PYTHON", "")
RUNNER_PYTHON = env.text("RUNNER_PYTHON", "")
"""The interpreter of the grading runner inside its sandbox, when it is not the sandbox's own."""
TASK_DIRS = [BASE_DIR / "benchmark" / "tasks", *env.folders("TASK_DIRS")]
AGENT_DIRS = [BASE_DIR / "benchmark" / "agents", *env.folders("AGENT_DIRS")]
BASE_MODEL_BUILDERS = {"tiny": "grading.runner.tiny_model"}
ENGINE = env.choice("ENGINE", "transformers" if EMBEDDED else "vllm", ["transformers", "vllm"])
DEVICE = env.choice("DEVICE", "cpu" if EMBEDDED else "cuda", ["cpu", "cuda"])
BATCH_INVARIANT = env.flag("BATCH_INVARIANT", False)
"""vLLM's mode in which batching changes no output: the same checkpoint gets the same score, at some cost in speed."""
if BATCH_INVARIANT and (ENGINE != "vllm" or DEVICE == "cpu"):
    raise ImproperlyConfigured(
        f"AGENT2_BATCH_INVARIANT=1 needs AGENT2_ENGINE=vllm and a GPU, not {ENGINE} on {DEVICE}: "
        "set them, or AGENT2_BATCH_INVARIANT=0. On a CPU, AGENT2_DTYPE=float32 repeats without it."
    )
DTYPE = env.choice("DTYPE", "float32" if DEVICE == "cpu" else "bfloat16", ["float32", "bfloat16", "float16"])
BATCH_SIZE = env.whole("BATCH_SIZE", 32 if DEVICE == "cpu" else 256, low=1, high=4096)
GRADING_LIMIT = env.whole("GRADING_LIMIT", 0, low=0, high=1e6) or None
"""Grade only the first N held-out items: another, unranked protocol. 0: all."""
GRADING_RUNNER = env.text("GRADING_RUNNER", "grading.services.sandbox_runner.SandboxRunner")
GRADING_PORT = "grading.services.port.GradingRoom"
RECORDER = "traces.services.recording.Recorder"
ARTIFACT_SOURCES = [f"{room}.services.sealed.SOURCES" for room in ("traces", "grading", "bundles")]
EVALUATION_ATTEMPTS = env.whole("EVALUATION_ATTEMPTS", 3, low=1, high=10)
EVALUATION_DEADLINE_S = env.number("EVALUATION_DEADLINE_S", 7200, low=10, high=1e6)
BASELINE_WAIT_S = env.number("BASELINE_WAIT_S", 21600, low=10, high=1e7)
"""How long a run that needs its baseline waits while no worker grades anything."""
GRADING_MEMORY_BYTES = int(env.number("GRADING_MEMORY_GB", 0, low=0, high=1e5) * 1024**3) or None
HEARTBEAT_S = env.number("HEARTBEAT_S", 5, low=0.2, high=600)
ADOPT_S = env.number("ADOPT_S", 300, low=0, high=1e5)
"""How long an agent whose worker is gone may wait in its container for another worker on that host."""
SWEEP_S = env.number("SWEEP_S", 5, low=0.2, high=600)
RUN_GPUS = env.number("RUN_GPUS", 0 if DEVICE == "cpu" else 1, low=0, high=1024)
"""How many GPUs a run keeps busy: what the cost told before a start reckons with."""
GPUS = env.words("GPUS", "all" if DEVICE == "cuda" else "")
"""Those of this host that this worker's sandboxes get: numbers, or `all`."""
if GPUS != ["all"] and not all(word.isascii() and word.isdigit() for word in GPUS):
    raise ImproperlyConfigured(f"AGENT2_GPUS={','.join(GPUS)} must be numbers such as 0,1, or all.")
RUN_CPUS = env.number("RUN_CPUS", 0, low=0, high=4096)
RUN_MEMORY_GB = env.number("RUN_MEMORY_GB", 0, low=0, high=1e5)
RUN_PROCESSES = env.whole("RUN_PROCESSES", 4096, low=16, high=1e6)
RUN_DISK_GB = env.number("RUN_DISK_GB", 200, low=0.01, high=1e5)
RUN_LOG_MB = env.whole("RUN_LOG_MB", 1024, low=1, high=1e6)
CHECKPOINT_MAX_GB = env.number("CHECKPOINT_MAX_GB", 64, low=0.001, high=1e4)

# What evaluators of some tasks ask for (benchmark/services/needs.py). Workers alone need the keys.
JUDGE_URL = env.url("JUDGE_URL", "")
JUDGE_MODEL = env.text("JUDGE_MODEL", "")
if bool(JUDGE_URL) != bool(JUDGE_MODEL):
    raise ImproperlyConfigured("Set both AGENT2_JUDGE_URL and AGENT2_JUDGE_MODEL, or neither.")
if JUDGE_MODEL and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,63}", JUDGE_MODEL):
    raise ImproperlyConfigured(
        f"AGENT2_JUDGE_MODEL={JUDGE_MODEL!r} must be at most 64 letters, digits and ._:/@+-: protocol ids name it."
    )
JUDGE_KEY = env.text("JUDGE_KEY", "")
JUDGE_PARAMETERS = env.mapping("JUDGE_PARAMETERS")
"""Put into every request; null takes one of the evaluator's out. Part of the judge's name in protocol ids."""
JUDGE_PRICE_IN = env.price("JUDGE_PRICE_IN")
JUDGE_PRICE_OUT = env.price("JUDGE_PRICE_OUT")
JUDGE_CONCURRENCY = env.whole("JUDGE_CONCURRENCY", 8, low=1, high=1000)
JUDGE_TIMEOUT_S = env.number("JUDGE_TIMEOUT_S", 120, low=0.1, high=3600)
JUDGE_PATIENCE_S = env.number("JUDGE_PATIENCE_S", 600, low=0, high=3000)
SUGGESTER_URL = env.url("SUGGESTER_URL", "")
"""Of a language model that suggests failure types (docs/annotation.md); empty: rules alone do."""
SUGGESTER_MODEL = env.text("SUGGESTER_MODEL", "")
SUGGESTER_KEY = env.text("SUGGESTER_KEY", "")
if bool(SUGGESTER_URL) != bool(SUGGESTER_MODEL):
    raise ImproperlyConfigured("Set both AGENT2_SUGGESTER_URL and AGENT2_SUGGESTER_MODEL, or neither.")
ENDPOINT_URL = env.url("ENDPOINT_URL", "")
"""Of a model that `manage.py evaluate --endpoint` grades where it runs."""
ENDPOINT_MODEL = env.text("ENDPOINT_MODEL", "")
ENDPOINT_KEY = env.text("ENDPOINT_KEY", "")
ENDPOINT_PARAMETERS = env.mapping("ENDPOINT_PARAMETERS")
ENDPOINT_CONCURRENCY = env.whole("ENDPOINT_CONCURRENCY", 16, low=1, high=4096)
ENDPOINT_TIMEOUT_S = env.number("ENDPOINT_TIMEOUT_S", 600, low=0.1, high=3600)
ENDPOINT_PATIENCE_S = env.number("ENDPOINT_PATIENCE_S", 600, low=0, high=3000)
SEARCH_BACKEND = env.choice("SEARCH_BACKEND", "", ["", "serpapi", "brave", "tavily", "searxng", "duckduckgo", "corpus"])
SEARCH_URL = env.text("SEARCH_URL", "")
SEARCH_KEY = env.text("SEARCH_KEY", "")
SEARCH_SNAPSHOT = env.text("SEARCH_SNAPSHOT", "default")
if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", SEARCH_SNAPSHOT):
    raise ImproperlyConfigured(f"AGENT2_SEARCH_SNAPSHOT={SEARCH_SNAPSHOT!r} must be letters, digits, '.', '_', '-'.")
SEARCH_MODE = env.choice("SEARCH_MODE", "record", ["record", "replay-only"])
ROLLOUT_SERVICES = env.words("ROLLOUT_SERVICES")
"""Which of them agents may ask as well, for training episodes. A judge that agents can ask is a teacher too."""
if set(ROLLOUT_SERVICES) - {"judge", "search"}:
    raise ImproperlyConfigured("AGENT2_ROLLOUT_SERVICES must be judge, search, both (comma-separated) or empty.")

# Agent systems and the providers of their drivers.
AGENT_TOOLS_DIR = env.folder("AGENT_TOOLS_DIR", DATA_DIR / "agent-tools")
"""What `manage.py agent_install` installs; shown to agents, read-only."""
PROVIDERS = providers_from_env()
PRICES_FILE = env.folder("PRICES", Path()) if env.text("PRICES", "") else None
"""An operator's own prices, over benchmark/gateway/prices.yaml."""
RUN_TOKENS = env.whole("RUN_TOKENS", 0, low=0, high=1e12) or None
"""A run's budget of tokens, unless it was started with one of its own. 0: none."""
RUN_COST_USD = env.number("RUN_COST_USD", 0, low=0, high=1e6) or None
PROVIDER_PATIENCE_S = env.number("PROVIDER_PATIENCE_S", 1800, low=1, high=1e6)
"""How long a provider may fail without one answer before the run that waits for it is ended."""
ALLOW = env.words("ALLOW")
"""What agents may reach besides: `host` or `GET+HEAD+POST:host`."""

STORAGES = storages_from_env()
"""`artifacts`, where it is there, is object storage: sealed files of the data folder lie there too."""
QUEUE_DIR = DATA_DIR / "queue"
TRACES_DIR = DATA_DIR / "traces"
"""Sealed transcripts and what is searched in them; shared by web server and workers, or copied between them."""

# Runs made elsewhere.
BUNDLES_DIR = DATA_DIR / "bundles"
"""Uploads on their way, and the archives as they came; shared by web server and workers."""
BUNDLE_MAX_GB = env.number("BUNDLE_MAX_GB", 4, low=0.0001, high=1e4)
BUNDLE_QUOTA_GB = env.number("BUNDLE_QUOTA_GB", 20, low=0.0001, high=1e5)
"""Of one account, uploads on their way included."""
BUNDLE_UPLOAD_HOURS = env.number("BUNDLE_UPLOAD_HOURS", 48, low=0.001, high=1e4)
"""How long an upload that was cut may wait to go on."""
BUNDLE_CHECK_S = env.number("BUNDLE_CHECK_S", 600, low=1, high=1e5)
BUNDLE_SLOTS = env.whole("BUNDLE_SLOTS", 1, low=0, high=64)
EMAIL_URL = urlsplit(env.url("EMAIL_URL", "", schemes=("smtp", "smtps")))
"""Where notifications are mailed through, `smtp://user:password@host:587` or `smtps://`; empty: nowhere."""
EMAIL_HOST, EMAIL_PORT = EMAIL_URL.hostname or "", EMAIL_URL.port or (465 if EMAIL_URL.scheme == "smtps" else 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(EMAIL_URL.username or ""), unquote(EMAIL_URL.password or "")
EMAIL_USE_SSL = EMAIL_URL.scheme == "smtps"
EMAIL_USE_TLS = EMAIL_URL.scheme == "smtp" and EMAIL_URL.query != "tls=0"
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "agent2@localhost")

METRICS_TOKEN = env.text("METRICS_TOKEN", "")
"""What a Prometheus server shows as its bearer token to read /metrics; empty: only operators may."""
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
LOG_FORMAT = env.choice("LOG_FORMAT", "line" if EMBEDDED else "json", ["line", "json"])
LOGGING = logging_of(
    LOG_LEVEL,
    LOG_FORMAT,
    keys=[
        *(JUDGE_KEY, SEARCH_KEY, ENDPOINT_KEY, SUGGESTER_KEY, env.text("S3_SECRET_KEY", "")),
        *(HOST_TOKEN, METRICS_TOKEN, EMAIL_HOST_PASSWORD),
        *(each.key for each in PROVIDERS.values()),
    ],
)
