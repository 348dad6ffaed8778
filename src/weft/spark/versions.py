"""A subscription file that may change in; for each micro-batch the version it runs with out, the same on a replay."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

from weft.broker.subscriptions import Subscription, load_subscriptions, write_subscription
from weft.durable import Seal, read_sealed, write_sealed
from weft.errors import ConfigurationError, WeftError
from weft.spark.compiled import Compiled

Compile = Callable[[Path | list[Subscription], int], Compiled]
Stamp = tuple[tuple[str, int, int, int], ...]
_LOG = logging.getLogger(__name__)
_ADVICE = "bring it back as it was, or begin with another checkpoint and output"
_BATCH, _VERSION = Seal("batch", 1, _ADVICE), Seal("subscriptions", 1, _ADVICE)


class Versions:
    """The versions of a subscription file or folder, numbered from 1, kept in a folder beside the checkpoint.

    A micro-batch that has run once always runs with the version that it had then: `batch.json` says which, and
    `versions/` has its subscriptions. A new version that cannot be read is reported once and refused: the old one
    goes on.
    """

    def __init__(
        self, source: Path, folder: Path, compile: Compile, report: Callable[[ConfigurationError], object]
    ) -> None:
        self._source, self._folder, self._compile, self._report = source, folder, compile, report
        self._current: Compiled | None = None
        self._seen: Stamp | None = None  # the file as it was when we last looked

    def check(self) -> Compiled:
        """The version to begin with; raises ConfigurationError if there is none, before anything is started."""
        recorded = self._recorded()
        if recorded is None:
            self._look_for_new()
        else:
            self._current = self._stored(recorded["version"])
        assert self._current is not None
        return self._current

    def current(self) -> Compiled:
        """The version that the last micro-batch had, or the next one begins with."""
        return self._current or self.check()

    def for_batch(self, batch: int) -> Compiled:
        """The version for a micro-batch; raises ConfigurationError if there has never been one that could be read."""
        if self._current is None:
            self.check()
        recorded = self._recorded()
        if recorded is not None and self._current is not None and recorded["version"] != self._current.version:
            self._current = self._stored(recorded["version"])  # another process has seen it
        if recorded is None or recorded["batch"] != batch:
            self._look_for_new()
            assert self._current is not None
            record = json.dumps({"batch": batch, "version": self._current.version})
            write_sealed(self._folder / "batch.json", _BATCH, record)
        assert self._current is not None
        return self._current

    def _look_for_new(self) -> None:
        stamp = _stamp(self._source)
        if stamp == self._seen and self._current is not None:
            return
        self._seen = stamp
        number = 1 if self._current is None else self._current.version + 1
        try:
            broken: list[WeftError] = []  # compiling tells all that is wrong
            entries = load_subscriptions(self._source, on_error=broken.append)
            text = "".join(write_subscription(entry) + "\n" for entry in entries)
            if not broken and self._current is not None and text == self._text(self._current.version):
                return
            compiled = self._compile(self._source, number)
        except WeftError as error:
            found = error if isinstance(error, ConfigurationError) else ConfigurationError(str(error))
            if self._current is None:
                raise found from None
            self._report(found)
            return
        write_sealed(self._file(number), _VERSION, text)
        self._current = compiled
        _LOG.debug("%s: version %d, %d subscriptions", self._source, number, compiled.count)

    def _recorded(self) -> dict[str, int] | None:
        file = self._folder / "batch.json"
        try:
            recorded = json.loads(read_sealed(file, _BATCH))
            return {name: _whole(recorded[name]) for name in ("batch", "version")}
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            raise ConfigurationError(f"{file}: expected a batch and its version; {_ADVICE}") from None

    def _stored(self, version: int) -> Compiled:
        file = self._file(version)
        lines = enumerate(self._text(version).split("\n")[:-1], start=1)  # other line ends may stand in strings
        try:
            entries = [Subscription(**json.loads(line), place=f"{file}:{number}") for number, line in lines]
        except (ValueError, TypeError):
            raise ConfigurationError(f"{file}: expected subscriptions; {_ADVICE}") from None
        return self._compile(entries, version)

    def _text(self, version: int) -> str:
        try:
            return read_sealed(self._file(version), _VERSION).decode()
        except FileNotFoundError:
            raise ConfigurationError(f"{self._file(version)}: gone; {_ADVICE}") from None

    def _file(self, version: int) -> Path:
        return self._folder / "versions" / f"{version:06d}.jsonl"


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _stamp(source: Path) -> Stamp:
    """What changes when somebody writes the file, or a file of the folder."""
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    found = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue  # gone: the file that is not there is told when it is read
        found.append((file.name, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)
