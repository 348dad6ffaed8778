"""The queries that a server is asked in, the workload that they are out: each counts less as time goes by.

A query's count halves with every half-life. The record is bounded: when it is full, the query that counts least leaves.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from math import log, log2
from pathlib import Path
from threading import Lock

from weft.durable import Seal, read_sealed, write_sealed
from weft.errors import ConfigurationError, WeftError
from weft.plans.plan import Selection
from weft.plans.write import write_xpath
from weft.views.workload import Workload, WorkloadQuery, make_query, workload_of

_SEAL = Seal("query-record", 1, "delete it: the server begins a new one")
_RecordKey = tuple[str, tuple[tuple[str, str], ...]]  # a query's text and its namespaces


class QueryRecord:
    """A record in a file; without one it is in memory alone. Times are seconds, whichever clock they are from.

    What is noted is on the disk after so many notes, and whenever it is saved, beside what other processes noted. A
    file that is damaged stays as it is: nothing is noted any more, and `damage` says why.
    """

    def __init__(self, file: Path | None, half_life: float, most: int = 10_000, save_every: int = 100) -> None:
        if not half_life > 0 or most < 1 or save_every < 1:
            found = f"{half_life}, {most} and {save_every}"
            raise ConfigurationError(f"expected a half-life, a size and an interval above 0, found {found}")
        self._file, self._half_life, self._most, self._save_every = file, half_life, most, save_every
        # By query the logarithm of what it counts at time 0: it grows with time as counts fade, so no count is touched.
        self._weights: dict[_RecordKey, float] = {}
        self._unsaved: list[tuple[_RecordKey, float]] = []
        self._lock = Lock()
        self.damage: ConfigurationError | None = None
        self._load()
        self._shrink()

    def _load(self) -> bool:
        """Take what is in the file, if it is there; return whether it can be written."""
        try:
            if self._file is not None and self._file.exists():
                self._weights = _loaded(self._file)
        except ConfigurationError as error:
            self.damage = error
        return self.damage is None

    @property
    def memory(self) -> float:
        """The seconds over which queries are counted: as many as one that is asked every second comes to."""
        return self._half_life / log(2)

    def note(self, text: str, now: float, namespaces: Mapping[str, str] | None = None) -> None:
        """A query was asked."""
        key = (text, tuple(sorted((namespaces or {}).items())))
        with self._lock:
            self._add(key, now / self._half_life)
            self._unsaved.append((key, now / self._half_life))
            is_due = len(self._unsaved) >= self._save_every
        if is_due:
            self.save()

    def _add(self, key: _RecordKey, asked: float) -> None:
        known = self._weights.get(key)
        self._weights[key] = asked if known is None else max(known, asked) + log2(1 + 2 ** -abs(known - asked))
        self._shrink(key)

    def _shrink(self, newest: _RecordKey | None = None) -> None:
        """Let go of what counts least, but not of the query that has just come."""
        while len(self._weights) > self._most:
            others = (key for key in self._weights if key != newest)
            del self._weights[min(others, key=lambda key: self._weights[key], default=newest)]  # type: ignore[arg-type]

    def workload(self, now: float) -> Workload:
        """What is asked, with frequencies a second; a query has the same name every time."""
        if self.damage is not None:
            raise self.damage
        with self._lock:
            weights = dict(self._weights)
        queries: list[WorkloadQuery] = []
        for (text, namespaces), weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            count = 2.0 ** min(weight - now / self._half_life, 1000.0)
            try:
                name = query_name(text, dict(namespaces))
                queries.append(make_query(text, count / self.memory, name, dict(namespaces)))
            except WeftError:  # asked of a server that could still read it
                continue
        return workload_of(queries)

    def save(self) -> None:
        """Write what was noted since the last time to the file, beside what other processes wrote there."""
        with self._lock:
            if self._file is not None and self._unsaved:
                with _changing(self._file):
                    self._write(self._file)
            self._unsaved = []

    def _write(self, file: Path) -> None:
        is_there = file.exists()
        if not self._load():
            return
        if is_there:
            for key, asked in self._unsaved:
                self._add(key, asked)
        entries = [[text, dict(namespaces), weight] for (text, namespaces), weight in self._weights.items()]
        write_sealed(file, _SEAL, json.dumps(entries))


@contextmanager
def _changing(file: Path) -> Iterator[None]:
    """Be the only process that changes a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_name(f"{file.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def query_name(text: str, namespaces: Mapping[str, str] | None = None) -> str:
    """A name for a query that has none, the same for the same text."""
    written = json.dumps([text, sorted((namespaces or {}).items())])
    return f"q-{blake2b(written.encode(), digest_size=6).hexdigest()}"


def written_query(selection: Selection, frequency: float = 1.0) -> WorkloadQuery:
    """A query as XPath, under a name that is the same every time."""
    text, namespaces = write_xpath(selection)
    return WorkloadQuery(text, selection, frequency, query_name(text, namespaces), tuple(sorted(namespaces.items())))


def _loaded(file: Path) -> dict[_RecordKey, float]:
    try:
        entries = json.loads(read_sealed(file, _SEAL))
        return {(text, tuple(sorted(namespaces.items()))): float(weight) for text, namespaces, weight in entries}
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{file}: expected a record of queries, found {error}; {_SEAL.advice}") from error
