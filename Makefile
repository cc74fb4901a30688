# Everything one does with this repository. `make` alone lists it.
PYTHON ?= python3
UV_VERSION := 0.13.9
PORT ?= 8000

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n 2
QUICK := not slow and not notebook and not site
RESOLVE := .uv/bin/uv pip compile pyproject.toml --generate-hashes --no-emit-index-url --no-header --quiet \
	$(if $(UPGRADE),--upgrade)

.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE  # tests are compiled once, not in every run
.PHONY: help env book test unit lint coverage execute serve pdf benchmark lock binder vendor clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env:  ## make .venv, or leave it if it is current; the others ask for it
	@$(PYTHON) .ci/environment.py

book: env  ## build the site (only if something changed) and print the page to open
	@$(BIN)/python .ci/book.py

test: unit  ## everything: style, unit tests, every notebook re-executed and compared, the site in a real browser
	@$(BIN)/python .ci/book.py --fresh
	$(PYTEST) --dist loadfile tests book --ignore=book/_ext -m "slow or notebook or site" --nbval --nbval-current-env

unit: lint  ## the quick part: style, unit tests, doctests
	$(PYTEST) --dist worksteal -m "$(QUICK)"

lint: env
	$(BIN)/python -m ruff check .
	@$(BIN)/python .ci/guards.py

coverage: env  ## which lines of the package the unit tests and doctests reach
	$(BIN)/python -m coverage run -m pytest -m "$(QUICK)" -q
	$(BIN)/python -m coverage report

execute: env  ## run all notebooks and store their outputs (NOTEBOOKS="book/..." for some)
	@$(BIN)/python .ci/execute.py $(NOTEBOOKS)

serve: book  ## build the site and serve it on this machine (PORT=8000)
	@echo "http://127.0.0.1:$(PORT)/ (stop with Ctrl+C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

pdf: book  ## print the book to _build/rlmkb.pdf
	@$(BIN)/python .ci/pdf.py

benchmark: book  ## measure first view and reaction of the site in the browser (OPTIONS="--all --line")
	@$(BIN)/python .ci/benchmark.py $(OPTIONS)

lock: .uv/bin/uv  ## resolve the dependencies again (UPGRADE=1: to their newest versions)
	$(RESOLVE) --extra test --universal --fork-strategy fewest --output-file requirements.txt
	$(RESOLVE) --extra binder --constraints requirements.txt \
		--python-version 3.11 --python-platform x86_64-manylinux_2_28 --output-file binder/requirements.txt

.uv/bin/uv: Makefile
	$(PYTHON) -m venv --clear .uv
	.uv/bin/python -m pip install --quiet uv==$(UV_VERSION)
	@touch $@

binder:  ## make the Binder environment in a temporary folder and check every notebook in it
	@$(PYTHON) .ci/binder.py

vendor: env  ## copy the browser libraries locked in .ci/vendor to book/_static/vendor (needs npm)
	$(BIN)/python .ci/vendor.py

clean:  ## remove what make made
	rm -rf .venv .uv _build .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
