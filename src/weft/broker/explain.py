"""A matcher in, text or lines out that tell how its subscriptions are answered, whatever their language."""

from __future__ import annotations

from weft.broker.matcher import Matcher
from weft.broker.reading import plan_of
from weft.engine.explain import explain_all, explain_one
from weft.engine.explain import running as running_in_engine
from weft.engine.graph import drawing, graph, indented
from weft.joins.explain import explain_join, explain_joins
from weft.optimizer.group_explain import explain_groups
from weft.plans.flwr import Flwr
from weft.plans.show import Line
from weft.plans.show_xscl import show_xscl
from weft.plans.xscl import Xscl
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.explain import explain_own, explain_owns
from weft.reference.pathsharing.show_operators import operator_lines

_MOST_NAMED = 20  # subscriptions in one line
_SERVED = {"all": "subscriptions in full", "some": "in part", "nothing": "not at all"}


def explain(matcher: Matcher, id: str | None, costs: bool = False) -> str:
    """How all subscriptions, or one of them, are answered, and what is shared; or what test groups cost."""
    engine = matcher.engine
    if costs:
        adapting = matcher.adapting
        return "costs: not known, as nothing is counted" if adapting is None else explain_groups(engine, adapting)
    if id is None:
        parts = [explain_all(engine)] if len(engine) else []
        parts += [explain_owns(engine)] if isinstance(engine, PathSharingEngine) else []
        parts += [explain_joins(matcher.joins)] if len(matcher.joins) else []
        parts += [_all_by_headers(matcher)] if matcher.headers.configurations else []
        return "\n\n".join(parts) or "0 subscriptions"
    number = matcher.numbers[id]
    if number in matcher.suspended:
        return _suspended(matcher, id)
    subscription = matcher.subscriptions[number]
    plan = plan_of(subscription)
    if isinstance(plan, Xscl):
        told = explain_join(matcher.joins, number, subscription.query, plan)
    elif isinstance(engine, PathSharingEngine) and isinstance(plan, Flwr):
        told = explain_own(engine, number, subscription.query)
    else:
        told = explain_one(engine, number, subscription.query, plan)
    return "\n".join([told, *_by_headers(matcher, number)])


def _all_by_headers(matcher: Matcher) -> str:
    """How many subscriptions each configuration of views serves, and which: those first whom it serves least."""
    lines = ["headers"]
    for configuration in matcher.headers.configurations:
        served: dict[str, list[str]] = {how: [] for how in _SERVED}
        for id, number in matcher.numbers.items():
            if number not in matcher.suspended:
                served[matcher.headers.serves(number)[configuration.tag]].append(id)
        told = ", ".join(f"{len(served[how])} {word}" for how, word in _SERVED.items() if served[how])
        lines.append(f"  {configuration.tag}: {len(configuration.views)} views serve {told or 'nobody'}")
        for how in reversed(_SERVED):
            lines += [f"    {how} of what it asks for: {_named(served[how])}"] if served[how] else []
    return "\n".join(lines)


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(ids[:_MOST_NAMED]) + more


def _by_headers(matcher: Matcher, number: int) -> list[str]:
    """Which configurations of views serve a subscription."""
    served = matcher.headers.serves(number)
    return [f"headers: {tag} has {how} of what it asks for" for tag, how in served.items()]


def running(matcher: Matcher, id: str) -> list[Line]:
    """What runs for one subscription, as lines with their depths."""
    number, engine = matcher.numbers[id], matcher.engine
    if number in matcher.suspended:
        return [(0, _suspended(matcher, id))]
    plan = plan_of(matcher.subscriptions[number])
    if isinstance(plan, Xscl):
        return indented(show_xscl(plan))
    if isinstance(engine, PathSharingEngine) and isinstance(plan, Flwr):
        return list(operator_lines(engine.single.queries[number].physical))
    return [(0, id), *running_in_engine(engine, number)]


def explained_graph(matcher: Matcher, id: str, form: str) -> str:
    """The same in Graphviz's language, or drawn as SVG."""
    lines = running(matcher, id)
    return graph(lines) if form == "dot" else drawing(lines)


def _suspended(matcher: Matcher, id: str) -> str:
    return f"{id} is suspended: {matcher.suspended[matcher.numbers[id]]}"
