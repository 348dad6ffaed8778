"""What a job did in, what its user sees out: a bar of tasks, a line for each micro-batch, a summary."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from weft.cli.logs import tell
from weft.delivery.metrics import BatchMetrics, Metrics
from weft.delivery.topics import Topics

_TOP = 10  # subscriptions in the summary


def tell_batch(batch: BatchMetrics) -> None:
    """A line for a micro-batch."""
    pace = batch.documents / batch.seconds if batch.seconds else 0
    rejected = "" if batch.rejected is None else f" {batch.rejected} rejected,"
    line = f"batch {batch.batch}: {batch.documents} documents,{rejected} {batch.messages} messages"
    line += "".join(f", {number} {what}" for what, number in _absent(batch) if number)
    told = {"batch": batch.batch, "documents": batch.documents, "rejected": batch.rejected, "messages": batch.messages}
    text = f"{line}, {pace:,.0f} documents/s, subscriptions version {batch.version}"
    tell(text, **told, seconds=round(batch.seconds, 3), version=batch.version)


@contextmanager
def task_bar(tasks: Callable[[], tuple[int, int] | None]) -> Iterator[None]:
    """A bar on a terminal; `tasks` tells how many are done and how many there are, while that is known."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    columns = (TextColumn("delivering"), BarColumn(), MofNCompleteColumn(), TextColumn("tasks"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("delivering", total=None)

        def poll() -> None:
            while not over.wait(0.3):
                if (known := tasks()) is not None:
                    bar.update(task, completed=known[0], total=known[1])

        watcher = threading.Thread(target=poll, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def tell_summary(metrics: Metrics, output: Path, target: Topics | None = None) -> None:
    """The summary, on standard output."""
    console = Console()
    table = Table(title=Text(f"weft run: {target or output}"), show_header=False)
    pace = metrics.documents / metrics.seconds if metrics.seconds else 0
    skew = max((batch.skew for batch in metrics.batches if batch.skew is not None), default=None)
    table.add_row("documents", f"{metrics.documents:,}")
    table.add_row("rejected", "not counted" if metrics.rejected is None else f"{metrics.rejected:,}")
    for what, number in _absent(metrics):
        if number:
            table.add_row(what, f"{number:,}")
    table.add_row("messages", f"{metrics.messages:,}")
    table.add_row("batches", f"{len(metrics.batches):,}")
    table.add_row("documents/s", f"{pace:,.0f}")
    table.add_row("skew", "-" if skew is None else f"{skew:.2f} (fullest partition over the mean)")
    console.print(table)
    if metrics.per_subscription:
        top = Table("subscription", "messages", title="most messages")
        for name, number in metrics.per_subscription.most_common(_TOP):
            top.add_row(Text(name), f"{number:,}")
        console.print(top)
    if target is None:
        console.print(f"Next: weft show {output} --subscription ID", highlight=False, markup=False)


def _absent(counted: Metrics | BatchMetrics) -> tuple[tuple[str, int], ...]:
    """The records that have no document."""
    return ("tombstones", counted.tombstones), ("empty values", counted.empty)
