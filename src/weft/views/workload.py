"""What is asked of the query server and how often: workload files in, queries with their plans and frequencies out.

A line of a workload file is a query with its frequency before it or in parentheses behind it, `0.1 /s1/a/*` or
`/s1/a/* (0.1)`, and perhaps a name, `hot: 0.1 /s1/a/*`; or JSON, `{"query": …, "frequency": …, "name": …,
"namespaces": {…}}`. A `#` begins a comment. Without a frequency it is 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from weft.documents.document import Limits
from weft.errors import ConfigurationError, WeftError
from weft.plans.plan import Selection
from weft.views.notation import parse_query

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NAMED = re.compile(r"([\w.\-]+):\s+(?=\S)")
_BEFORE = re.compile(rf"({_NUMBER})\s+(?=\S)")
_BEHIND = re.compile(rf"\s*\(({_NUMBER})\)$")
_COMMENT = re.compile(r"""((?:[^#"']|"[^"]*"|'[^']*'|["'])*?)(?:(?:^|\s)\#.*)?$""")
_MOST = 1e300  # as often a query may be asked: so many can still be added up
_KEYS: dict[str, type | tuple[type, ...]] = {"query": str, "frequency": (int, float), "name": str, "namespaces": dict}


@dataclass(frozen=True, slots=True)
class WorkloadQuery:
    """A query as it was written, what it means, and how often it is asked, in whichever unit the workload has."""

    text: str
    selection: Selection
    frequency: float = 1.0
    name: str = ""
    namespaces: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries that differ, each with a name of its own."""

    queries: tuple[WorkloadQuery, ...]

    def normalized(self) -> Workload:
        """The same with frequencies that add up to 1."""
        total = sum(query.frequency for query in self.queries)
        if not total:
            return self
        return Workload(tuple(replace(query, frequency=query.frequency / total) for query in self.queries))


class WorkloadError(WeftError):
    """Lines of a workload that cannot be read, all of them, and the workload of the other lines."""

    def __init__(self, errors: tuple[str, ...], workload: Workload) -> None:
        self.errors, self.workload = errors, workload
        super().__init__(errors, workload)

    def __str__(self) -> str:
        return "\n".join(self.errors)


def workload_of(queries: Iterable[WorkloadQuery]) -> Workload:
    """A workload in which equal queries are one, asked as often as all of them; those without a name get one."""
    merged: dict[Selection, WorkloadQuery] = {}
    for query in queries:
        known = merged.get(query.selection)
        if known is None:
            merged[query.selection] = query
        else:
            name = known.name or query.name
            merged[query.selection] = replace(known, frequency=known.frequency + query.frequency, name=name)
    names = {query.name for query in merged.values() if query.name}
    free = (name for number in range(1, 2 * len(merged) + 2) if (name := f"q{number}") not in names)
    return Workload(tuple(query if query.name else replace(query, name=next(free)) for query in merged.values()))


def read_workload(file: str | Path, namespaces: Mapping[str, str] | None = None) -> Workload:
    """The workload in a file; raises WorkloadError with all lines that are wrong."""
    try:
        text = Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigurationError(f"{file}: {reason}") from None
    return read_lines(text.splitlines(), str(file), namespaces)


def read_lines(lines: Iterable[str], place: str = "line", namespaces: Mapping[str, str] | None = None) -> Workload:
    """The workload that lines tell; what is wrong is told as `place:number: …`."""
    found: list[WorkloadQuery] = []
    named: dict[str, tuple[Selection, int]] = {}
    errors: list[str] = []
    for number, line in _content(lines):
        try:
            query = _query(line, namespaces or {})
            known = named.setdefault(query.name, (query.selection, number)) if query.name else None
            if known is not None and known[0] != query.selection:
                raise ConfigurationError(f"expected a new name, found {query.name!r}, which line {known[1]} has")
            found.append(query)
        except WeftError as error:
            errors.append(f"{place}:{number}: {error}")
    workload = workload_of(found)
    if errors:
        raise WorkloadError(tuple(errors), workload)
    return workload


def _content(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers, without comments."""
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped.startswith("{"):
            uncommented = _COMMENT.match(stripped)
            stripped = uncommented[1].strip() if uncommented else stripped
        if stripped:
            yield number, stripped


def _query(line: str, namespaces: Mapping[str, str]) -> WorkloadQuery:
    if line.startswith("{"):
        return _from_json(line, namespaces)
    name, frequency = "", "1"
    if (found := _NAMED.match(line)) is not None:
        name, line = found[1], line[found.end() :]
    if (found := _BEFORE.match(line)) is not None:
        frequency, line = found[1], line[found.end() :]
    elif (found := _BEHIND.search(line)) is not None:
        frequency, line = found[1], line[: found.start()]
    return make_query(line, float(frequency), name, namespaces)


def _from_json(line: str, namespaces: Mapping[str, str]) -> WorkloadQuery:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"expected JSON, found {error}") from error
    for key, value in found.items():
        if key not in _KEYS:
            raise ConfigurationError(f"expected the keys {', '.join(_KEYS)}, found {key!r}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise ConfigurationError(f"expected another type of {key!r}, found {value!r}")
    own = found.get("namespaces", {})
    if any(not isinstance(uri, str) for uri in own.values()):
        raise ConfigurationError(f"expected prefixes with their namespaces, found {own!r}")
    if "query" not in found:
        raise ConfigurationError("expected the key 'query', found none")
    frequency = found.get("frequency", 1)
    frequency = float(frequency) if frequency <= _MOST else inf
    return make_query(found["query"], frequency, found.get("name", ""), {**namespaces, **own})


def make_query(
    text: str, frequency: float = 1.0, name: str = "", namespaces: Mapping[str, str] | None = None
) -> WorkloadQuery:
    """A query of a workload from its text, in XPath or in the paper's notation."""
    if not 0 <= frequency <= _MOST:
        raise ConfigurationError(f"expected a frequency from 0 on, found {frequency:g}")
    if len(text.encode("utf-8", "surrogatepass")) > Limits().max_query_bytes:
        raise ConfigurationError(f"expected a query of at most {Limits().max_query_bytes} bytes, found a longer one")
    selection = parse_query(text, namespaces)
    return WorkloadQuery(text, selection, frequency, name, tuple(sorted((namespaces or {}).items())))
