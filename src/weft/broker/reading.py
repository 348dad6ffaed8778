"""Subscriptions in, their plans out; what is wrong with them is told with its place."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from sys import maxsize
from types import FrameType

from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.broker.typed import columns_of, typed_plan
from weft.documents.document import Limits
from weft.errors import QueryWarning, WeftError
from weft.languages import Plan, parse
from weft.languages.reader import OnWarning

_NO_LIMITS = Limits(max_query_bytes=maxsize, max_query_nesting=maxsize, max_query_states=maxsize)


def add_all(
    add: Callable[[Subscription], object],
    subscriptions: str | Path | Iterable[Subscription],
    change: Callable[[Subscription], Subscription] = lambda subscription: subscription,
) -> list[str]:
    """Add the subscriptions of a file or folder, or given ones, each after a change; all that is wrong comes back."""
    errors: list[str] = []
    if isinstance(subscriptions, str | Path):
        subscriptions = load_subscriptions(subscriptions, on_error=lambda error: errors.append(str(error)))
    for subscription in subscriptions:
        try:
            add(change(subscription))
        except WeftError as error:
            errors.append(f"{subscription.place or subscription.id}: {error}")
    return errors


def plan_of(subscription: Subscription) -> Plan:
    """The plan of a subscription's query, which was within the limits when it came."""
    return _parse(subscription, _NO_LIMITS)


def new_plan(subscription: Subscription, limits: Limits) -> Plan:
    """The plan of a new subscription; warns of what in it can never be true, or always is."""

    def warn(warning: QueryWarning) -> None:
        place = subscription.place or subscription.id
        told = QueryWarning(warning.language, warning.query, warning.at, warning.reason, place)
        file, line = _caller()
        warnings.warn_explicit(told, QueryWarning, file, line)  # without a registry, which would remember every query

    return _parse(subscription, limits, warn)


def _caller() -> tuple[str, int]:
    """The file and line that called Weft."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else (__name__, 0)


def _parse(subscription: Subscription, limits: Limits, on_warning: OnWarning | None = None) -> Plan:
    names = subscription.namespaces, subscription.ignore_namespaces
    plan = parse(subscription.query, subscription.language, *names, limits, on_warning)
    return typed_plan(plan, columns_of(subscription.columns), *names) if subscription.columns else plan
