"""Label paths in, all that the shared plan has to do at their nodes out; made when a label path is first seen."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from weakref import ref

import numpy as np

from weft.columns.integers import Ints
from weft.columns.steps import finished
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Bounds
from weft.engine.paths.labels import LabelPaths
from weft.engine.paths.step_codes import STAR_SYMBOL, decode_step
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.probes import make_probes
from weft.kernel.evaluator import Evaluator
from weft.kernel.plan_lists import PlanLists
from weft.kernel.probe_tables import ProbeTables

_DEPTHS = 200  # bytes that depths take beside their numbers: an entry of a dictionary, and an array
Depths = dict[int, Ints]  # by deep edge, where it can begin if it ends at a label path


class LabelPlans:
    """The label paths of a shared plan with what is to be done at each."""

    def __init__(self, shared: SharedPlan, bounds: Bounds | None) -> None:
        self._shared, self._bounds = shared, bounds or Bounds()
        self._frozen: Frozen | None = None
        self._mark = 1  # label paths there were before the batch
        self._probes: ProbeTables | None = None
        self._lists: PlanLists | None = None
        self._paths_of_lists: object = None
        self._evaluator: tuple[PlanLists, Evaluator] | None = None
        self._begun_with: ref[object] | None = None  # the batch that it was last begun with, as long as that lives
        self.paths: LabelPaths[Depths] = LabelPaths(shared.states, _no_depths, bounds)

    def __getstate__(self) -> dict[str, object]:
        """What documents have brought stays behind, and what is compiled is made anew."""
        made = ("_probes", "_lists", "_paths_of_lists", "_evaluator", "_begun_with")
        return self.__dict__ | dict.fromkeys(made)

    def freeze(self, frozen: Frozen) -> None:
        """Begin anew with a changed plan."""
        self._frozen, self._probes, self._lists = frozen, None, None
        labels = [self._shared.names.label[self._shared.nodes.row[node]] for node in frozen.named.entries.tolist()]
        symbols = [STAR_SYMBOL if label == "*" else self._shared.states.symbol(label) for label in labels]
        self._evaluator = self._begun_with = None
        self._named_symbols = np.array(symbols, np.int32)
        self.paths.begin(frozen.result_of_state, frozen.is_busy)

    def freeze_in_steps(self, frozen: Frozen) -> Iterator[None]:
        """The same in steps, with all that the first batch would make."""
        self.freeze(frozen)
        yield
        yield from self.paths.prepare()
        if frozen.tallest >= 0:
            yield
            self._probes = yield from make_probes(frozen, self._named_symbols)
            yield
            _ = self.lists
            yield

    def copied(self, frozen: Frozen) -> LabelPlans:
        """All that is known, once more, of the same plan: for who is answered at the same time."""
        made = LabelPlans(self._shared, self._bounds)
        made.freeze(frozen)
        made.paths.know_all(self.paths)
        made._probes = self._probes
        if self._lists is not None and self._paths_of_lists is self.paths.kernel:
            made._lists, made._paths_of_lists = self._lists.copied(made.paths.kernel), made.paths.kernel
            made.paths.keep_beside(made._lists)
        made._mark = len(made.paths)
        return made

    def learn(self, known: LabelPlans, most: int | None = None) -> Generator[None, None, None]:
        """Know the label paths that others know, one a step, with what is to be done at each; so many if given."""
        for path in islice(self.paths.learn(known.paths), most):
            if self._frozen is not None and self._frozen.tallest >= 0:
                self.lists.is_context(path, 0)  # is answered from the label plan
            yield
        self._mark = len(self.paths)

    @property
    def lists(self) -> PlanLists:
        """The compiled label plans, of the label paths as they are now."""
        paths = self.paths.kernel
        if self._lists is None or self._paths_of_lists is not paths:
            if self._probes is None:
                assert self._frozen is not None, "a plan is frozen before a batch comes"
                self._probes = finished(make_probes(self._frozen, self._named_symbols))
            self._lists, self._paths_of_lists = PlanLists(paths, self._probes, self._bounds.begins), paths
            self.paths.keep_beside(self._lists)
        return self._lists

    def labels(self, table: NodeTable, names: Ints | None = None) -> Ints:
        """The label path of every node; `names` are the codes of their names, if these are known."""
        return self.paths.of(table, names)

    @property
    def evaluator(self) -> Evaluator:
        """The compiled evaluation with these label plans; what it keeps room for serves one batch after the other."""
        lists = self.lists
        if self._evaluator is None or self._evaluator[0] is not lists:
            assert self._frozen is not None, "a plan is frozen before a batch comes"
            self._evaluator = lists, Evaluator(self._frozen.tables, lists)
        return self._evaluator[1]

    def begun_with(self, batch: object) -> None:
        """The evaluation was begun with a batch; when that goes, nothing of it is kept."""
        evaluator, keeper = self.evaluator, ref(self)  # or this would keep itself until the garbage collector comes

        def end(gone: ref[object]) -> None:
            plans = keeper()
            if plans is not None and plans._begun_with is gone:
                evaluator.end()

        self._begun_with = ref(batch, end)

    def is_begun_with(self, batch: object) -> bool:
        """Whether a batch is the one that the evaluation was last begun with."""
        return self._begun_with is not None and self._begun_with() is batch

    @property
    def memory(self) -> int:
        """How many bytes are kept of what documents have brought."""
        remembered = 0 if self._lists is None else self._lists.remembered_memory()
        return self.paths.memory + self.paths.kernel.active_memory() + remembered

    def begin_batch(self) -> None:
        """Keep to the bounds before a batch: what the one before it brought beyond them is forgotten."""
        self.paths.finish_batch(self._mark)
        self._mark = len(self.paths)

    def depths(self, path: int, edge: int) -> Ints:
        """The depths at which a deep edge that ends at a label path can begin."""
        known = self.paths.plans[path]
        depths = known.get(edge)
        if depths is None:
            depths = known[edge] = self._find_depths(path, edge)
            self.paths.grow(path, depths.nbytes + _DEPTHS)
        return depths

    def can_begin(self, path: int, edge: int) -> bool:
        """Whether a deep edge can begin at the nodes of a label path, whatever is below them."""
        return self.lists.is_context(path, self._shared.edges.above[edge])

    def _steps(self, edge: int) -> list[int]:
        assert self._frozen is not None, "depths are asked for while a batch is matched"
        steps = self._frozen.edges.steps
        found: list[int] = steps.entries[steps.starts[edge] : steps.starts[edge + 1]].tolist()
        return found

    def _find_depths(self, path: int, edge: int) -> Ints:
        """Back over the names, step by step: where can the step before have been?"""
        paths, states = self.paths, self._shared.states
        above = self._shared.edges.above[edge]
        steps = [decode_step(code) for code in self._steps(edge)]
        chain = [0, *paths.chain(path)]
        names = ["" if not at else paths.name_of(at) for at in chain]
        can = np.zeros(len(chain), bool)
        can[-1] = True
        for at in range(len(steps) - 1, -1, -1):
            before = np.zeros_like(can)
            if steps[at][2]:
                before[: int(np.flatnonzero(can)[-1]) if can.any() else 0] = True
            else:
                before[:-1] = can[1:]
            if at and (symbol := steps[at - 1][0]) != STAR_SYMBOL:
                before &= [name != "" and symbol in states.symbols_of(name) for name in names]
            can = before
        candidates = np.flatnonzero(can).tolist()
        return np.array([at for at in candidates if self.lists.is_context(chain[at], above)], np.int32)


def _no_depths(_: int, __: Ints) -> tuple[Depths, int]:
    return {}, _DEPTHS
