"""`weft show`: the output of `weft run` in, its messages as text out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.errors import ConfigurationError


def show(
    output: Annotated[Path, typer.Argument(metavar="DIR", help="The --output of weft run.")],
    subscription: Annotated[
        str | None, typer.Option("--subscription", "-s", metavar="ID", help="Only messages of this subscription.")
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="The rejected documents instead of messages.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="At most so many; 0 is all.")] = 20,
) -> None:
    """Print the messages that a job has delivered.

    \b
      weft show out/
      weft show out/ --subscription urgent --limit 0
      weft show out/ --rejected
    """
    rows = _rows(output, subscription, rejected)
    tell = _tell_rejected if rejected else _tell_message
    shown = 0
    for row in islice(rows, limit or None):
        tell(row)
        shown += 1
    if not shown:
        of = f" of subscription {subscription!r}" if subscription is not None and not rejected else ""
        typer.echo(f"weft: no {'rejected documents' if rejected else 'messages'}{of} in {output}", err=True)
    elif shown == limit and next(rows, None) is not None:
        typer.echo(f"weft: the first {limit}; --limit 0 shows all", err=True)


def _rows(output: Path, subscription: str | None, rejected: bool) -> Iterator[dict[str, Any]]:
    try:
        # Here, not above: the other commands are there at once, and work without pyarrow.
        from weft.delivery.results import read_results  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"this command needs pyarrow ({error}): pip install 'weft[spark]'") from None
    return read_results(output, subscription, only_rejected=rejected)


def _tell_message(row: dict[str, Any]) -> None:
    about = " ".join(str(row[key]) for key in ("document", "position") if row.get(key) is not None)
    if row.get("documents"):
        about = " ".join(map(str, (", ".join(row["documents"]), row["position"])))
    to = f" to {row['destination']}" if row.get("destination") else ""
    sys.stdout.write(f"-- {row['subscription']}{to}{' from ' + about if about else ''}\n{row['message']}\n")


def _tell_rejected(row: dict[str, Any]) -> None:
    place = ":".join(str(row[key]) for key in ("document", "line", "column") if row.get(key) is not None)
    of = f"{row['subscription']}: " if row.get("subscription") is not None else ""
    sys.stdout.write(f"{place}: {of}{row['error']}\n")
