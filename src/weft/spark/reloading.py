"""A subscription file in, for each micro-batch of a user's own stream the version that it runs with out.

A function for `mapInArrow` is fixed when a stream starts, so workers look at the file themselves, once a micro-batch:
the first task of a batch writes down which version the batch has, and all others, and the same batch when it runs
again, take that one. So the file, and the folder of the versions, must be where all workers see them under one path.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark import TaskContext

from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.optimizer.adapting import Retrieval
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.versions import Versions

_LOG = logging.getLogger(__name__)
_BATCH, _QUERY = "streaming.sql.batchId", "sql.streaming.queryId"  # Spark's own names
_known: dict[tuple[str, str], Versions] = {}  # of this worker process, by file and query


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Where the subscriptions come from, and how they are compiled; `folder` is where versions are kept."""

    source: Path = Path()
    folder: Path = Path()
    ignore_namespaces: bool = False
    limits: Limits | None = None
    dtd: Dtd | None = None
    headers: Configurations = ()
    optimizer: Retrieval = "greedy"
    namespaces: Mapping[str, str] = field(default_factory=dict)

    def compile(self, subscriptions: Path | list[Subscription], version: int) -> Compiled:
        """The plans of a version; one with XSCL is refused, for the state of joins is made for what it began with."""
        compiled = compile_subscriptions(
            subscriptions,
            ignore_namespaces=self.ignore_namespaces,
            limits=self.limits,
            dtd=self.dtd,
            version=version,
            headers=self.headers,
            optimizer=self.optimizer,
            namespaces=self.namespaces,
        )
        if compiled.joins is not None:
            raise ConfigurationError(f"{self.source}: XSCL cannot be reloaded: {compiled.joins.told}")
        return compiled

    def current(self, at_start: Compiled) -> Compiled:
        """The plans for the task that runs: in a stream those of its micro-batch, else those that it came with."""
        task = TaskContext.get()
        batch = task.getLocalProperty(_BATCH) if task is not None else None
        if task is None or batch is None:
            return at_start
        query = task.getLocalProperty(_QUERY) or "stream"
        folder = self.folder / query
        known = _known.get((str(self.source), query))
        if known is None:
            known = _known[str(self.source), query] = Versions(self.source, folder, self.compile, _tell)
        with _turn(folder):
            return known.for_batch(int(batch))


def reloading(source: object, folder: str | Path | bool, how: Reloaded) -> Reloaded:
    """The same for a file, whose versions are in a folder that is given, or in `_weft/versions` beside the file."""
    if not isinstance(source, str | Path):
        raise ConfigurationError("reload: expected subscriptions in a file or folder, found others")
    path = Path(source).absolute()
    beside = path.parent / "_weft" / "versions" / path.name
    return replace(how, source=path, folder=beside if isinstance(folder, bool) else Path(folder).absolute())


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One task at a time, of all processes that see the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise ConfigurationError(f"{folder}: cannot keep versions there: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _tell(error: ConfigurationError) -> None:
    _LOG.warning("new subscriptions refused, the old ones go on: %s", error)
