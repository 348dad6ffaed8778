"""A report and a page in, the page with the report's tables between two marker comments out."""

from __future__ import annotations

from pathlib import Path

from bench.report import Report
from bench.table import markdown_table


class NoMarkersError(Exception):
    """The page does not say where the tables go."""


def markers(name: str) -> tuple[str, str]:
    """The comments around the part of a page that belongs to an experiment."""
    return f"<!-- bench {name}: begin -->", f"<!-- bench {name}: end -->"


def check_page(path: Path, name: str) -> None:
    """Raise NoMarkersError unless the tables can be written: to know it before measuring, not after."""
    begin, end = markers(name)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not 0 <= text.find(begin) < text.find(end):
        raise NoMarkersError(f"{path}: expected the lines '{begin}' and '{end}', found no such pair")


def write_page(path: Path, name: str, report: Report) -> None:
    """Put tables and notes between the markers, and leave the rest of the page as it is."""
    check_page(path, name)
    begin, end = markers(name)
    before, rest = path.read_text(encoding="utf-8").split(begin, 1)
    after = rest.split(end, 1)[1]
    parts = [markdown_table(table) for table in report.tables]
    parts.append("\n".join(f"- {note}" for note in report.notes))
    path.write_text(before + begin + "\n\n" + "\n\n".join(parts) + "\n\n" + end + after, encoding="utf-8")
