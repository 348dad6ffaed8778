"""Nothing in, what the smallest parts of the work take on this machine out, in nanoseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import thread_time_ns

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.scan import scan_paths
from weft.optimizer.aged_mean import AgedMean
from weft.optimizer.leads import Lead
from weft.optimizer.navigation import Navigator
from weft.optimizer.value_tests import Values
from weft.plans.plan import Step, Value

_ELEMENTS, _ROUNDS = 256, 5
_FIELDS = 8
_TEXT = "a text of some words, as elements have them, beside numbers"
_LEAD = Lead(b"</f3>", b"<f3", (b"<f3",), b"</e>", trusted=False)
MEASURING = 8_000_000  # nanoseconds that it takes about
ProcessorClock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """Nanoseconds: of scans a byte, else a node, a binding or a value; `call` is what an operator takes anyway."""

    narrow_byte: float
    whole_byte: float
    row: float  # a node whose label path is looked up and compared
    visit: float  # a binding that is navigated to
    test: float  # a value that is compared
    call: float
    cut: float  # an element whose lead is taken
    observe: float  # one observation, with the look at the clock before it


#: Those of another machine, until there is time to measure those of this one.
USUAL = UnitCosts(1.1, 1.2, 0.35, 60.0, 110.0, 33_000.0, 660.0, 1_000.0)


@cache
def unit_costs() -> UnitCosts:
    """Those of this machine, measured when they are first asked for."""
    return calibrate(thread_time_ns)


def calibrate(clock: ProcessorClock) -> UnitCosts:
    """Measure them on made-up elements; the best of some rounds, for what disturbs only ever adds."""
    sources = [_element(number) for number in range(_ELEMENTS)]
    batch = [Document(data, str(number)) for number, data in enumerate(sources)]
    size = sum(map(len, sources))
    limits = Limits()

    def best(work: Callable[[], object]) -> float:
        times = []
        for _ in range(_ROUNDS):
            start = clock()
            work()
            times.append(clock() - start)
        return max(min(times), 1)

    table = read(batch, limits)
    navigator, values = Navigator(table), Values(table)
    roots, step = table.ranges[0][:-1], Step("f3")
    test = Value(">", 40.0)
    _, fields = navigator.step(roots, step)
    few = roots[:1]
    call = best(lambda: navigator.step(few, step)) + best(lambda: values.passing(fields[:1], test))
    return UnitCosts(
        best(lambda: scan_paths(batch, limits, attributes=True, texts=True)) / size,
        best(lambda: read(batch, limits)) / size,
        best(lambda: table.name == 3) / table.elements,
        best(lambda: navigator.step(roots, step)) / roots.size,
        best(lambda: values.passing(fields, test)) / fields.size,
        call,
        best(lambda: [_LEAD.cut(data) for data in sources]) / _ELEMENTS,
        best(lambda: _observe(clock)) / _ELEMENTS,
    )


def _observe(clock: ProcessorClock) -> None:
    """As many observations as there are elements."""
    mean, other = AgedMean(), AgedMean()
    for _ in range(_ELEMENTS):
        start = clock()
        mean.add(1, clock() - start)
        other.add(1, 1)


def _element(number: int) -> bytes:
    fields = "".join(f"<f{at}>{number * at % 97}</f{at}><t{at}>{_TEXT[: 20 + 5 * at]}</t{at}>" for at in range(_FIELDS))
    return f"<e>{fields}</e>".encode()
