"""One query and an endless stream of bottom input elements in, answers out, by plans that change while they run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import thread_time_ns

from weft.documents.document import Document, Limits, as_documents
from weft.documents.dtd import Dtd
from weft.engine.paths.bounds import Bounds
from weft.errors import ConfigurationError, DocumentError, MessageError, UnsupportedError
from weft.languages import parse
from weft.optimizer.algebra import ElementPlan, Inside, are_places, initial_plan
from weft.optimizer.batches import MOST, batches
from weft.optimizer.cost import CostModel, PlanCost
from weft.optimizer.executor import ElementExecutor, Survivors
from weft.optimizer.leads import Leads
from weft.optimizer.migration import Migration, Overhead
from weft.optimizer.pattern_tree import pattern_tree
from weft.optimizer.search import FoundPlan, Optimizer, check_optimizer, search
from weft.optimizer.statistics import Statistics
from weft.optimizer.tagging import ElementAnswer, Tagging
from weft.optimizer.unit_costs import USUAL, ProcessorClock, UnitCosts, unit_costs
from weft.plans.xscl import Xscl

_FIRST_BATCH = 256
_KEPT = 10_000  # rejected elements, refused messages and batches that are remembered
_NO_NAMESPACES: dict[str, str] = {}
Elements = Document | bytes | str | Iterable[Document | bytes | str]


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A batch as it ran: how many elements had come before, how many it has, what one took, and by which plan."""

    first: int
    elements: int
    nanoseconds: float
    plan: ElementPlan
    survivors: int


