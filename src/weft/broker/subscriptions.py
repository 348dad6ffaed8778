"""Subscription files in, subscriptions out: text with one XPath a line, JSON Lines, or a folder of queries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.broker.stream_rules import rule_record
from weft.broker.typed import ColumnText
from weft.errors import ConfigurationError, WeftError, failure_of
from weft.languages import recognize

#: Which files of a folder are queries, and in which language.
SUFFIXES = {".xpath": "xpath", ".xq": "xquery", ".xscl": "xscl"}
_LONE = re.compile("[\ud800-\udfff]")
_FIELDS = {
    "id": (str, int),
    "language": (str,),
    "query": (str,),
    "namespaces": (dict,),
    "to": (str,),
    "enabled": (bool,),
    "ignore_namespaces": (bool,),
    "columns": (dict,),
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A query with an id and a destination."""

    id: str
    query: str
    language: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    to: Any = None
    enabled: bool = True
    ignore_namespaces: bool = False
    columns: Mapping[str, ColumnText] = field(default_factory=dict)  # what is told of each node instead of its XML
    place: str = ""  # where it was written: file and line


def load_subscriptions(path: str | Path, on_error: Callable[[WeftError], None] | None = None) -> list[Subscription]:
    """The subscriptions of a file or folder, in their order, without those that are not enabled.

    Plain text has one XPath a line; the id is the line's number, and lines that are blank or start with `#` count but
    are skipped. A file `*.jsonl` or `*.json` has one JSON object a line. A folder has one query in each file
    `*.xpath`, `*.xq` or `*.xscl`; the id is the file's name without its ending.

    Each has its language, recognized where it is not told. A line with "stream" and no query is a rule for a stream
    (see `load_stream_rules`). The queries themselves are not parsed here. Without `on_error` the first entry that
    cannot be read raises ConfigurationError; with it, each such entry is reported and the others are loaded.
    """
    path = Path(path)
    if not path.exists():
        raise ConfigurationError(f"{path}: no such file or folder of subscriptions")
    loaded: dict[str, Subscription] = {}
    for entry in _entries(path):
        if isinstance(entry, Subscription) and entry.id not in loaded:
            loaded[entry.id] = entry
            continue
        error = entry if isinstance(entry, ConfigurationError) else _taken(entry, loaded[entry.id])
        if on_error is None:
            raise error
        on_error(error)
    return [_with_language(subscription) for subscription in loaded.values() if subscription.enabled]


def _with_language(subscription: Subscription) -> Subscription:
    if subscription.language is not None:
        return subscription
    return replace(subscription, language=recognize(subscription.query))


def write_subscription(subscription: Subscription) -> str:
    """A subscription as a line of JSON that `load_subscriptions` reads back; its destination must be text."""
    record = {name: getattr(subscription, name) for name in _FIELDS if name != "enabled"}
    return json.dumps({name: value for name, value in record.items() if value}, ensure_ascii=False)


def _taken(entry: Subscription, by: Subscription) -> ConfigurationError:
    return ConfigurationError(f"{entry.place}: id {entry.id!r} is taken by {by.place}")


def _entries(path: Path) -> Iterator[Subscription | ConfigurationError]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            yield ConfigurationError(
                f"{path}: expected files named {', '.join('*' + end for end in SUFFIXES)}, found none"
            )
        for file in files:
            text = _read(file) if file.is_file() else ConfigurationError(f"{file}: not a file")
            if isinstance(text, ConfigurationError):
                yield text
            else:
                yield Subscription(file.stem, text.strip(), SUFFIXES[file.suffix], place=str(file))
        return
    text = _read(path)
    if isinstance(text, ConfigurationError):
        yield text
        return
    is_json = path.suffix in (".jsonl", ".json", ".ndjson")
    for number, line in enumerate(text.split("\n"), start=1):  # other line ends may stand in strings
        place = f"{path}:{number}"
        if not line.strip() or (line.lstrip().startswith("#") and not is_json) or (is_json and rule_record(line)):
            continue
        yield _from_json(line, place, number) if is_json else Subscription(str(number), line.strip(), place=place)


def _read(path: Path) -> str | ConfigurationError:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}")


def _from_json(line: str, place: str, number: int) -> Subscription | ConfigurationError:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        return ConfigurationError(f"{place}:{error.colno}: expected a JSON object, found {error.msg}")
    except (ValueError, RecursionError) as error:  # numbers of very many digits, brackets in brackets without end
        return ConfigurationError(f"{place}: expected a JSON object, found {failure_of(error)}")
    if "\\ud" in line.lower() and _LONE.search(json.dumps(record, ensure_ascii=False)):
        return ConfigurationError(f"{place}: expected text, found half of a surrogate pair")
    if not isinstance(record, dict) or "query" not in record:
        return ConfigurationError(f'{place}: expected an object with "query", found {line.strip()[:60]}')
    for key, value in record.items():
        if key not in _FIELDS:
            return ConfigurationError(f'{place}: expected one of {", ".join(_FIELDS)}, found "{key}"')
        if value is not None and (type(value) not in _FIELDS[key] or value == ""):
            kinds = " or ".join(kind.__name__ for kind in _FIELDS[key])
            return ConfigurationError(f'{place}: expected {kinds} for "{key}", found {json.dumps(value)}')
    for prefix, uri in (record.get("namespaces") or {}).items():
        if not isinstance(uri, str):
            return ConfigurationError(f'{place}: expected a namespace for prefix "{prefix}", found {json.dumps(uri)}')
    given = {key: value for key, value in record.items() if value is not None}
    return Subscription(**{**given, "id": str(given.get("id", number)), "place": place})
