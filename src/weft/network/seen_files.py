"""Documents that came before to a server that may be killed: which are new in a batch, also when it runs again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from weft.durable import Seal, read_sealed, write_sealed
from weft.errors import ConfigurationError
from weft.network.seen import LATEST

_ADVICE = "bring it back as it was, or begin with another output"
_SEEN = Seal("seen", 1, _ADVICE)
Key = tuple[str, ...]  # what tells a document from all others


class SeenFiles:
    """A file for each batch with the documents that came then for the first time; the latest so many are remembered.

    What a batch finds new depends on the batches before it alone. So a batch that runs again finds the same.
    """

    def __init__(self, folder: Path, latest: int = LATEST) -> None:
        self._folder, self._latest = folder, latest
        self._batches: dict[int, list[str]] = {}  # by batch, the smallest first

    def new(self, batch: int, keys: Iterable[Key]) -> set[Key]:
        """Those of the keys that come for the first time; when this returns it is written down."""
        self._load(batch)
        known = {mark for marks in self._batches.values() for mark in marks}
        found = {key: _mark(key) for key in sorted(set(keys))}
        new = {key for key, mark in found.items() if mark not in known}
        self._batches[batch] = sorted(found[key] for key in new)
        write_sealed(self._file(batch), _SEEN, json.dumps(self._batches[batch]))
        self._forget()
        return new

    def _load(self, batch: int) -> None:
        """The batches before this one; what a batch that runs again wrote is not before it."""
        for file in sorted(self._folder.glob("*.json")):
            number = int(file.stem)
            if number < batch and number not in self._batches:
                self._batches[number] = self._read(file)
        self._batches = {number: marks for number, marks in sorted(self._batches.items()) if number < batch}

    def _read(self, file: Path) -> list[str]:
        try:
            found = json.loads(read_sealed(file, _SEEN))
            if not isinstance(found, list):
                raise ValueError
        except ValueError:
            raise ConfigurationError(f"{file}: expected the documents of a batch; {_ADVICE}") from None
        return found

    def _forget(self) -> None:
        """The oldest batches go while the others have enough; the last two stay, for the last may run again."""
        number = sum(map(len, self._batches.values()))
        for batch in list(self._batches)[:-2]:
            number -= len(self._batches[batch])
            if number < self._latest:
                break
            del self._batches[batch]
            self._file(batch).unlink(missing_ok=True)

    def _file(self, batch: int) -> Path:
        return self._folder / f"{batch:08d}.json"


def _mark(key: Key) -> str:
    return blake2b("\0".join(key).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
