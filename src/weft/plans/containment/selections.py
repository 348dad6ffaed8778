"""Containment of whole selections: patterns by homomorphism, what combines them by its parts, then by models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.plans.containment.demands import demands_of
from weft.plans.containment.homomorphism import meets
from weft.plans.containment.label_tests import labels_apart
from weft.plans.containment.models import Counterexample, find_counterexample
from weft.plans.containment.premises import premises_of
from weft.plans.containment.steps import TooLargeError
from weft.plans.containment.witness import write_tree
from weft.plans.plan import Always, Combine, Pattern, Selection, Step

_NOTHING = Pattern(None, (Step("*"),), Always(False))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether containment holds, None if it is not known; how that was found, and a document in which it does not."""

    holds: bool | None
    how: Literal["homomorphism", "models", "counterexample", "beyond the fragment", "too large"]
    document: str | None = None


def covers(wide: Selection, narrow: Selection) -> bool:
    """Whether every document in which `narrow` selects something is one in which `wide` does; `False` if not known.

    >>> from weft.plans.plan import Step
    >>> covers(Pattern(None, (Step("b", deep=True),)), Pattern(None, (Step("a"), Step("b"), Step("c"))))
    True
    """
    return _is_known(wide, narrow, by_result=False)


def contains(wide: Selection, narrow: Selection) -> bool:
    """Whether in every document all nodes that `narrow` selects are selected by `wide`; `False` if not known."""
    return _is_known(wide, narrow, by_result=True)


def contains_plainly(wide: Selection, narrow: Selection) -> bool:
    """The same, in tens of microseconds: `False` where a homomorphism does not tell, though models might."""
    return _ContainmentQuestion(by_result=True).answer(wide, narrow)


def apart(one: Selection, other: Selection) -> bool:
    """Whether in no document a node is selected by both; `False` if not known."""
    question = _ContainmentQuestion(by_result=True)
    return question.answer_apart(one, other) or contains(_NOTHING, Combine("intersect", (one, other)))


def _is_known(wide: Selection, narrow: Selection, by_result: bool) -> bool:
    if _ContainmentQuestion(by_result).answer(wide, narrow):
        return True
    return not _is_hopeless(wide, narrow) and _by_models(wide, narrow, by_result).holds is True


def _is_hopeless(wide: Selection, narrow: Selection) -> bool:
    """Whether the wide pattern asks for a name that the narrow one, which surely has models, does without."""
    if not isinstance(wide, Pattern) or not isinstance(narrow, Pattern):
        return False
    try:
        premises = premises_of(narrow)
        is_plain = not any(node.is_dead or node.denied or node.cases for node in premises.nodes)
        return is_plain and not demands_of(wide).labels <= premises.labels
    except (TooLargeError, RecursionError):
        return False


def decide(wide: Selection, narrow: Selection, by_result: bool = True) -> Verdict:
    """What is known of containment: of nodes (`contains`), or without `by_result` of documents (`covers`).

    It is always known, up to a size, where all tests are on names and on what lies below (`[p]`, `[not(p)]`).
    """
    if _ContainmentQuestion(by_result).answer(wide, narrow):
        return Verdict(True, "homomorphism")
    return _by_models(wide, narrow, by_result)


def _by_models(wide: Selection, narrow: Selection, by_result: bool) -> Verdict:
    try:
        found = find_counterexample(wide, narrow, by_result)
    except (TooLargeError, RecursionError):
        within = not by_result and decide(wide, narrow).holds  # what contains covers
        return Verdict(True, "models") if within else Verdict(None, "too large")
    return _judge(found)


def _judge(found: Counterexample | None) -> Verdict:
    if found is None:
        return Verdict(True, "models")
    if not found.is_certain:
        return Verdict(None, "beyond the fragment")
    return Verdict(False, "counterexample", write_tree(found.tree))


class _ContainmentQuestion:
    """One question, with the answers to the questions in it: parts of selections may meet in many ways."""

    def __init__(self, by_result: bool) -> None:
        self._by_result = by_result
        self._known: dict[tuple[int, int, bool], bool] = {}

    def answer(self, wide: Selection, narrow: Selection) -> bool:
        """What is too large or too deep to be compared is not contained, as far as anybody knows."""
        try:
            return self._holds(wide, narrow, self._by_result)
        except (TooLargeError, RecursionError):
            return False

    def answer_apart(self, one: Selection, other: Selection) -> bool:
        """Whether it is easily seen that no node is in both."""
        try:
            return self._apart(one, other)
        except (TooLargeError, RecursionError):
            return False

    def _holds(self, wide: Selection, narrow: Selection, by_result: bool) -> bool:
        key = id(wide), id(narrow), by_result
        if key not in self._known:
            self._known[key] = wide == narrow or self._by_parts(wide, narrow, by_result)
        return self._known[key]

    def _by_parts(self, wide: Selection, narrow: Selection, by_result: bool) -> bool:
        match wide, narrow:
            case _, Combine("union", parts):
                return all(self._holds(wide, part, by_result) for part in parts)
            case Pattern(), Pattern():
                return meets(premises_of(narrow), demands_of(wide), by_result)
            case Combine("union", parts), _ if any(self._holds(part, narrow, by_result) for part in parts):
                return True
            case Combine("intersect", parts), _ if all(self._holds(part, narrow, True) for part in parts):
                return True
            case Combine("except", (first, *others)), _ if self._holds(first, narrow, True) and all(
                self._apart(narrow, other) for other in others
            ):
                return True
            case _, Combine("intersect", parts):
                return any(self._holds(wide, part, by_result) for part in parts)
            case _, Combine("except", (first, *_)):
                return self._holds(wide, first, by_result)
            case _:
                return False

    def _apart(self, one: Selection, other: Selection) -> bool:
        """Whether surely no node is in both."""
        match one, other:
            case Pattern(path=(*_, mine)), Pattern(path=(*_, theirs)):
                return mine.kind is not theirs.kind or labels_apart(mine.label, theirs.label)
            case Combine("except", (_, *gone)), _ if any(self._holds(part, other, True) for part in gone):
                return True
            case Combine("union", parts), _:
                return all(self._apart(part, other) for part in parts)
            case Combine(_, (first, *_)), _:
                return self._apart(first, other)
            case _, Combine():
                return self._apart(other, one)
            case _:
                return False
