"""Lines of a subscription file in, rules out that say where the documents of a stream have their time and their id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.errors import ConfigurationError, WeftError
from weft.languages import parse
from weft.plans.plan import Combine, Pattern, Selection

#: What a timestamp may be beside a path: the time that a document comes with (a file's), or that at which it comes.
FILE, CLOCK = "file", "clock"
#: The file of a folder of queries that has its rules.
RULES_FILE = "streams.jsonl"
_FIELDS: dict[str, type] = {
    "stream": str,
    "timestamp": str,
    "id": str,
    "namespaces": dict,
    "ignore_namespaces": bool,
}


@dataclass(frozen=True, slots=True)
class StreamRule:
    """Where the documents of a stream have their time and their id; `*` is for all streams without a rule of their own.

    `timestamp` is a path inside the document, "file" for the time that the document comes with, or "clock"; `id` is a
    path. What is None is as the document comes. Of a path the first node counts.

    >>> StreamRule("payments", timestamp="//CreDtTm", id="//MsgId").is_plain
    False
    """

    stream: str = "*"
    timestamp: str | None = None
    id: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    ignore_namespaces: bool = False
    place: str = ""  # where it was written: file and line

    @property
    def is_plain(self) -> bool:
        """Whether no document must be read for it."""
        return self.id is None and self.timestamp in (None, FILE, CLOCK)

    @property
    def paths(self) -> list[str]:
        """The paths that it asks for."""
        return [path for path in (self.timestamp, self.id) if path not in (None, FILE, CLOCK)]

    def plan(self, path: str) -> Selection:
        """The plan of one of its paths."""
        plan = parse(path, "xpath", self.namespaces, self.ignore_namespaces)
        assert isinstance(plan, Pattern | Combine), "XPath gives nothing else"
        return plan


Rules = str | Path | Iterable[StreamRule]


def is_path(text: str) -> bool:
    """Whether a text is a path inside documents, and no name of a column, nor a word."""
    return "/" in text


def load_stream_rules(path: str | Path) -> list[StreamRule]:
    """The rules in a file of subscriptions in JSON Lines, or in `streams.jsonl` of a folder: lines that have "stream".

    Raises ConfigurationError for a line that cannot be read, and for a second rule of one stream.
    """
    path = Path(path)
    file = path / RULES_FILE if path.is_dir() else path
    if file.suffix not in (".jsonl", ".json", ".ndjson") or not file.is_file():
        return []
    found: dict[str, StreamRule] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8-sig", errors="replace").split("\n"), start=1):
        if (record := rule_record(line)) is None:
            continue
        rule = _from_record(record, f"{file}:{number}")
        if rule.stream in found:
            raise ConfigurationError(
                f"{rule.place}: stream {rule.stream!r} has a rule already: {found[rule.stream].place}"
            )
        found[rule.stream] = rule
    return list(found.values())


def rule_record(line: str) -> dict[str, object] | None:
    """The object of a line if it is about a stream, and no subscription."""
    if '"stream"' not in line:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None  # told by who reads the subscriptions
    return record if isinstance(record, dict) and "stream" in record and "query" not in record else None


def all_rules(
    given: Rules | None,
    timestamp: str | None,
    id: str | None,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
) -> tuple[StreamRule, ...]:
    """Rules of streams, and what is said for all others, by options; what a rule itself leaves open they say too.

    Raises ConfigurationError for a path that cannot be read.
    """
    rules = load_stream_rules(given) if isinstance(given, str | Path) else list(given or ())
    outer = StreamRule("*", timestamp, id, dict(namespaces or {}), ignore_namespaces, "timestamp and id")
    whole = [
        replace(
            rule,
            timestamp=timestamp if rule.timestamp is None else rule.timestamp,
            id=id if rule.id is None else rule.id,
            namespaces={**outer.namespaces, **rule.namespaces},
            ignore_namespaces=ignore_namespaces or rule.ignore_namespaces,
        )
        for rule in rules
    ]
    if not any(rule.stream == "*" for rule in whole):
        whole.append(outer)
    for rule in whole:
        _check(rule)
    return tuple(whole) if any(rule.timestamp or rule.id for rule in whole) else ()


def rule_of(rules: Sequence[StreamRule], stream: str) -> StreamRule | None:
    """The rule for the documents of a stream."""
    others = None
    for rule in rules:
        if rule.stream == stream:
            return rule
        others = rule if rule.stream == "*" else others
    return others


def _check(rule: StreamRule) -> None:
    if rule.timestamp not in (None, FILE, CLOCK) and not is_path(str(rule.timestamp)):
        expected = f'a path such as //CreDtTm, "{FILE}" or "{CLOCK}"'
        raise ConfigurationError(f"{rule.place or 'timestamp'}: expected {expected}, found {rule.timestamp!r}")
    if rule.id is not None and not is_path(rule.id):
        raise ConfigurationError(f"{rule.place or 'id'}: expected a path such as //MsgId, found {rule.id!r}")
    for path in rule.paths:
        try:
            rule.plan(path)
        except WeftError as error:
            raise ConfigurationError(f"{rule.place or rule.stream}: {error}") from None


def _from_record(record: dict[str, object], place: str) -> StreamRule:
    for key, value in record.items():
        if key not in _FIELDS:
            raise ConfigurationError(f'{place}: expected one of {", ".join(_FIELDS)}, found "{key}"')
        if value is not None and (type(value) is not _FIELDS[key] or value == ""):
            kind = _FIELDS[key].__name__
            raise ConfigurationError(f'{place}: expected {kind} for "{key}", found {json.dumps(value)}')
    given = {key: value for key, value in record.items() if value is not None}
    rule = StreamRule(**{**given, "place": place})  # type: ignore[arg-type]  # each was looked at above
    for prefix, uri in rule.namespaces.items():
        if not isinstance(uri, str):
            raise ConfigurationError(f'{place}: expected a namespace for prefix "{prefix}", found {json.dumps(uri)}')
    _check(rule)
    return rule
