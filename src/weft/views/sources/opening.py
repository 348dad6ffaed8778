"""A location in, its source out: a file, a folder, an archive, an address, or what other rooms know to open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from weft.documents.document import Limits
from weft.errors import ConfigurationError
from weft.inputs.archives import is_archive
from weft.views.sources.http import MAX_BYTES, TIMEOUT, HttpSource
from weft.views.sources.local import DirectorySource, FileSource
from weft.views.sources.source import Source, SourceError

#: By scheme what opens `SCHEME:PLACE`, given a name or none.
_openers: dict[str, Callable[[str, str | None], Source]] = {}
_held: dict[str, Source] = {}  # by location, those that were made in this process


def register_opener(scheme: str, opener: Callable[[str, str | None], Source]) -> None:
    """Let locations `SCHEME:PLACE` be opened by a function; this is how `weft.spark` brings tables."""
    _openers[scheme] = opener


def hold(source: Source) -> None:
    """Let the location of a source that was made in this process be opened in it as this source."""
    _held[source.location] = source


def absolute(location: str | Path) -> str:
    """A location as it is for any working directory."""
    text = str(location)
    scheme, separator, place = text.partition(":")
    if "://" in text or text in _held:
        return text
    if separator and scheme in _openers:
        return f"{scheme}:{Path(place).absolute()}" if Path(place).exists() else text
    return str(Path(location).absolute())


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
    if name is not None and not (name.strip() and name.isprintable()):
        raise ConfigurationError(f"source {text}: expected a name that can be shown, found {name!r}")
    if text in _held:
        return _held[text]
    if (known := _openers.get(text.partition(":")[0])) is not None:
        return known(text, name)
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
