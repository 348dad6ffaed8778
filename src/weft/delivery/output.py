"""An output folder in, the right to write there out: whose messages it has, and whether that run finished.

OUTPUT/_weft/job.json           the checkpoint whose stream writes here, or none for a batch; the format; the end
OUTPUT/_weft/lock               held while a batch runs
CHECKPOINT/weft/identity        the name of a checkpoint, which its output has too
CHECKPOINT/weft/lock            held while its stream runs
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from weft.durable import Seal, read_sealed, write_sealed
from weft.errors import ConfigurationError

#: How messages are written.
Format = Literal["parquet", "json", "files", "delta"]
#: The same of a run, whose messages may also have gone to topics.
RunFormat = Format | Literal["kafka"]
#: What becomes of a document that cannot be read: Spark's words.
Mode = Literal["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]
#: The folders of an output.
MESSAGES, REJECTED, RECORDS = "messages", "rejected", "_weft"
_ADVICE = "bring it back as it was, or begin with another output and checkpoint"
_JOB, _CHECKPOINT = Seal("job", 1, _ADVICE), Seal("checkpoint", 1, _ADVICE)


def as_mode(mode: str) -> Mode:
    """A mode in whatever case, as Spark takes it; raises ConfigurationError for what is none.

    >>> as_mode("failFast")
    'FAILFAST'
    """
    for known in get_args(Mode):
        if known == mode.upper():
            return cast(Mode, known)
    raise ConfigurationError(f"mode: expected one of {', '.join(get_args(Mode))}, found {mode!r}")


@dataclass(frozen=True, slots=True)
class Record:
    """What is written down of a run in its output."""

    stream: str | None  # the name of its checkpoint; a batch has none
    format: RunFormat
    is_finished: bool = False  # of a batch; a stream always goes on


def read_record(output: Path) -> Record | None:
    """The record of the run that wrote to an output; raises ConfigurationError if it is damaged."""
    file = _file(output)
    try:
        known = json.loads(read_sealed(file, _JOB))
        if not isinstance(known["stream"], str | None) or known["format"] not in (*get_args(Format), "kafka"):
            raise ValueError
        return Record(**known)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError):
        raise ConfigurationError(f"{file}: expected the record of a run; {_ADVICE}") from None


def claim(output: Path, record: Record, *, overwrite: bool, checkpoint: Path) -> None:
    """Write down who writes here now. Messages of another run stay, unless told otherwise or it did not finish."""
    try:
        known = read_record(output)
        if known is not None and record.stream is not None and known.stream == record.stream:
            _check_goes_on(output, record, known, overwrite, checkpoint)
        elif known is not None:
            if not overwrite and (known.stream is not None or known.is_finished):
                advice = "choose another, or --overwrite"
                advice += "" if record.stream is None else ", or its own --checkpoint"
                raise ConfigurationError(f"{output}: has the messages of another run already; {advice}")
            _write(output, Record(None, record.format))  # what is removed now is nobody's, wherever this is killed
            for folder in (output / MESSAGES, output / REJECTED):
                if folder.exists():
                    shutil.rmtree(folder)
        _write(output, record)
    except OSError as error:
        raise ConfigurationError(f"{output}: cannot write there: {error.strerror}") from None


def finish(output: Path, record: Record) -> None:
    """The messages of a batch are all there."""
    _write(output, Record(record.stream, record.format, is_finished=True))


def name_of_checkpoint(folder: Path) -> str:
    """The name of a checkpoint, given to it when it is first asked for."""
    file = folder / "weft" / "identity"
    if not file.exists():
        write_sealed(file, _CHECKPOINT, uuid.uuid4().hex)
    return read_sealed(file, _CHECKPOINT).decode()


@contextmanager
def alone(folder: Path, told: str) -> Iterator[None]:
    """Hold a folder's lock, or tell that another has it; it is let go when the process ends, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise ConfigurationError(f"{folder.parent}: cannot write there: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise ConfigurationError(f"{folder.parent}: {told}") from None
    try:
        yield
    finally:
        os.close(lock)


def is_held(folder: Path) -> bool:
    """Whether somebody holds a folder's lock."""
    try:
        lock = os.open(folder / "lock", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _check_goes_on(output: Path, record: Record, known: Record, overwrite: bool, checkpoint: Path) -> None:
    """A stream goes on where it was, and as it was."""
    if overwrite:
        advice = f"to begin anew, remove {checkpoint}"
        raise ConfigurationError(f"{output}: the stream goes on from its checkpoint, not --overwrite; {advice}")
    if record.format != known.format:
        raise ConfigurationError(f"{output}: expected --format {known.format}, as before, found {record.format}")


def _write(output: Path, record: Record) -> None:
    write_sealed(_file(output), _JOB, json.dumps(asdict(record)))


def _file(output: Path) -> Path:
    return output / RECORDS / "job.json"
