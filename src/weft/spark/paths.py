"""A path as Spark writes it in, a path on the local file system out."""

from __future__ import annotations

import re
from pathlib import Path

from weft.errors import ConfigurationError

_FILE = re.compile(r"file:(?=/[^/])|file://(?=/)", re.IGNORECASE)  # no host: file://host/a is another machine's
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/|file:", re.IGNORECASE)


def local_path(text: str) -> Path:
    """The absolute path that `text` names, with or without `file:` before it.

    Like Spark's own sources this leaves %20 as it is: what follows `file:` is a name, not a URL.

    >>> str(local_path("file:///feeds/news"))
    '/feeds/news'
    """
    prefix = _FILE.match(text)
    path = text[prefix.end() :] if prefix else text
    if not path or _SCHEME.match(path):
        raise ConfigurationError(f"path: expected a local path, with or without file: before it, found {text!r}")
    return Path(path).absolute()  # where a worker runs must not matter
