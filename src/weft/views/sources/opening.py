"""A location in, its source out: a file, a folder, an archive, or an address."""

from __future__ import annotations

from pathlib import Path

from weft.documents.document import Limits
from weft.inputs.archives import is_archive
from weft.views.sources.http import MAX_BYTES, TIMEOUT, HttpSource
from weft.views.sources.local import DirectorySource, FileSource
from weft.views.sources.source import Source, SourceError


def open_source(
    location: str | Path,
    name: str | None = None,
    *,
    timeout: float = TIMEOUT,
    max_bytes: int = MAX_BYTES,
    limits: Limits | None = None,
) -> Source:
    """The source at a path or an address (http or https). Its name, unless given, is found when it is asked for.

    `timeout` and `max_bytes` bound what an address may take for one answer, `limits` what a document may be.
    """
    text = str(location)
    scheme, separator, _ = text.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        return HttpSource(text, name, timeout=timeout, max_bytes=max_bytes, limits=limits)
    if separator and scheme.isalnum():
        raise SourceError(text, f"expected a path, or an address with http or https, found {scheme}")
    if not text:
        raise SourceError("source", "expected a path or an address, found nothing")
    if Path(location).is_dir() or is_archive(text):
        return DirectorySource(location, name, limits)
    return FileSource(location, name, limits)
