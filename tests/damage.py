"""A state file that something has damaged: bytes in, other bytes out; and what may come of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from weft.errors import ConfigurationError


def damage(data: bytes, chance: Random) -> bytes:
    """Some bytes changed, lost or added, or lines swapped, doubled or lost, or a path that leads out of its folder."""
    lines = data.splitlines(keepends=True)
    at, other = chance.randrange(len(data)), chance.randrange(len(data))
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(8):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[: min(at, other)] + data[max(at, other) :]
        case 2:
            return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[at:]
        case 3:
            return data[:at]
        case 4:
            lines[first], lines[second] = lines[second], lines[first]
            return b"".join(lines)
        case 5:
            return b"".join(lines[:first] + lines[first + 1 :])
        case 6:
            return b"".join([*lines[:first], lines[second], *lines[first:]])
        case _:
            return data.replace(b"news", b"../n", 1)


@contextmanager
def refused(file: Path, advice: str) -> Iterator[None]:
    """What is in the context goes well, or is refused with the file's name and what to do."""
    try:
        yield
    except ConfigurationError as error:
        told = str(error)
        assert str(file) in told, told
        assert advice in told, told
