"""`weft test`: one query and one document in, what each step selects and the marked document out."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from weft.cli.options import IgnoreNamespaces, Namespaces, Naming, naming
from weft.cli.sources import Rejected, find_documents, read_batches
from weft.cli.stages import Stage, stages
from weft.cli.tree import MARK, tree
from weft.documents import Limits, NodeTable, read
from weft.engine import Engine
from weft.engine.messages.first_bindings import binding_pattern
from weft.errors import ConfigurationError, UnsupportedError
from weft.languages import parse
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection
from weft.plans.xscl import Xscl


def trace(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", show_default=False, help="An XPath or FLWR query; XSCL joins several documents."
        ),
    ],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", show_default=False, help="An XML file, or - for standard input.")
    ],
    namespace: Namespaces = None,
    ignore_namespaces: IgnoreNamespaces = False,
) -> None:
    """Show step by step what one query does with one document.

    First how many nodes are left after each step and each condition of the query: where the number drops to 0 is
    where it fails. Then the document as a tree, in which the selected nodes are marked with ▶.

    \b
      weft test "/news/body//person[family = 'Okafor']" news/001.xml
      weft test --ignore-namespaces "//entry/link/@href" feeds/001.xml
    """
    names = naming(namespace, ignore_namespaces)
    plan = _parse(query, names, ignore_namespaces)
    steps = stages(_selection(plan))
    table = _read(document)
    selected = _select(table, steps)
    console = Console(highlight=False, soft_wrap=True)
    for step, nodes in zip(steps, selected, strict=True):
        for at, line in enumerate(step.text(names.namespaces).splitlines()):
            console.print(Text(f"{'' if at else len(nodes):>7}  {line}", "" if nodes else "red"))
    if not selected[-1] and not ignore_namespaces:
        _hint(query, names, table, console)
    console.print()
    marked = set(selected[-1])
    for node, line in tree(table, marked):
        console.print(Text(line, "bold green" if node in marked else ""))
    if isinstance(plan, Flwr | LoneQuery):
        console.print(Text("\n" + "\n".join(_messages(plan, table)) or "\nno message", "cyan"))
    console.print(f"\n{MARK} {len(marked)} {'node' if len(marked) == 1 else 'nodes'} in {document}", markup=False)


def _parse(query: str, names: Naming, ignore_namespaces: bool) -> Selection | Flwr | LoneQuery:
    plan = parse(query, None, names.namespaces, ignore_namespaces)
    if isinstance(plan, Xscl):
        instead = "test the path of one block, or give several documents to weft match"
        raise UnsupportedError("XSCL", query, 0, "a join with a single document", instead)
    return plan


def _selection(plan: Selection | Flwr | LoneQuery) -> Selection:
    """The nodes that must be there for a message."""
    if isinstance(plan, LoneQuery):
        return plan.required
    return binding_pattern(plan.variables, plan.where) if isinstance(plan, Flwr) else plan


def _messages(plan: Flwr | LoneQuery, table: NodeTable) -> list[str]:
    engine = Engine()
    engine.add(0, plan)
    return [message for _, _, message in engine.match(table).messages()]


def _read(path: str) -> NodeTable:
    rejected, limits = Rejected(), Limits()
    batch = next(read_batches(find_documents([path], rejected), None, limits, rejected), [])
    if len(batch) != 1 and not rejected.any:
        found = "several; weft match takes them all" if batch else "none"
        raise ConfigurationError(f"{path}: expected one document, found {found}")
    table = read(batch, limits)
    for error in table.rejected:
        rejected.tell(error)
    if rejected.any:
        raise typer.Exit(1)
    return table


def _select(table: NodeTable, steps: list[Stage]) -> list[list[int]]:
    """For each stage the nodes that it selects."""
    engine = Engine()
    for number, stage in enumerate(steps):
        engine.add(number, stage.plan)
    selected: list[list[int]] = [[] for _ in steps]
    _, numbers, nodes = engine.match(table).nodes()
    for number, node in zip(numbers.tolist(), nodes.tolist(), strict=True):
        selected[number].append(node)
    return selected


def _hint(query: str, names: Naming, table: NodeTable, console: Console) -> None:
    """The most common reason for no result at all."""
    plan = _parse(query, names, True)
    without = stages(_selection(plan))
    number = len(_select(table, without)[-1])
    if number:
        hint = f"with --ignore-namespaces it would be {number}: this document's names have a namespace, see --namespace"
        console.print(Text(f"\n{hint}", "yellow"))
