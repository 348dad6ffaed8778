"""What `weft run` is told, as one value: what is read, what is written, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from weft.delivery.metrics import Metrics
from weft.delivery.output import Format, Mode, RunFormat
from weft.delivery.topics import Topics

#: Seconds that a document may come late in a stream. It costs state, not time: nothing waits for late documents.
LATENESS = 600.0
#: Seconds that a document may be dated ahead of the clock in a stream; later ones would all be late behind it.
AHEAD = 86_400.0


@dataclass(frozen=True, slots=True)
class Job:
    """What `weft run` is told; option names are Spark's where Spark has one."""

    subscriptions: Path
    documents: Path | Topics
    output: Path
    mode: Mode = "PERMISSIVE"
    format: Format = "parquet"
    row_tag: str | None = None
    ignore_namespaces: bool = False
    max_files_per_trigger: int = 1000
    checkpoint: Path | None = None
    overwrite: bool = False
    lateness: float = LATENESS
    ahead: float = AHEAD
    optimizer: Literal["greedy", "fixed"] = "greedy"  # what brings conditions up: see `weft.Broker`
    namespaces: Mapping[str, str] = field(default_factory=dict)  # what prefixes mean in queries and paths
    timestamp: str | None = None  # a path inside documents, or "clock"; else the time of the file
    id: str | None = None  # a path inside documents; else the path of the file
    schema: Path | None = None  # of XML Schema
    limits: Sequence[str] = ()  # such as max_bytes=1000: see `weft.Limits`
    target: Topics | None = None  # where messages go; else into the output
    dead_letters: str | None = None  # the topic for rejected documents, beside the target
    views: Path | None = None  # configurations of the headers `weft-views` that records bring
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def checkpoint_folder(self) -> Path:
        """Where a stream remembers how far it is."""
        return (self.checkpoint or self.output / "checkpoint").absolute()

    @property
    def dead_letter_topic(self) -> str:
        """The topic for rejected documents."""
        assert self.target is not None, "without a target they go into the output"
        return self.dead_letters or f"{self.target.names[0]}.rejected"

    @property
    def written(self) -> RunFormat:
        """How messages are written, for the record of the run."""
        return self.format if self.target is None else "kafka"
