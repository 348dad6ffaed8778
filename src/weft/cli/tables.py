"""A console for tables: as wide as the screen, or, where there is none, as wide as they are."""

from __future__ import annotations

import sys

from rich.console import Console

_ENDLESS = 100_000  # characters


def table_console() -> Console:
    """Where tables of names and queries go; what other programs read is never shortened."""
    return Console() if sys.stdout.isatty() else Console(width=_ENDLESS)
