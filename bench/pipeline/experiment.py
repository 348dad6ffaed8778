"""How much the pipeline experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.progress import Progress

from bench.pipeline.cluster import measure_cluster
from bench.pipeline.cores import hold_rounds
from bench.pipeline.documents import read_set, write_sets
from bench.pipeline.kafka import measure_kafka
from bench.pipeline.report import Found, make_report
from bench.pipeline.session import Session
from bench.pipeline.sizes import measure_sizes
from bench.pipeline.stream import measure_stream
from bench.pipeline.xpath import measure_beside
from bench.report import Report


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured, in documents where nothing else is said."""

    warm_up: int = 8_000
    batch: int = 100_000
    rounds: int = 2
    beside: int = 40_000  # for Weft in a round beside xpath_boolean
    few: int = 800  # of them for xpath_boolean
    beside_rounds: int = 2
    beside_predicates: tuple[bool, ...] = (False, True)
    sizes: dict[int, int] = field(  # documents by the number of subscriptions
        default_factory=lambda: {10: 8_000, 100: 8_000, 1_000: 8_000, 10_000: 4_000, 100_000: 2_000}
    )
    files: int = 20_000
    new_files: int = 20
    per_trigger: int = 2_000
    heap: str = "4g"
    java: str = ""  # options for Java


FULL = Effort()
QUICK = Effort(
    warm_up=400,
    batch=2_000,
    rounds=1,
    beside=800,
    few=16,
    beside_rounds=1,
    beside_predicates=(False,),
    sizes={100: 200},
    files=200,
    per_trigger=100,
    heap="2g",
    java="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # starting is most of a quick run: compile less
)


@dataclass(frozen=True, slots=True)
class Sets:
    """The folders of the documents; no two share one."""

    warm_up: Path
    batches: list[Path]
    beside: list[Path]


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """The cores first, while both sessions are up; all else with two."""
    task = progress.add_task("pipeline", total=5 + len(effort.beside_predicates) + len(effort.sizes))

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    with TemporaryDirectory(prefix="weft-bench-") as name:
        folder = Path(name)
        with _session(2, folder, effort) as two:
            with _session(1, folder, effort) as one:
                sets = make_sets(folder / "sets", effort)  # while Spark starts
                advance()
                rounds = hold_rounds(one, two, sets.warm_up, sets.batches)
                advance()
            beside = []
            for predicates in effort.beside_predicates:
                beside.append(measure_beside(two, predicates, sets.warm_up, sets.beside, effort.few))
                advance()
            three = sets.warm_up, sets.batches[0], sets.beside[0]
            points = measure_sizes(two, effort.sizes, three, advance)
            documents = read_set(sets.batches[0])[: effort.files + effort.new_files]
            streamed = measure_stream(two, folder / "stream", documents, effort.new_files, effort.per_trigger)
            advance()
            cluster = measure_cluster(two, folder / "cluster", sets.warm_up, sets.batches[0], effort.java)
            advance()
        kafka = measure_kafka(folder / "kafka", documents, effort.per_trigger, effort.heap, effort.java)
        advance()
    return make_report(Found(rounds, beside, points, streamed, effort.per_trigger, kafka, cluster))


def make_sets(folder: Path, effort: Effort) -> Sets:
    """Write all documents of a run."""
    batches = [f"batch-{number}" for number in range(effort.rounds)]
    beside = [f"beside-{number}" for number in range(effort.beside_rounds)]
    sizes = {"warm-up": effort.warm_up} | dict.fromkeys(batches, effort.batch) | dict.fromkeys(beside, effort.beside)
    write_sets(folder, sizes)
    return Sets(folder / "warm-up", [folder / name for name in batches], [folder / name for name in beside])


@contextmanager
def _session(cores: int, folder: Path, effort: Effort) -> Iterator[Session]:
    session = Session(cores, folder / f"spark-{cores}", effort.heap, effort.java)
    try:
        yield session
    finally:
        session.close()
