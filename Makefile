# Every target makes .venv with all it needs first; a fresh machine needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test check bench clean

demo: $(READY)  ## run the main job on the examples
	@echo "Which of the subscriptions in examples/subscriptions.xpath match which news items:"
	$(BIN)/weft match --ids examples/subscriptions.xpath examples/news
	@echo "The nodes that payment subscriptions select:"
	$(BIN)/weft match examples/payments.jsonl examples/payments/001.xml examples/payments/002.xml
	@echo "The messages that the FLWR subscriptions in examples/digests build:"
	$(BIN)/weft match examples/digests examples/news/001.xml examples/news/002.xml examples/news/003.xml
	@echo "Next: docs/tutorial.md, $(BIN)/weft --help, $(BIN)/weft explain examples/subscriptions.xpath examples/news"

test: $(READY)  ## all tests, on all cores
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)  ## style, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/unit/test_house.py

bench: $(READY)  ## the experiments of the papers, quickly
	$(BIN)/python -m bench filtering --quick
	$(BIN)/python -m bench brokering --quick

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[spark,bench,dev]"
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build
