# What a person or CI does with this repository. Nothing is needed but make and Python 3.11, 3.12 or 3.13 with venv.
#
#   make setup        the environment in .venv, from hash-locked requirements; the targets below call it
#   make demo         run the main job on embedded defaults; DEMO_ARGS=--once plays the scene once
#   make check        format, lint, types and import contracts
#   make test         all tests but the slow ones
#   make test-slow    the slow ones
#   make format       rewrite the code the way `make check` wants it
#   make lock         renew the hash-locked requirements; LOCK_ARGS=--upgrade takes newer releases
#   make clean        remove the environment and every cache

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_ARGS ?=
TEST_ARGS ?=
LOCK_ARGS ?=

# Without PYTHON=..., the first of these that starts, is of a supported version and can make an environment.
PYTHON ?= python3.13 python3.12 python3.11 python3 python
FITS := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --only-binary :all: --no-emit-index-url \
	--no-emit-find-links --python-version 3.11 --exclude-newer '7 days' --custom-compile-command 'make lock' $(LOCK_ARGS)

.PHONY: help setup demo test test-slow check format lock clean

help:
	@sed -n 's/^#   //p' Makefile

setup: $(READY)

# Runs again when a lock or the project's metadata changed.
$(READY): requirements-dev.txt pyproject.toml
	@rm -f $@
	@for python in $(BIN)/python $(PYTHON); do \
	  if "$$python" -c '$(FITS)' >/dev/null 2>&1; then \
	    echo "setup: $$("$$python" --version) in $(VENV)"; \
	    [ "$$python" = $(BIN)/python ] || "$$python" -m venv --clear $(VENV); \
	    exit $$?; \
	  fi; \
	done; \
	echo "make: no fitting Python found among: $(PYTHON)" >&2; \
	echo "  Needed: Python 3.11, 3.12 or 3.13 with the modules venv and ensurepip" >&2; \
	echo "  (Debian, Ubuntu: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3" >&2; \
	exit 1
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@$(PIP) install --quiet --only-binary :all: --require-hashes -r requirements-dev.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation --no-index --editable .
	@touch $@

demo: $(READY)
	$(BIN)/spillover demo $(DEMO_ARGS)

# One embedded server a worker process; more than eight processes only compete for it.
test: $(READY)
	$(BIN)/pytest -n auto --maxprocesses 8 -m 'not slow' $(TEST_ARGS)

test-slow: $(READY)
	$(BIN)/pytest -m slow $(TEST_ARGS)

check: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(READY)
	$(COMPILE) pyproject.toml --output-file requirements.txt
	$(COMPILE) pyproject.toml --extra dev --constraint requirements.txt --output-file requirements-dev.txt
	echo hatchling | $(COMPILE) - --constraint requirements-dev.txt --output-file requirements-build.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo-out dist
	find . -name __pycache__ -not -path './node_modules/*' -prune -exec rm -rf {} +
