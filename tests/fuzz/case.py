"""A case is what a fuzzer tries; a fuzzer has seeds, words to put into them, and a check that raises on a fault."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
ROOT = CORPUS.parents[1]
_MEMORY = "/dev/shm"


class Case(NamedTuple):
    """Bytes, and how the name of a file of them ends."""

    data: bytes
    suffix: str

    def save(self, kind: str) -> Path:
        """Keep it among the corpus of a kind."""
        path = CORPUS / kind / f"found-{blake2b(self.data, digest_size=6).hexdigest()}{self.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data)
        return path


class Fuzzer(Protocol):
    """One kind of input."""

    words: tuple[bytes, ...]
    most_memory: int  # MB that the process may take

    def seeds(self) -> list[Case]:
        """Inputs to begin with, good ones."""
        ...

    def fresh(self, chance: Random) -> Case:
        """Another good input."""
        ...

    def check(self, case: Case) -> None:
        """Raises whatever is a fault."""
        ...


def scratch() -> Path:
    """A folder that is gone when the process ends; in memory if there is such a place, since each case writes there."""
    folder = tempfile.mkdtemp(prefix="weft-fuzz-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def kept(kind: str) -> list[Case]:
    """The corpus of a kind."""
    paths = sorted((CORPUS / kind).glob("*")) if (CORPUS / kind).is_dir() else []
    return [Case(path.read_bytes(), "".join(path.suffixes)) for path in paths]
