"""Subscriptions in, one compiled plan out that travels to the workers once and is unpacked once in each."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from weft.broker.matcher import Matcher
from weft.broker.reading import add_all
from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.engine.engine import Engine
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.headers.matcher import HeaderMatcher
from weft.spark.joins_plans import CompiledJoins, JoinPlans, compile_joins

Subscriptions = str | Path | Iterable[Subscription | str]
_KEPT = 2  # compiled plans of a kind in a worker: while a new version comes in, tasks of the old one may still run


@dataclass(frozen=True, slots=True)
class Compiled:
    """The plans of all subscriptions, pickled: a task that has them already need not unpack them."""

    payload: bytes = field(repr=False)
    digest: str
    version: int
    count: int
    joins: CompiledJoins | None = None  # of the XSCL subscriptions

    def without_joins(self) -> Compiled:
        """The subscriptions that ask for one document at a time."""
        return replace(self, joins=None)


@dataclass(frozen=True, slots=True)
class WorkerPlans:
    """What a worker matches with: the engine, and the id and destination of each subscription number."""

    engine: Engine
    limits: Limits
    ids: pa.StringArray
    destinations: pa.StringArray
    headers: HeaderMatcher


def compile_subscriptions(
    subscriptions: Subscriptions,
    *,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    version: int = 1,
    headers: Configurations = (),
) -> Compiled:
    """Compile the subscriptions of a file or folder, or given ones (a query as text gets its place as id).

    If any is wrong nothing is compiled: ConfigurationError tells all that is wrong, one after the other.
    """
    matcher = Matcher(limits, dtd=dtd, headers=headers)
    errors = add_all(
        matcher.add,
        subscriptions if isinstance(subscriptions, str | Path) else _entries(subscriptions),
        lambda entry: replace(entry, ignore_namespaces=ignore_namespaces or entry.ignore_namespaces),
    )
    kept = list(matcher.subscriptions.values())
    errors += [
        f"{each.id}: on Spark a destination is text, found {each.to!r}" for each in kept if not _is_text(each.to)
    ]
    if errors:
        raise ConfigurationError("\n".join(errors))
    names = _strings([each.id for each in kept]), _strings([each.to for each in kept])
    payload = pickle.dumps(WorkerPlans(matcher.engine, matcher.limits, *names, matcher.headers), protocol=5)
    digest = blake2b(payload, digest_size=16).hexdigest()
    return Compiled(payload, digest, version, len(kept), compile_joins(matcher, *names))


def _entries(given: Iterable[Subscription | str]) -> list[Subscription]:
    return [
        entry if isinstance(entry, Subscription) else Subscription(str(number), entry)
        for number, entry in enumerate(given, start=1)
    ]


def _is_text(to: object) -> bool:
    return to is None or isinstance(to, str)


def _strings(values: Sequence[str | None]) -> pa.StringArray:
    return pa.array(values, pa.string())


_WorkerPart = TypeVar("_WorkerPart")
_unpacked: dict[str, WorkerPlans] = {}
_unpacked_joins: dict[str, JoinPlans] = {}


def unpack(compiled: Compiled) -> WorkerPlans:
    """The plans, unpacked once a process: with them stay the label paths that documents have brought so far."""
    return _known(_unpacked, compiled.digest, lambda: pickle.loads(compiled.payload))


def unpack_joins(joins: CompiledJoins) -> JoinPlans:
    """The plans of XSCL, unpacked once a process."""
    return _known(_unpacked_joins, joins.digest, lambda: JoinPlans.unpack(joins.payload))


def _known(known: dict[str, _WorkerPart], digest: str, unpack: Callable[[], _WorkerPart]) -> _WorkerPart:
    if digest not in known:
        while len(known) >= _KEPT:
            del known[next(iter(known))]
        known[digest] = unpack()
    return known[digest]
