"""Subscriptions in, one compiled plan out that travels to the workers once and is unpacked once in each."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from weft.broker.matcher import Matcher
from weft.broker.reading import add_all
from weft.broker.stream_rules import StreamRule, load_stream_rules
from weft.broker.subscriptions import Subscription
from weft.broker.typed import TypedColumn
from weft.broker.typed_arrow import merged
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.engine.access import Access, fixed_access
from weft.engine.engine import Engine
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.headers.matcher import HeaderMatcher
from weft.optimizer.adapting import Adapting, Retrieval
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
    rules: tuple[StreamRule, ...] = ()  # where documents have their times and ids, as the file of subscriptions says
    columns: tuple[TypedColumn, ...] = ()  # all that subscriptions tell of nodes instead of their XML
    choice: AccessOfBatch | None = None  # made on the driver; without it each worker chooses for itself

    def without_joins(self) -> Compiled:
        """The subscriptions that ask for one document at a time."""
        return replace(self, joins=None)


@dataclass(frozen=True, slots=True)
class AccessOfBatch:
    """How workers retrieve the parts of conditions in a micro-batch, and where they tell what they have counted."""

    number: int  # of the choice; 0 is the access by kind
    access: Access | None = field(repr=False)
    counts: Any = field(repr=False)  # an accumulator of Spark's


@dataclass(frozen=True, slots=True)
class WorkerPlans:
    """What a worker matches with: the engine, and the id and destination of each subscription number."""

    engine: Engine
    limits: Limits
    ids: pa.StringArray
    destinations: pa.StringArray
    headers: HeaderMatcher
    adapting: Adapting | None = None
    typed: dict[int, tuple[TypedColumn, ...]] = field(default_factory=dict)
    chosen: list[int] = field(default_factory=lambda: [0])  # the number of the driver's choice that is taken over

    def keep_up(self, choice: AccessOfBatch | None) -> None:
        """What is due before the next batch: a choice that came is taken over; without any, a slice of choosing."""
        if choice is not None:
            if choice.number != self.chosen[0]:
                retrieve_now(self.engine, choice.access)
                self.chosen[0] = choice.number
        elif self.adapting is not None:
            self.adapting.keep_up(self.engine)
            self.engine.keep_up()

    def tell(self, choice: AccessOfBatch | None, digest: str) -> None:
        """Tell the driver what was counted since it was told last."""
        statistics = self.engine.large.statistics
        if choice is not None and statistics is not None:
            choice.counts.add([(digest, statistics.take())])


def retrieve_now(engine: Engine, access: Access | None) -> None:
    """Answer from another access as of the next batch."""
    engine.settle()
    if engine.can_retrieve:
        engine.retrieve(fixed_access(engine.large.shared) if access is None else access)
        engine.settle()
    else:  # no document has come yet
        engine.large.access = access


def compile_subscriptions(
    subscriptions: Subscriptions,
    *,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    version: int = 1,
    headers: Configurations = (),
    optimizer: Retrieval = "greedy",
    namespaces: Mapping[str, str] | None = None,
) -> Compiled:
    """Compile the subscriptions of a file or folder, or given ones (a query as text gets its place as id).

    If any is wrong nothing is compiled: ConfigurationError tells all that is wrong, one after the other.
    """
    matcher = Matcher(limits, dtd=dtd, headers=headers, optimizer=optimizer)
    errors = add_all(
        matcher.add,
        subscriptions if isinstance(subscriptions, str | Path) else _entries(subscriptions),
        lambda entry: replace(
            entry,
            namespaces={**(namespaces or {}), **entry.namespaces},
            ignore_namespaces=ignore_namespaces or entry.ignore_namespaces,
        ),
    )
    kept = list(matcher.subscriptions.values())
    errors += [
        f"{each.id}: on Spark a destination is text, found {each.to!r}" for each in kept if not _is_text(each.to)
    ]
    columns = _all_columns(matcher, errors)
    if errors:
        raise ConfigurationError("\n".join(errors))
    names = _strings([each.id for each in kept]), _strings([each.to for each in kept])
    plans = WorkerPlans(matcher.engine, matcher.limits, *names, matcher.headers, matcher.adapting, matcher.typed)
    payload = pickle.dumps(plans, protocol=5)
    digest = blake2b(payload, digest_size=16).hexdigest()
    rules = load_stream_rules(subscriptions) if isinstance(subscriptions, str | Path) else []
    joins = compile_joins(matcher, *names)
    return Compiled(payload, digest, version, len(kept), joins, tuple(rules), columns)


def _all_columns(matcher: Matcher, errors: list[str]) -> tuple[TypedColumn, ...]:
    """The columns of all subscriptions that have some; what does not fit together is an error."""
    try:
        return tuple(merged(matcher.typed.values()).values())
    except ConfigurationError as error:
        errors.append(str(error))
        return ()


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
