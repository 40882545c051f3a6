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

demo: $(VENV)/.run ## The platform on this machine, with one real run
	$(BIN)/python manage.py demo $(ARGS)

test: $(VENV)/.dev ## What needs nothing but Python; the rest says why it was skipped
	$(BIN)/python -m pytest -n 2 -m "not browser and not docker and not vllm and not services" $(ARGS)

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
