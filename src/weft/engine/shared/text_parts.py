"""Tests on parts of texts in, their constants as codes out, for the compiled probing to find in values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Ints
from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import COMPARISONS, OPERATOR_CODES

_MEANS = {"starts-with": 2, "ends-with": 4, "contains": 8}  # by what values find them, as `weft.kernel.codes` has it
MEANS: dict[int, int] = {OPERATOR_CODES[operator]: means for operator, means in _MEANS.items()}


@dataclass(frozen=True, slots=True)
class TextParts:
    """Distinct pairs of an operator and a constant have codes; tests that have one, and which."""

    operators: list[int]
    constants: list[bytes]
    tests: Ints
    codes: Ints


NO_PARTS = TextParts([], [], np.zeros(0, np.int32), np.zeros(0, np.int32))


def find_parts(tables: NodeTables) -> TextParts:
    """The tests on parts of texts of a shared plan, but for regular expressions, which are Python's."""
    tests = tables.tests
    operator = np.array(tests.operator, np.int8)
    here = np.flatnonzero((operator >= len(COMPARISONS)) & np.isin(operator, list(MEANS)))
    if not here.size:
        return NO_PARTS
    texts = list(tests.texts)
    keys, codes = np.unique(
        operator[here].astype(np.int64) * len(texts) + np.array(tests.constant, np.int32)[here], return_inverse=True
    )
    operators, constants = (keys // len(texts)).tolist(), [texts[at].encode() for at in (keys % len(texts)).tolist()]
    return TextParts(operators, constants, np.array(tests.node, np.int32)[here], codes.astype(np.int32))
