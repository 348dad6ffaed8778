"""Tables in, text out: for the terminal by rich, for a page as Markdown."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from bench.report import Table


def print_table(table: Table, console: Console) -> None:
    """Print one table; numbers stand to the right."""
    rich = RichTable(title=table.title, title_justify="left")
    for place, column in enumerate(table.columns):
        rich.add_column(column, justify="right" if place else "left")
    for row in table.rows:
        rich.add_row(*map(escape, row))
    console.print(rich)


def markdown_table(table: Table) -> str:
    """The table as Markdown, under its title."""
    rule = ("---", *("---:" for _ in table.columns[1:]))
    lines = ["| " + " | ".join(cells) + " |" for cells in (table.columns, rule, *table.rows)]
    return "\n".join([f"**{table.title}**", "", *lines])


def compact(number: float | int | None) -> str:
    """A number with three significant digits, and thousands apart."""
    if number is None:
        return "–"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def short(size: int) -> str:
    """A number of queries as it stands in a key: 20, 1k, 100k, 1m."""
    for unit, letter in ((1_000_000, "m"), (1_000, "k")):
        if size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)
