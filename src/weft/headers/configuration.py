"""Configurations: ordered lists of views with a tag, for which documents they are, and the files that hold them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xxhash import xxh3_64_intdigest

from weft.documents.document import Limits
from weft.durable import write_atomically
from weft.errors import ConfigurationError, QueryError
from weft.headers.expressions import Expression, expression_of
from weft.headers.families import PositionFamily, find_families
from weft.languages import parse
from weft.plans.plan import Pattern

_KEYS = {"name": str, "version": int, "views": list, "namespaces": dict, "root": str, "doctype": str, "stream": str}
_MOST_ENTRIES = 10_000  # of a header: as many as whoever reads one takes


@dataclass(frozen=True, slots=True)
class View:
    """An XPath whose node's place is told in headers."""

    text: str
    pattern: Pattern = field(repr=False)

    @property
    def expression(self) -> Expression:
        """The view as queries ask for it."""
        return expression_of(self.pattern)


@dataclass(frozen=True, slots=True)
class Configuration:
    """An ordered list of views under a tag: its name and version. A changed list is a new version.

    `root` (an expanded name), `doctype` (a public or system identifier, or the name of the DOCTYPE) and `stream` say
    which documents it is for; what is not given holds for all.
    """

    name: str
    version: int
    views: tuple[View, ...]
    root: str | None = None
    doctype: str | None = None
    stream: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def tag(self) -> str:
        """What a header carries to say whose offsets it has."""
        return f"{self.name}/{self.version}"

    @property
    def seed(self) -> int:
        """What the checksums of documents in its headers begin with: those of other views under its tag do not fit."""
        told = repr(([each.pattern for each in self.views], self.root, self.doctype, self.stream))
        return xxh3_64_intdigest(told.encode("utf-8", "surrogatepass"))

    @property
    def families(self) -> list[PositionFamily]:
        """The positional views that stand for one expression; behind the views, a header has an entry for each."""
        return find_families([view.expression for view in self.views])

    def is_for(self, root: str, doctype: Sequence[str], stream: str) -> bool:
        """Whether a document with this root, these identifiers of its DOCTYPE and this stream gets its header."""
        return (
            self.root in (None, root)
            and (self.doctype is None or self.doctype in doctype)
            and (self.stream is None or self.stream == stream)
        )


#: What users give: one configuration, several, or a file of them.
Configurations = Configuration | Iterable[Configuration] | str | Path


def configure(
    name: str,
    views: Iterable[str],
    *,
    version: int = 1,
    namespaces: Mapping[str, str] | None = None,
    root: str | None = None,
    doctype: str | None = None,
    stream: str | None = None,
) -> Configuration:
    """A configuration of XPaths; raises QueryError or ConfigurationError for what cannot be a view.

    >>> configure("news", ["/news/agency", "/news/@date"]).tag
    'news/1'
    """
    if not name or "/" in name or version < 1:
        raise ConfigurationError(f"configuration: expected a name without / and a version, found {name!r}, {version}")
    known: dict[str, View] = {}
    for text in views:
        plan = parse(text, "xpath", namespaces, limits=Limits())
        if not isinstance(plan, Pattern):
            raise ConfigurationError(f"view {text}: expected one path, found several put together")
        known.setdefault(text, View(text, plan))
    made = Configuration(name, version, tuple(known.values()), root, doctype, stream, dict(namespaces or {}))
    if (entries := len(made.views) + len(made.families)) > _MOST_ENTRIES:
        told = f"expected at most {_MOST_ENTRIES} views, with one more for each that is by position, found {entries}"
        raise ConfigurationError(f"configuration {name}: {told}")
    return made


def as_configurations(given: Configurations) -> tuple[Configuration, ...]:
    """Configurations in any of their forms; a tag that two of them have is refused."""
    if isinstance(given, str | Path):
        given = read_configurations(given)
    found = (given,) if isinstance(given, Configuration) or not isinstance(given, Iterable) else tuple(given)
    if other := [each for each in found if not isinstance(each, Configuration)]:
        told = "expected a configuration, several of them, or the path of a file"
        raise ConfigurationError(f"configurations: {told}, found {type(other[0]).__name__}")
    tags = [each.tag for each in found]
    if twice := next((tag for tag in tags if tags.count(tag) > 1), None):
        raise ConfigurationError(f"configurations: expected each tag once, found {twice} twice")
    return found


def read_configurations(path: str | Path) -> tuple[Configuration, ...]:
    """The configurations of a file: TOML with `name`, `version`, `views` and so on, or tables `[[configuration]]`.

    A file of another kind is one XPath a line, and the file's name is the configuration's.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    try:
        if path.suffix != ".toml":
            lines = [line.strip() for line in text.split("\n")]
            return (configure(path.stem, [line for line in lines if line and not line.startswith("#")]),)
        return _from_toml(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    except (ConfigurationError, QueryError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _from_toml(content: dict[str, Any]) -> tuple[Configuration, ...]:
    tables = content.pop("configuration", None)
    if tables is None:
        tables = [content]
    elif content:
        raise ConfigurationError(f"expected tables [[configuration]] alone, found {next(iter(content))!r} beside them")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError("expected tables [[configuration]], found something else")
    return as_configurations(list(map(_from_table, tables)))


def _from_table(table: dict[str, Any]) -> Configuration:
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigurationError(f"expected one of {', '.join(_KEYS)}, found {key!r}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise ConfigurationError(f"{key}: expected {_KEYS[key].__name__}, found {value!r}")
    if "name" not in table or not all(isinstance(view, str) for view in table.get("views", [0])):
        raise ConfigurationError("expected a name, and views as a list of XPaths")
    for prefix, uri in table.get("namespaces", {}).items():
        if not isinstance(uri, str):
            raise ConfigurationError(f"namespaces: expected a URI for {prefix!r}, found {uri!r}")
    given = dict(table)
    return configure(given.pop("name"), given.pop("views"), **given)


def write_configurations(configurations: Iterable[Configuration], path: str | Path) -> None:
    """Write configurations as TOML that `read_configurations` reads back."""
    write_atomically(Path(path), "\n".join(map(_table, configurations)))


def _table(configuration: Configuration) -> str:
    lines = ["[[configuration]]", f"name = {_quoted(configuration.name)}", f"version = {configuration.version}"]
    for key in ("root", "doctype", "stream"):
        if (value := getattr(configuration, key)) is not None:
            lines.append(f"{key} = {_quoted(value)}")
    lines += ["views = [", *(f"    {_quoted(view.text)}," for view in configuration.views), "]"]
    if configuration.namespaces:
        pairs = ", ".join(f"{_quoted(prefix)} = {_quoted(uri)}" for prefix, uri in configuration.namespaces.items())
        lines.append(f"namespaces = {{ {pairs} }}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
