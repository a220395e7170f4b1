# Two commands: `make demo` and `make test`. Everything they need, they install themselves.
.PHONY: demo test check proof bench docs dist lock browser clean help style types tests
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; set PYTHON to choose another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UNIT := not broker and not spark and not browser
# Files of tests side by side, in the order of tests/scheduling.py: each process has a broker and a Spark of its own
# for all tests that may share one. Half of a test with a broker is waiting, so there are more than two cores need;
# unit tests compute. See docs/decisions/0037.
BESIDE := --dist loadfile --no-loadscope-reorder

help:  ## show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

demo: $(VENV)/.run  ## a small end-to-end test on an embedded Kafka, with its report
	$(BIN)/streamgauge e2e --producers 2 --consumers 2 --messages 10000 --rate 2000

test: $(VENV)/.dev browser  ## every test, against a real broker and a real browser
	@$(MAKE) --no-print-directory style
	@$(MAKE) --no-print-directory --jobs 2 types tests

check: $(VENV)/.dev  ## the quick gate: format, lint, types, layers, unit tests
	@$(MAKE) --no-print-directory style types
	$(BIN)/pytest -n 2 $(BESIDE) -m "$(UNIT)"

proof: $(VENV)/.dev  ## the long proofs, of which `make test` has a small version
	STREAMGAUGE_PROOF=1 $(BIN)/pytest -m proof --timeout 3600

bench: $(VENV)/.dev  ## the project's own benchmark: ratios from one run
	$(BIN)/python -m bench

docs: $(VENV)/.dev  ## the docs site, in site/; a dead link or a missing page is an error
	$(BIN)/python -m tools.docs_reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo site/index.html

dist: $(VENV)/.dev  ## wheel and source archive in dist/, as PyPI takes them
	rm -rf dist build
	$(BIN)/python -c "import setuptools.build_meta as b; b.build_sdist('dist')"
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python -m twine check --strict dist/*

lock: $(VENV)/.dev  ## renew the locked requirements
	$(PIP) uv
	$(BIN)/uv pip compile --universal --generate-hashes --no-header -q --no-strip-extras --upgrade --extra build --extra all \
		pyproject.toml -o requirements/run.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-header -q --no-strip-extras --upgrade --extra build --extra all \
		--extra dev \
		pyproject.toml -o requirements/dev.lock

style:
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types:
	$(BIN)/mypy && $(BIN)/lint-imports

tests:
	$(BIN)/pytest -n 4 $(BESIDE) --second-tries

browser:
	@tools/ensure_browser.sh

clean:  ## remove the virtual environment and caches, but no runs
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.run: requirements/run.lock pyproject.toml setup.py $(shell find src -name '*.[ch]')
	@test -n "$(PYTHON)" || { echo "streamgauge needs Python 3.11 or newer; none was found on PATH" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/run.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.lock
	$(PIP) --require-hashes -r requirements/dev.lock
	@touch $@
