"""The arguments and options that several commands share: their text in, checked values out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.documents import Dtd
from weft.errors import ConfigurationError
from weft.inputs.rows import check_row_tag
from weft.workload import SHIPPED, shipped

QueriesFile = Annotated[
    Path,
    typer.Argument(
        metavar="QUERIES",
        show_default=False,
        help="A text file with one query a line, a JSON Lines file (*.jsonl), or a folder of *.xpath, *.xq and *.xscl "
        "files: XPath, FLWR and XSCL.",
    ),
]
Namespaces = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        metavar="PREFIX=URI",
        help="What a prefix in the queries means; =URI is the default for element names. Can be repeated.",
    ),
]
IgnoreNamespaces = Annotated[
    bool, typer.Option("--ignore-namespaces", help="Compare local names only, in all queries.", show_default=False)
]
LimitSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="A limit other than its default, by its name in weft.Limits: max_nodes=1000. Can be repeated.",
    ),
]
DtdName = Annotated[
    str | None,
    typer.Option(
        "--dtd",
        metavar="NAME_OR_FILE",
        help=f"A DTD that all documents keep to: a file, or one of {', '.join(SHIPPED)}.",
    ),
]


def _row_tag(name: str | None) -> str | None:
    if name is not None:
        check_row_tag(name)
    return name


RowTag = Annotated[
    str | None,
    typer.Option(
        "--row-tag",
        metavar="NAME",
        callback=_row_tag,
        help="Each element of this name is a document, however large the file.",
    ),
]


def read_dtd(name: str) -> Dtd:
    """A DTD that Weft brings along, or one from a file."""
    if name in SHIPPED:
        return shipped(name)
    if not Path(name).is_file():
        raise ConfigurationError(f"--dtd: expected a file or one of {', '.join(SHIPPED)}, found {name!r}")
    return Dtd.load(name)


@dataclass(frozen=True, slots=True)
class Naming:
    """How the names in queries are read, unless a query says otherwise itself."""

    namespaces: Mapping[str, str]
    ignore_namespaces: bool


def naming(given: list[str] | None, ignore_namespaces: bool) -> Naming:
    """The options --namespace and --ignore-namespaces."""
    namespaces = {}
    for entry in given or []:
        prefix, equals, uri = entry.partition("=")
        if not equals:
            raise ConfigurationError(f"--namespace: expected PREFIX=URI, found {entry!r}")
        namespaces[prefix] = uri
    return Naming(namespaces, ignore_namespaces)
