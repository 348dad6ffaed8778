"""Text in, a file out that is there as a whole or not at all, also after a crash."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(file: Path, text: str) -> None:
    """Write a file; when this returns it is on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.part")
    with temporary.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    temporary.replace(file)
    sync(file.parent)


def sync(*folders: Path) -> None:
    """What was renamed in these folders stays so."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
