"""A selection and paths from its nodes in, a FLWR plan out: a row for each node, and in it a cell for each path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.errors import ConfigurationError, QueryError
from weft.languages.xquery.reading import parse
from weft.plans.flwr import Copy, Element, ElementPart, Enclosed, Flwr, Number, Variable
from weft.plans.plan import Combine, Link, Pattern, Selection

_ROW = "row"
_QUERY = "<rows>{{ for $node in /node return <row><cell>{{ {} }}</cell></row> }}</rows>"


def with_columns(
    selection: Selection, columns: Sequence[tuple[str, str]], namespaces: Mapping[str, str], ignore_namespaces: bool
) -> Flwr:
    """The plan of a selection whose nodes are told by columns: names, and expressions on `$node`.

    Raises ConfigurationError with the column's name for an expression that cannot be read.
    """
    cells: list[ElementPart] = []
    frame: Flwr | None = None
    for name, expression in columns:
        try:
            plan = parse(_QUERY.format(expression), namespaces, ignore_namespaces)
        except QueryError as error:
            raise ConfigurationError(f"column {name!r}: {shown(expression)}: {error.reason}") from None
        if not isinstance(plan, Flwr):
            raise ConfigurationError(f"column {name!r}: expected one path, found {shown(expression)}")
        cells.append(_cell(plan, name, expression))
        frame = plan
    assert frame is not None, "there is a column"
    returned = Enclosed((Element(_ROW, (), tuple(cells)),))
    node = Variable("node", None, _links(selection))
    return Flwr("", (node,), None, (), returned, frame.enclosing)


def _cell(plan: Flwr, name: str, expression: str) -> Element:
    """The cell of a plan, if it has one value."""
    match plan.returned.items:
        case (Element(parts=(Element(parts=(Enclosed(items=(Copy() | Number(),)),)) as cell,)),):
            return cell
    raise ConfigurationError(f"column {name!r}: expected one path, found {shown(expression)}")


def shown(expression: str) -> str:
    """An expression as it was written."""
    return expression.replace("$node/", "").replace("$node", ".")


def _links(selection: Selection) -> tuple[Link, ...]:
    """A selection as the path of a variable."""
    if isinstance(selection, Combine):
        advice = "write a subscription for each part"
        raise ConfigurationError(f"columns: expected a path, found {selection.operator}; {advice}")
    links: list[Link] = []
    pattern: Pattern | None = selection
    while pattern is not None:
        links.append(Link(pattern.path, pattern.test))
        pattern = pattern.parent
    return tuple(reversed(links))