class ElementMatcher:
    """Answers one XPath or FLWR query on a stream of elements, each a document of its own.

    >>> matcher = ElementMatcher("/auction[reserve and bidder/zip = '01609']")
    >>> len(matcher.matches("<auction><reserve/><bidder><zip>01609</zip></bidder></auction>"))
    1

    What the query requires of an element is retrieved in the scan, or navigated to where the rest has held; which of
    the two is decided for each pattern by what it costs on this stream, again and again. The answers are those of a
    `Broker` on the same elements.
    """

    # Long: half of it is options.
    def __init__(
        self,
        query: str,
        *,
        optimizer: Optimizer = "greedy",
        language: str | None = None,
        namespaces: Mapping[str, str] | None = None,
        ignore_namespaces: bool = False,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        trusted: bool = False,
        units: UnitCosts | None = None,
        clock: ProcessorClock = thread_time_ns,
    ) -> None:
        """`optimizer` is "min-exhaust", "greedy", "fast-prune", or "fixed" for the plan as it is: all in.

        With a DTD, an element is read only as far as it takes to see that it does not match; the rest is checked for
        being well-formed, or with `trusted` not looked at. `units` are unit costs to begin and to go on with;
        without them these are measured as soon as that takes little of the time.
        """
        if trusted and dtd is None:
            raise ConfigurationError("trusted: expected a DTD that elements keep to, found none")
        self.limits = limits or Limits()
        plan = parse(query, language, namespaces or _NO_NAMESPACES, ignore_namespaces, self.limits)
        if isinstance(plan, Xscl):
            raise UnsupportedError("XSCL", query, 0, "a join of several documents", "subscribe it to a broker")
        self.query, self.optimizer = query, optimizer
        self.tree = pattern_tree(plan)
        check_optimizer(optimizer, self.tree)
        self._clock = clock
        self._leads = Leads(self.tree, dtd, trusted=trusted)
        self.statistics = Statistics(self.tree, units or USUAL, trusted=trusted)
        executor = ElementExecutor(self.tree, self.limits, self.statistics, self._leads, clock, bounds, trusted=trusted)
        self._executor, self._tagging = executor, Tagging(query, plan, self.tree, self.limits)
        self._migration = Migration()
        self.plan = initial_plan(self.tree)
        self.found: FoundPlan | None = None  # by the latest search
        self._rejected: deque[DocumentError] = deque(maxlen=_KEPT)
        self._refused: deque[MessageError] = deque(maxlen=_KEPT)
        self._runs: deque[BatchRun] = deque(maxlen=_KEPT)
        self._elements = 0
        self._is_probed = False
        self._observed: ElementPlan | None = None  # the plan of the latest batch
        self._is_cold = False  # whether that was its first one
        self._is_measured = units is not None

    # -- answers

    def matches(self, elements: Elements) -> list[str]:
        """The ids of the elements that match; each call is a batch, or several if there are very many."""
        return [id for batch in self._batches(as_documents(elements)) for id in self._run(batch, with_nodes=False)[0]]

    def answers(self, elements: Elements) -> list[ElementAnswer]:
        """For each element that matches what the query selects, or the message that it builds."""
        found = [self._run(batch, with_nodes=True)[1] for batch in self._batches(as_documents(elements))]
        return [answer for answers in found for answer in answers]

    def stream(
        self, elements: Iterable[Document | DocumentError], *, wait: float | None = None
    ) -> Iterator[ElementAnswer]:
        """The same of a stream without an end; answers come after each batch, and one batch is held.

        With `wait` elements are read by a thread of its own, and none waits much longer than so many seconds for the
        others of its batch. What could not be read before it came here, as `weft.inputs` tells it, is among `rejected`.
        """
        for batch in self._batches(self._readable(elements), wait):
            yield from self._run(batch, with_nodes=True)[1]

    def _batches(self, elements: Iterable[Document], wait: float | None = None) -> Iterator[list[Document]]:
        """As long as little is known batches are small: the plan may be a bad one."""
        return batches(elements, min(max(self._elements, _FIRST_BATCH), MOST), wait)

    def _readable(self, elements: Iterable[Document | DocumentError]) -> Iterator[Document]:
        for element in elements:
            if isinstance(element, DocumentError):
                self._rejected.append(element)
            else:
                yield element

    def _run(self, batch: list[Document], *, with_nodes: bool) -> tuple[list[str], list[ElementAnswer]]:
        """One batch by the plan of now, and then perhaps a migration."""
        if not self._is_probed:
            self._is_probed = True
            self.statistics.is_cold = False
            self._undisturbed(lambda: self._probe(batch))
        is_observed = self._is_observed()
        self.statistics.is_cold = self._is_cold
        start = self._clock()
        survivors = self._executor.run(self.plan, batch, is_observed=is_observed)
        ids: list[str] = []
        answers: list[ElementAnswer] = []
        if with_nodes:
            answers = self._tagging.answers(survivors.table, survivors.places)
        else:
            ids = self._tagging.ids(survivors.table, survivors.places)
        taken = self._clock() - start
        self._migration.ran(taken)
        self._note(batch, survivors, taken)
        if not self._is_measured and self._migration.may_measure:
            self._undisturbed(self.measure)
        if self.optimizer != "fixed" and not self._is_cold and self._migration.is_due:
            self._undisturbed(self._optimize)
        return ids, answers

    def _is_observed(self) -> bool:
        """Whether the next batch is: as far as that may take time, and at once where a plan is new.

        The first batch of a plan learns names and label paths, so that what it takes tells nothing of the next ones.
        Who stays with one plan searches nothing, and has all batches observed for whoever asks what they cost.
        """
        if self.optimizer == "fixed":
            return True
        was_cold, self._is_cold = self._is_cold, self.plan is not self._observed
        self._observed = self.plan
        return self._is_cold or was_cold or self._migration.may_observe

    def _undisturbed(self, work: Callable[[], object]) -> None:
        """What finds plans disturbs no answer: where it fails, what was known is forgotten, and comes again."""
        start = self._clock()
        try:
            work()
        except Exception:
            self._migration.searched(self._clock() - start)
            self.statistics.forget()
            self._is_probed = False

    def _note(self, batch: list[Document], survivors: Survivors, taken: int) -> None:
        self._migration.overhead.statistics = self.statistics.taken
        self._rejected.extend(survivors.rejected)
        self._refused.extend(self._tagging.refused)
        self._tagging.refused.clear()
        found = int(survivors.places.size)
        self._runs.append(BatchRun(self._elements, len(batch), taken / len(batch), self.plan, found))
        self._elements += len(batch)

    # -- plans

    def _probe(self, batch: list[Document]) -> None:
        start = self._clock()
        self._executor.probe(batch)
        self._migration.overhead.probing += self._clock() - start

    def measure(self) -> None:
        """Take the unit costs of this machine, which are measured once in a process, instead of those of another."""
        start, self._is_measured = self._clock(), True
        self.statistics.units = unit_costs()
        self._migration.overhead.probing += self._clock() - start

    def _optimize(self) -> None:
        """Look for a better plan, and take it if it gains enough: the batch is over."""
        start = self._clock()
        model = self.model()
        self.found = search(self.optimizer, model, self.plan.inside)
        running = model.cost_as_it_is(self.plan)
        searched = self._clock()
        self._migration.searched(searched - start)
        if self._migration.is_better(self.found.best, running):
            self._migration.migrations += 1
            self.plan = self.found.best.plan
        self._migration.overhead.migrating += self._clock() - searched

    def migrate(self, inside: Inside) -> None:
        """Go on with other places from the next batch on; the others come in the order that costs least."""
        if not are_places(self.tree, inside):
            raise ConfigurationError(f"places: expected patterns with their ancestors, found {sorted(inside)}")
        plan = self.model().cost(inside).plan
        self.plan = replace(plan, scan="whole") if not self._elements else plan

    def model(self) -> CostModel:
        """What plans cost by what is known now."""
        return self.statistics.model(self._leads.share)

    @property
    def cost(self) -> PlanCost:
        """What the plan that runs is expected to cost."""
        return self.model().cost_as_it_is(self.plan)

    # -- what is told

    @property
    def rejected(self) -> tuple[DocumentError, ...]:
        """The elements that could not be read, with place and reason; the latest ten thousand that were not taken."""
        return tuple(self._rejected)

    def take_rejected(self) -> list[DocumentError]:
        """Those of them that were not taken before."""
        taken = list(self._rejected)
        self._rejected.clear()
        return taken

    @property
    def refused(self) -> tuple[MessageError, ...]:
        """The messages that were not made because they would break a limit; the latest ten thousand."""
        return tuple(self._refused)

    @property
    def runs(self) -> tuple[BatchRun, ...]:
        """The batches so far; the latest ten thousand."""
        return tuple(self._runs)

    @property
    def overhead(self) -> Overhead:
        """What finding and changing plans took, beside the plans."""
        return self._migration.overhead

    @property
    def migrations(self) -> int:
        """How often the plan has changed."""
        return self._migration.migrations
