"""The parameters of `generate_flwr` in, the shape that its queries follow out, once they are checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from weft.errors import ConfigurationError
from weft.workload.options import check_least, check_probability

ComparisonMix: TypeAlias = Literal["equal", "mixed"]


@dataclass(frozen=True, slots=True)
class FlwrShape:
    """The parameters of `generate_flwr` that one query follows."""

    depth: int
    predicate_paths: int
    return_paths: int
    path_depth: int
    descendant: float
    values: int
    words: int
    binding_predicates: float
    where_or: float
    second_variable: float
    let: float
    order_by: float
    attributes: float
    texts: float
    counts: float
    comparison: ComparisonMix

    def __post_init__(self) -> None:
        check_least(depth=(self.depth, 1), predicate_paths=(self.predicate_paths, 0))
        check_least(return_paths=(self.return_paths, 1), path_depth=(self.path_depth, 1))
        check_least(values=(self.values, 1), words=(self.words, 1))
        check_probability(descendant=self.descendant, binding_predicates=self.binding_predicates)
        check_probability(where_or=self.where_or, second_variable=self.second_variable, let=self.let)
        check_probability(order_by=self.order_by, attributes=self.attributes)
        check_probability(texts=self.texts, counts=self.counts)
        if self.comparison not in get_args(ComparisonMix):
            raise ConfigurationError(f'comparison must be "equal" or "mixed", found {self.comparison!r}')
