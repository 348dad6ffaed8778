"""`weft status`: the output of `weft run` in, what that job does, or how it ended, out."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from weft.delivery.status import Status, read_status

_SHOWN = {
    "starting": "is starting",
    "running": "is running",
    "done": "is done",
    "failed": "failed",
    "interrupted": "was interrupted",
    "killed": "ended without a word: it was killed, or its machine went down",
}


def status(
    output: Annotated[Path, typer.Argument(metavar="DIR", help="The --output of weft run.")],
    as_json: Annotated[bool, typer.Option("--json", help="One object on standard output.")] = False,
) -> None:
    """Tell what a job does, or how it ended.

    The exit code is 0 if it runs or is done, and 1 if it failed, was interrupted or killed.

    \b
      weft status out/
      weft status --json out/
    """
    found = read_status(output)
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
    else:
        _tell(found)
    if found.state in ("failed", "interrupted", "killed"):
        raise typer.Exit(1)


def _tell(found: Status) -> None:
    kind = "stream" if found.is_stream else "batch"
    why = f": {found.error}" if found.error else ""
    typer.echo(f"the {kind} {_SHOWN[found.state]}{why}")
    typer.echo(f"process {found.process}, started {_moment(found.started)}, last heard of {_moment(found.updated)}")
    rejected = f", {found.rejected:,} rejected" if found.rejected else ""
    version = f", subscriptions version {found.version}" if found.version is not None else ""
    batches = f"{found.batches:,} batch{'es' * (found.batches != 1)}"
    typer.echo(f"{batches}: {found.documents:,} documents{rejected}, {found.messages:,} messages{version}")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
