# Every target makes .venv with all it needs first; a fresh machine needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test check bench clean

demo: $(READY)  ## run the main job on the examples
	$(BIN)/weft match examples/subscriptions.xpath examples/news --ids
	@echo "Next: $(BIN)/weft --help, docs/tutorial.md, or the messages themselves: leave out --ids."

test: $(READY)  ## all tests, on all cores
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)  ## style, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/unit/test_house.py

bench: $(READY)  ## the experiments of the papers, quickly
	$(BIN)/python -m bench filtering --quick

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench,dev]"
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build
