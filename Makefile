# Every target makes .venv with all it needs first; a fresh machine needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
CLASSES := .cache/spark.jsa
KAFKA := .cache/kafka

# How long the habits take: make fuzz SECONDS=600 SEED=1 (or CASES=1000000 of each kind, CHECKED=1), make soak MINUTES=60, make kill TIMES=10.
SECONDS ?= 60
MINUTES ?= 9
TIMES ?= 3
FUZZ := PYTHONPATH=tests $(BIN)/python -m fuzz

# The tests start hundreds of processes: each would compile all of weft anew where nothing may keep what is compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test kafka test-kafka test-matrix test-fast coverage check style types house bench docs dist fuzz soak kill nightly clean

demo: $(READY)  ## run the main job on the examples
	@echo "A few hundred news items, payments and feed entries, three of them broken, into build/inbox:"
	$(BIN)/python examples/make_inbox.py --output build/inbox
	@echo "XPath, FLWR and XSCL subscriptions over them, on Spark:"
	$(BIN)/weft run --subscriptions examples/demo.jsonl --documents build/inbox --output build/demo --overwrite
	@echo "Three of the messages, and the documents that could not be read:"
	$(BIN)/weft show build/demo --limit 3
	$(BIN)/weft show build/demo --rejected
	@echo "Payments that belong together: what was paid twice, and came back:"
	$(BIN)/weft show build/demo --subscription paid-twice --limit 2
	@echo "The same without Spark, on single documents:"
	$(BIN)/weft match examples/digests examples/news/001.xml
	@echo "One of them routed through three servers, with a header that saves parsing:"
	$(BIN)/weft network simulate examples/network/news.toml --documents examples/news/002.xml
	@echo "A query server over the three folders: what is worth storing, and its effect:"
	rm -rf build/views
	for source in "examples/news --name news" examples/payments examples/feeds; do \
	  $(BIN)/weft sources add $$source --processing-rate 200kB --transmission-rate 100kB --latency 50ms --store build/views; done
	@$(BIN)/weft query '/news/head//agency' --explain --store build/views 2>&1 > /dev/null
	@$(BIN)/weft views materialize --workload examples/queries.txt --budget 100kB --store build/views | tail -2
	@$(BIN)/weft query '/news/head//agency' --explain --store build/views 2>&1 > /dev/null
	@echo "Next: docs/tutorial.md, docs/spark.md, $(BIN)/weft --help, $(BIN)/weft show build/demo --subscription ID"

# Tests on Spark wait more than they compute: two more processes than there are cores keep these busy.
test: $(READY) $(CLASSES)  ## all tests, on all cores
	$(BIN)/python tools/kafka/fetch.py $(KAFKA)
	$(BIN)/python -m pytest -n $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2))) --dist worksteal

kafka: $(READY)  ## a broker on loopback, at PORT if that is given, until interrupted
	$(BIN)/python tools/kafka/fetch.py $(KAFKA)
	@test -e $(KAFKA)/versions && $(BIN)/python tools/kafka/broker.py $(KAFKA) $(PORT)

test-kafka: $(READY)  ## the tests with Kafka in their long form: ten kills, a broker that is away for a minute
	$(BIN)/python tools/kafka/fetch.py $(KAFKA)
	WEFT_NIGHTLY=1 $(BIN)/python -m pytest tests/spark/test_kafka.py

test-matrix: $(READY)  ## the core set on each PySpark from 3.5 on; VERSIONS="4.0.0 4.3.0" chooses
	$(BIN)/python tools/matrix.py .cache/matrix $(VERSIONS)

FAST := -m "not slow and not spark" --ignore=tests/spark --hypothesis-profile=fast

test-fast: $(READY)  ## no Spark, nothing slow, fewer generated examples
	$(BIN)/python -m pytest -n auto --dist worksteal $(FAST)

coverage: $(READY)  ## what the tests of test-fast reach: the total, and file by file in build/coverage
	$(BIN)/python -m pytest -n auto --dist worksteal $(FAST) --cov --cov-report=term --cov-report=html

check: style types house  ## style, types, import direction

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

house: $(READY)
	$(BIN)/python -m pytest tests/unit/test_house.py

bench: $(READY)  ## the experiments of the papers, quickly
	$(BIN)/python -m bench filtering --quick
	$(BIN)/python -m bench core --quick
	$(BIN)/python -m bench brokering --quick
	$(BIN)/python -m bench pipeline --quick
	$(BIN)/python -m bench joins --quick
	$(BIN)/python -m bench materialized_views --quick
	$(BIN)/python -m bench stream_views --quick
	$(BIN)/python -m bench in_or_out --quick
	$(BIN)/python -m bench languages --quick
	$(BIN)/python -m bench --compare --quick

docs: $(READY)  ## all pages and the API reference as a site in build/site; a broken link fails
	$(BIN)/python docs/build.py

dist: $(READY)  ## what a release consists of, in build/dist
	$(BIN)/python -m build --outdir build/dist

fuzz: $(READY)  ## mutated documents, queries, archives, checkpoints and rows against oracles, for SECONDS
	$(FUZZ) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(KINDS),--kinds $(KINDS)) $(if $(CASES),--cases $(CASES)) \
	  $(if $(CHECKED),--checked)

soak: $(READY)  ## a broker under a load made to fill its memory, for MINUTES: table, and plot in build/soak
	$(FUZZ).soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

kill: $(READY)  ## kill streams and sinks in the middle of batches, TIMES times: nothing is lost or doubled
	for time in $$(seq $(TIMES)); do $(BIN)/python -m pytest tests -k kill || exit 1; done

nightly: $(READY)  ## the long form of everything: hours
	$(MAKE) check test
	$(MAKE) fuzz SECONDS=3600
	$(FUZZ) --kinds headers --cases 100000 --seconds 14400
	$(FUZZ) --kinds documents --cases 1000000 --seconds 14400
	$(FUZZ) --kinds evaluation --cases 100000 --seconds 14400
	$(FUZZ) --kinds documents,queries,evaluation --cases 200000 --seconds 14400 --checked
	WEFT_HUGE=1 $(BIN)/python -m pytest tests/unit/documents/test_large_documents.py
	$(MAKE) soak MINUTES=30
	$(MAKE) kill TIMES=10
	$(MAKE) test-kafka test-matrix
	WEFT_KILLS=20 $(BIN)/python -m pytest tests/spark/test_joins_kill.py
	$(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile=thorough tests/properties tests/agreement

$(READY): pyproject.toml setup.py constraints.txt $(wildcard src/weft/kernel/*.c src/weft/kernel/*.py src/weft/kernel/*.pxd)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[spark,delta,operations,views,bench,docs,dev]"
	touch $@

# Half a minute once, and Java starts in half the time in the dozens of processes that the tests of Spark start.
$(CLASSES): $(READY)
	$(BIN)/python tests/spark_classes.py $@ > /dev/null

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build
