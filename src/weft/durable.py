"""Text or bytes in, a file out that is there as a whole or not at all, also after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_atomically(file: Path, content: str | Iterable[bytes]) -> None:
    """Write a file from text, or from pieces; when this returns it is on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.part")
    try:
        with temporary.open("wb") as opened:
            for piece in [content.encode("utf-8")] if isinstance(content, str) else content:
                opened.write(piece)
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    sync(file.parent)


def sync(*folders: Path) -> None:
    """What was renamed in these folders stays so."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
