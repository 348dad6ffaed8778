"""A folder of documents in, whether it is light out: it is looked through no further than it takes to know."""

from __future__ import annotations

from pathlib import Path

from weft.inputs.archives import is_archive, is_gzip
from weft.inputs.files import files_below, find_files

_UNPACKED = 16  # times the size of an archive, as a guess


def is_light(root: str | Path, most: int) -> bool:
    """Whether the documents of a folder or file have about so many bytes at most; it stops where they have more."""
    top, size = Path(root).absolute(), 0
    files = find_files(root, lambda *_: None) if not top.is_dir() else files_below(str(root), top, lambda *_: None)
    for file in files:
        size += file.size * (_UNPACKED if is_archive(file.id) or is_gzip(file.id) else 1)
        if size > most:
            return False
    return True
