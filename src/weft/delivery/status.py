"""What a job does in, a file that tells it out: so that others can ask for it while it runs, and when it has ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics
from weft.delivery.output import RECORDS, is_held
from weft.durable import write_atomically
from weft.errors import ConfigurationError

#: "killed" is nowhere written: it is what "running" means when nobody holds the lock.
JobState = Literal["starting", "running", "done", "failed", "interrupted", "killed"]
_FILE = "status.json"


@dataclass(frozen=True, slots=True)
class Status:
    """How far a job is."""

    state: JobState
    is_stream: bool
    process: int
    lock: str  # the folder whose lock is held while it runs
    started: float  # seconds since 1970
    updated: float
    batches: int = 0
    documents: int = 0
    rejected: int = 0
    messages: int = 0
    version: int | None = None  # of the subscriptions
    error: str | None = None


class StatusFile:
    """Writes the status of one job; a disk that is full stops no job because of it."""

    def __init__(self, job: Job, is_stream: bool) -> None:
        self._file = job.output / RECORDS / _FILE
        lock = job.checkpoint_folder / "weft" if is_stream else (job.output / RECORDS).absolute()
        now = time.time()
        self._status = Status("starting", is_stream, os.getpid(), str(lock), now, now)
        self._write()

    def tell(self, state: JobState, error: str | None = None) -> None:
        """The job is in another state."""
        self._status = replace(self._status, state=state, error=error, updated=time.time())
        self._write()

    def add(self, batch: BatchMetrics) -> None:
        """A batch is done."""
        before = self._status
        self._status = replace(
            before,
            batches=before.batches + 1,
            documents=before.documents + batch.documents,
            rejected=before.rejected + (batch.rejected or 0),
            messages=before.messages + batch.messages,
            version=batch.version,
            updated=time.time(),
        )
        self._write()

    def add_all(self, batches: Iterable[BatchMetrics]) -> None:
        """Batches are done."""
        for batch in batches:
            self.add(batch)

    def _write(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps(asdict(self._status)), is_synced=False)
        except OSError:
            return


def read_status(output: Path) -> Status:
    """The status of the job that writes, or wrote, to an output; raises ConfigurationError if there is none."""
    file = output / RECORDS / _FILE
    try:
        status = Status(**json.loads(file.read_bytes()))
    except FileNotFoundError:
        raise ConfigurationError(f"{output}: expected the output of weft run, found no {RECORDS}/{_FILE}") from None
    except (ValueError, TypeError):
        raise ConfigurationError(f"{file}: expected the status of a job") from None
    is_over = status.state in ("done", "failed", "interrupted")
    return status if is_over or is_held(Path(status.lock)) or _is_there(status) else replace(status, state="killed")


def _is_there(status: Status) -> bool:
    """Whether a job that starts, and holds no lock yet, is still a process of this machine."""
    if status.state != "starting":
        return False
    try:
        os.kill(status.process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
