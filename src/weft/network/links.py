"""Links between servers that run apart: documents in, batch by batch, and out again, each batch once and as a whole."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from weft.durable import sync

Frame = TypeVar("Frame")


class NetworkLink(Protocol[Frame]):
    """A way for documents from one server to the next, whatever it is made of: a folder, or a topic of Kafka.

    A batch that is written again, because its server was killed before it knew that it was written, changes nothing.
    """

    def read(self) -> Frame:
        """The documents as a stream."""
        ...

    def write(self, batch: int, documents: Frame) -> None:
        """Send the documents of a batch."""
        ...


@dataclass(frozen=True, slots=True)
class BatchFolder:
    """A folder with a folder for each batch, which is there as a whole or not at all: it is written elsewhere first.

    Both must lie on one file system. Who reads needs no lock: what has its name never changes.
    """

    folder: Path
    staged: Path

    def has(self, batch: int) -> bool:
        """Whether a batch is there."""
        return self._place(batch).exists()

    def stage(self, batch: int) -> Path:
        """Where a batch is to be written; what a killed process left there is gone."""
        place = self.staged / _name(batch)
        if place.exists():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def publish(self, batch: int) -> None:
        """What was staged gets its name; when this returns it is on the disk."""
        staged = self.staged / _name(batch)
        for file in staged.iterdir():
            _sync_file(file)
        sync(staged)
        self.folder.mkdir(parents=True, exist_ok=True)
        staged.rename(self._place(batch))
        sync(self.folder)

    @property
    def pattern(self) -> str:
        """The folders of all batches, those to come too, as a pattern of names."""
        return f"{self.folder.absolute()}/{'[0-9]' * _DIGITS}"

    def _place(self, batch: int) -> Path:
        return self.folder / _name(batch)


_DIGITS = 8


def _name(batch: int) -> str:
    return f"{batch:0{_DIGITS}d}"


def _sync_file(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
