"""A name in, one of the DTDs that come with Weft out."""

from __future__ import annotations

from functools import cache
from importlib import resources

from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError

SHIPPED = ("bibliography", "book", "news", "auction", "health")


@cache
def shipped(name: str) -> Dtd:
    """The DTD of that name."""
    if name not in SHIPPED:
        raise ConfigurationError(f"no DTD {name!r} comes with Weft, only {', '.join(SHIPPED)}")
    path = resources.files("weft.workload") / "dtds" / f"{name}.dtd"
    return Dtd.parse(path.read_text(encoding="utf-8"))
