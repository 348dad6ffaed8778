"""What operators took and let through in, the costs of patterns and passes out; what is older counts less."""

from __future__ import annotations

from weft.optimizer.aged_mean import AgedMean
from weft.optimizer.algebra import Pass
from weft.optimizer.cost import CostModel, LeadShare, PassCost, PatternCost
from weft.optimizer.pattern_tree import PatternTree
from weft.optimizer.unit_costs import UnitCosts

_LEAST_OWN = 0.25  # of what an operator takes that is at least its elements' and not its call's


class Statistics:
    """What is known of one query's patterns on one stream, and of reading its elements."""

    def __init__(self, tree: PatternTree, units: UnitCosts, *, trusted: bool = False) -> None:
        self._tree, self.units, self._trusted = tree, units, trusted
        self.is_observed = True  # this batch: what is not has no time taken of it, and changes nothing here
        self.is_cold = False  # what this batch takes is not what others will take: only shares are seen
        self.observations = 0  # that were made, each of which takes its time
        self.counting = 0  # nanoseconds that it took to count, beside them, what only statistics ask for
        self.forget()

    def forget(self) -> None:
        """Begin anew: nothing is known."""
        number = range(len(self._tree.patterns))
        self.selectivity = [AgedMean() for _ in number]
        self.inside, self.outside = [AgedMean() for _ in number], [AgedMean() for _ in number]
        self.bindings = [AgedMean() for _ in number]  # in an element that came to the pattern
        self.passes: dict[Pass | str, AgedMean] = {
            each: AgedMean() for each in ("narrow", "whole", "labels", "check", "lead")
        }
        self.size, self.nodes, self.batch = AgedMean(), AgedMean(), AgedMean()  # bytes, nodes; elements in a batch

    @property
    def taken(self) -> int:
        """Nanoseconds that they took so far."""
        return self.counting + int(self.observations * self.units.observe)

    # -- what is observed

    def begin_batch(self, elements: int, size: int, *, is_observed: bool) -> None:
        """A batch begins."""
        self.is_observed = is_observed
        if is_observed:
            self.observations += 1
            self.batch.add(1, elements)
            self.size.add(elements, size)

    def saw_pass(self, name: Pass | str, elements: int, nanoseconds: int, nodes: int | None = None) -> None:
        """A pass over so many elements."""
        if not self.is_observed or self.is_cold:
            return
        self.observations += 1
        self.passes[name].add(elements, nanoseconds)
        if nodes is not None:
            self.nodes.add(elements, nodes)

    def saw_share(self, pattern: int, came: int, passed: int) -> None:
        """Of the elements that came to a pattern so many have it."""
        if not self.is_observed:
            return
        self.observations += 1
        self.selectivity[pattern].add(came, passed)

    def saw_cost(self, pattern: int, came: int, nanoseconds: int, bindings: int, *, inside: bool) -> None:
        """What an operator took, and how many nodes it found."""
        if not self.is_observed or self.is_cold:
            return
        self.observations += 1
        own = max(nanoseconds - self.units.call, nanoseconds * _LEAST_OWN)
        (self.inside if inside else self.outside)[pattern].add(came, own)
        self.bindings[pattern].add(came, bindings)

    # -- what follows from it

    def model(self, lead: LeadShare | None = None) -> CostModel:
        """The cost of plans, as far as is known now."""
        patterns = tuple(self.pattern_cost(number) for number in range(len(self._tree.patterns)))
        return CostModel(self._tree, patterns, self.pass_cost(), *([] if lead is None else [lead]))

    def pattern_cost(self, number: int) -> PatternCost:
        """As observed where it was in that place, else from its bindings and the unit costs."""
        bindings, nodes, units = self.bindings[number].value, self.nodes.value, self.units
        if bindings is None:  # seen by its name alone: at least one where it is
            bindings = self.selectivity[number].value
        tests = len(self._tree.patterns[number].tests)
        inside, outside = self.inside[number].value, self.outside[number].value
        if bindings is not None:
            testing = bindings * (units.visit + tests * units.test)
            if inside is None and nodes is not None:
                inside = nodes * units.row + testing
            if outside is None:
                outside = testing
        return PatternCost(inside, outside, self.selectivity[number].value)

    def pass_cost(self) -> PassCost:
        """The same of passes; their unit costs are by the byte."""
        size, batch = self.size.value or 0.0, self.batch.value or 1.0
        units = self.units
        narrow = self._pass("narrow", size * units.narrow_byte)
        whole = self._pass("whole", size * units.whole_byte)
        labels = self._pass("labels", (self.nodes.value or 0.0) * units.row)
        check = 0.0 if self._trusted else self._pass("check", narrow)
        return PassCost(narrow, whole, labels, units.call / batch, check, self._pass("lead", units.cut))

    def _pass(self, name: Pass | str, estimate: float) -> float:
        seen = self.passes[name].value
        return estimate if seen is None else seen
