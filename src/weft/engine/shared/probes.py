"""A frozen shared plan in, what label paths and values bring up as the columns that the compiled probing reads out."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs
from weft.engine.shared.comparisons import Comparisons, Reading
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.nodes import COMPARISONS
from weft.engine.shared.text_parts import MEANS
from weft.kernel.codes import BY_EQUAL
from weft.kernel.part_tables import PartTables
from weft.kernel.probe_tables import ProbeTables

EQUAL_TEXTS = ("=", Reading.TEXT)  # the one family that is found by hash, not in order


def make_probes(frozen: Frozen, named_symbols: Ints) -> Generator[None, None, ProbeTables]:
    """The columns of a frozen plan, in steps; `named_symbols` has the label test of every NAMED entry."""
    states = len(frozen.shared.states)
    columns = {
        "up_start": frozen.up.starts,
        "up_nodes": frozen.up.entries,
        "named_start": frozen.named.starts,
        "named_nodes": frozen.named.entries,
        "named_symbols": named_symbols,
        "is_context": frozen.is_context.astype(np.int8),
        "machine_start": frozen.machine_start,
    }
    yield
    comparisons = frozen.comparisons
    columns |= yield from _runs(frozen, states)
    yield
    columns |= yield from _by_constant(frozen, states)
    yield
    texts = [text.encode() for text in comparisons.coded_texts]
    yield
    parts = PartTables(frozen.parts.operators, frozen.parts.constants)
    yield
    return ProbeTables(columns, texts, comparisons.orders_texts, parts)


def _brought_up(frozen: Frozen, tests: Ints) -> tuple[Longs, Ints]:
    """(place, node) of what comes up where tests are passed: what they drive, and those that are results themselves."""
    is_own = (frozen.result_of_node[tests] >= 0) | frozen.is_thorough
    own, others = np.flatnonzero(is_own), np.flatnonzero(~is_own)
    which, driven = frozen.dependents.of(tests[others])
    place = np.concatenate([own, others[which]])
    order = np.argsort(place, kind="stable")
    return place[order], np.concatenate([tests[own], driven])[order].astype(np.int32)


def _runs(frozen: Frozen, states: int) -> Generator[None, None, dict[str, object]]:
    """Of every state what the tests of each family bring up, in the order of constants; those on NaN are the last.

    The tests on measures are behind them, as if each measure were a state.
    """
    comparisons = frozen.comparisons
    families = [(family, runs) for family, runs in comparisons.families.items() if family != EQUAL_TEXTS]
    none: Ints = np.zeros(0, np.int32)
    state = np.concatenate([none, *(runs[0] for _, runs in families)])
    operator = np.concatenate([none, *(np.full(runs[2].size, COMPARISONS.index(each[0])) for each, runs in families)])
    reading = np.concatenate([none, *(np.full(runs[2].size, int(each[1])) for each, runs in families)])
    key = np.concatenate([np.zeros(0), *(_keys(comparisons, each[1], runs[1]) for each, runs in families)])
    test = np.concatenate([none, *(runs[2] for _, runs in families)])
    yield
    which, test = _brought_up(frozen, test)
    yield
    columns = _measure_tests(frozen, states)
    state, operator = np.append(state[which], columns[0]), np.append(operator[which], columns[1])
    reading = np.append(reading[which], np.full(columns[0].size, Reading.NUMBER))
    key, test = np.append(key[which], columns[2]), np.append(test, columns[3])
    yield
    order = np.lexsort((key, reading, operator, state))  # not-a-number comes last
    yield
    state, operator, reading, key, test = state[order], operator[order], reading[order], key[order], test[order]
    yield
    is_first = np.ones(test.size, bool)
    is_first[1:] = (np.diff(state) != 0) | (np.diff(operator) != 0) | (np.diff(reading) != 0)
    test_start = np.append(np.flatnonzero(is_first), test.size)
    start, end = test_start[:-1], test_start[1:]
    before = np.append(0, np.cumsum(~np.isnan(key)))
    form = operator[start] + 256 * reading[start]
    places = np.arange(states + len(frozen.shared.measures.node) + 1)
    run_start = np.searchsorted(state[start], places).astype(np.int64)
    return {
        "run_start": run_start[: states + 1],
        "measure_start": run_start[states:],
        "runs": np.stack([start, start + before[end] - before[start], end, form], axis=1).astype(np.int32),
        "keys": key.astype(np.float64),
        "run_nodes": test,
    }


def _measure_tests(frozen: Frozen, states: int) -> tuple[Ints, Ints, NDArray[np.float64], Ints]:
    """(place behind the states, operator, number, test) of the tests on measures that are to come up."""
    compared, row = frozen.shared.compared, np.array(frozen.shared.nodes.row, np.int32)
    here = np.flatnonzero(frozen.is_needed[np.array(compared.node, np.int32)])
    node, measure = np.array(compared.node, np.int32)[here], np.array(compared.measure, np.int32)[here]
    return states + row[measure], np.array(compared.operator, np.int32)[here], np.array(compared.number)[here], node


def _keys(comparisons: Comparisons, reading: Reading, codes: Ints) -> NDArray[np.float64]:
    """What the tests of a family are in the order of: the ranks of texts, or numbers."""
    return codes.astype(np.float64) if reading is Reading.TEXT else comparisons.number_of(codes)


def _by_constant(frozen: Frozen, states: int) -> Generator[None, None, dict[str, object]]:
    """Of every state the constants, texts first and parts of texts behind them, with what each brings up."""
    comparisons, texts = frozen.comparisons, len(frozen.comparisons.coded_texts)
    none = np.zeros(0, np.int32)
    equal_state, codes, tests = comparisons.families.get(EQUAL_TEXTS, (none, none, none))
    part_state, part_code, part_test = frozen.part_of_state
    state = np.concatenate([equal_state, part_state])
    code, test = np.concatenate([codes, texts + part_code]), np.concatenate([tests, part_test])
    means = np.zeros(states, np.int8)
    means[equal_state] = BY_EQUAL
    means_of_code = np.array([MEANS[operator] for operator in frozen.parts.operators], np.int8)
    np.bitwise_or.at(means, part_state, means_of_code[part_code])
    yield
    which, node = _brought_up(frozen, test)
    yield
    state, code = state[which], code[which]
    order = np.argsort(state.astype(np.int64) << 32 | code, kind="stable")  # much of it is in order
    yield
    state, code, node = state[order], code[order], node[order]
    yield
    begins = np.flatnonzero(np.append(True, (np.diff(state) != 0) | (np.diff(code) != 0))[: state.size])
    sizes = np.diff(np.append(begins, state.size))
    has_several = sizes > 1
    places = np.cumsum(has_several) - 1
    yield
    return {
        "means": means,
        "constant_start": np.searchsorted(state[begins], np.arange(states + 1)).astype(np.int64),
        "constants": np.stack([code[begins], np.where(has_several, ~places, node[begins])], axis=1).astype(np.int32),
        "several_start": np.append(0, np.cumsum(sizes[has_several])),
        "several_nodes": node[np.repeat(has_several, sizes)],
    }
