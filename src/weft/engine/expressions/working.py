"""A program and a document's tree in, the texts of its message out: one a result, or none without a message."""

from __future__ import annotations

from collections.abc import Sequence

from weft.documents.document import Limits
from weft.engine.expressions import aggregates, calculating, clauses, comparing, functions, paths, values
from weft.engine.expressions.construction import shown
from weft.engine.expressions.items import DynamicError, TreeNode
from weft.engine.expressions.prepared import Prepared
from weft.engine.expressions.scope import Run, Scope, value
from weft.engine.expressions.trees import DocumentTree
from weft.plans.lone_query import LoneQuery

#: The modules whose functions work out expressions.
WORKERS = (aggregates, calculating, clauses, comparing, functions, paths, values)


def work_out(
    program: LoneQuery,
    prepared: Prepared,
    tree: DocumentTree,
    limits: Limits,
    room: int,
    first_nodes: Sequence[int] | None = None,
) -> list[str]:
    """The results of a program, each as a text; none where it finds nothing. Raises DynamicError with the reason.

    Where it is known which nodes its first variable can bind, nodes of the table in document order, it binds no others.
    """
    is_own = room >= limits.max_message_bytes
    most = f"{limits.max_message_bytes if is_own else limits.max_output_bytes} bytes from one document"
    run = Run(
        document=TreeNode(tree, 0),
        functions={each.name: each for each in program.functions},
        limits=limits,
        prepared=prepared,
        steps=limits.max_steps,
        characters=room,
        first=None if first_nodes is None else program.first,
        known=() if first_nodes is None else program.known,
        first_nodes=[TreeNode(tree, tree.place_of(node)) for node in first_nodes or ()],
        too_long=f"more than {most}{'' if is_own else ' in all'}",
    )
    try:
        items = value(program.body, Scope(run, {}, run.document, 1, 1))
    except RecursionError:
        raise DynamicError("a query that is nested too deep") from None
    except MemoryError as error:
        raise DynamicError(f"too much memory: {error}") from None
    if not run.has_found:
        return []
    if len(items) > limits.max_messages:
        raise DynamicError(f"{len(items)} nodes or bindings, more than {limits.max_messages}")
    run.characters = room
    return [shown(item, run) for item in items]
