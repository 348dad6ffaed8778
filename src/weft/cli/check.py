"""`weft check`: queries in, all that is wrong with them and how many there are out."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from weft.broker.broker import Broker
from weft.broker.stream_rules import all_rules
from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.cli.options import IgnoreNamespaces, Namespaces, Naming, QueriesFile, naming
from weft.errors import QueryError, QueryWarning, WeftError

_LANGUAGES = {"xpath": "XPath", "xquery": "FLWR", "xscl": "XSCL"}


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong with one subscription, or looks so; line and column are those in its query."""

    id: str | None
    place: str | None
    line: int | None
    column: int | None
    message: str


@dataclass(slots=True)
class Findings:
    """What there is in a file of queries."""

    subscriptions: int = 0
    languages: dict[str, int] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    errors: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)


def check(
    queries: QueriesFile,
    namespace: Namespaces = None,
    ignore_namespaces: IgnoreNamespaces = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object with totals, ids, errors and warnings, on standard output.")
    ] = False,
) -> None:
    """Check a file of queries without matching anything.

    Tells every error, not just the first: its file and line, its line and column in the query, what was expected and
    what was found, with a caret under the place. The exit code is 2 if there is any; otherwise the number of
    subscriptions is printed. A condition that can never be true, or always is, is told as a warning in the same way,
    and so is a file without subscriptions.

    \b
      weft check subscriptions.xpath
      weft check --namespace p=urn:example:payments payments.jsonl
      weft check --json payments.jsonl
    """
    found = find_all(queries, naming(namespace, ignore_namespaces))
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
    else:
        _tell(found)
    if found.errors:
        raise typer.Exit(2)


def find_all(queries: Path, naming: Naming) -> Findings:
    """Read all subscriptions of a file, and the rules of streams in it."""
    found, broker = Findings(), Broker()
    loaded = load_subscriptions(queries, on_error=lambda error: found.errors.append(_finding(None, error)))
    try:
        all_rules(queries, None, None, naming.namespaces, naming.ignore_namespaces)
    except WeftError as error:
        found.errors.append(_finding(None, error))
    for subscription in loaded:
        found.subscriptions += 1
        found.ids.append(subscription.id)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", QueryWarning)
            try:
                broker.subscribe(_named(subscription, naming))
                name = _LANGUAGES.get(subscription.language or "", "other")
                found.languages[name] = found.languages.get(name, 0) + 1
            except WeftError as error:
                found.errors.append(_finding(subscription, error))
        found.warnings += [_finding(subscription, each.message) for each in told if each.category is QueryWarning]
    if not found.subscriptions and not found.errors:
        found.warnings.append(Remark(None, str(queries), None, None, f"{queries}: there is no subscription in it"))
    return found


def _named(subscription: Subscription, naming: Naming) -> Subscription:
    return replace(
        subscription,
        to=None,
        namespaces={**naming.namespaces, **subscription.namespaces},
        ignore_namespaces=naming.ignore_namespaces or subscription.ignore_namespaces,
    )


def _finding(subscription: Subscription | None, told: BaseException | str) -> Remark:
    if subscription is None:
        return Remark(None, None, None, None, str(told))
    place, line, column = subscription.place, None, None
    text = str(told).removeprefix(f"{place}: ")
    if isinstance(told, QueryError):
        line, column = told.line, told.column
    elif isinstance(told, QueryWarning):
        before = told.query[: told.at]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return Remark(subscription.id, place, line, column, text)


def _tell(found: Findings) -> None:
    """The findings for people: on standard error what is wrong, each once."""
    for warning in dict.fromkeys(map(_shown, found.warnings)):
        typer.echo(f"warning: {warning}", err=True)
    for error in found.errors:
        typer.echo(_shown(error), err=True)
    number = found.subscriptions
    kinds = ", ".join(f"{many} {name}" for name, many in sorted(found.languages.items(), key=lambda one: -one[1]))
    if found.errors:
        many = len(found.errors)
        typer.echo(f"{many} error{'s' * (many > 1)} in {number} subscription{'s' * (number != 1)}", err=True)
    elif number:
        typer.echo(f"{'1 subscription is' if number == 1 else f'{number} subscriptions are'} fine: {kinds}")
    else:
        typer.echo("0 subscriptions")


def _shown(finding: Remark) -> str:
    """With the id, unless that is only the number of the line."""
    if finding.id is None:
        return finding.message
    is_line = (finding.place or "").endswith(f":{finding.id}")
    return f"{finding.place}{'' if is_line else f' ({finding.id})'}: {finding.message}"
