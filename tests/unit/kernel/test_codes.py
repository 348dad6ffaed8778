"""The numbers that the compiled evaluation knows things by are those of the engine, and the same in C."""

from __future__ import annotations

import re
from pathlib import Path

from weft.documents.kind import Kind
from weft.engine.shared.comparisons import Reading
from weft.engine.shared.nodes import OPERATOR_CODES, MeasureKind, NodeKind
from weft.engine.shared.text_parts import MEANS
from weft.kernel import codes

SOURCE = Path(codes.__file__).with_suffix(".pxd")


def test_kinds_of_nodes_are_those_of_the_shared_plan() -> None:
    assert {kind.name: kind.value for kind in NodeKind} == {kind.name: getattr(codes, kind.name) for kind in NodeKind}


def test_kinds_of_measures_are_those_of_the_shared_plan() -> None:
    assert tuple(MeasureKind) == (codes.COUNT, codes.POSITION, codes.FROM_END)


def test_operators_are_those_of_the_shared_plan() -> None:
    names = ("EQ", "NE", "LT", "LE", "GT", "GE", "CONTAINS", "STARTS", "ENDS", "MATCHES")

    assert [getattr(codes, name) for name in names] == list(OPERATOR_CODES.values())


def test_readings_are_those_of_comparisons() -> None:
    assert (codes.TEXT, codes.NUMBER, codes.DOUBLE, codes.DATE) == (
        Reading.TEXT,
        Reading.NUMBER,
        Reading.DOUBLE,
        Reading.DATE,
    )
    assert {codes.PROBED, codes.PART}.isdisjoint(set(Reading))


def test_means_and_kinds_of_document_nodes_are_the_same() -> None:
    means = {codes.STARTS: codes.BY_START, codes.ENDS: codes.BY_END, codes.CONTAINS: codes.BY_INSIDE}

    assert means == MEANS
    assert (codes.ELEMENT, codes.ATTRIBUTE) == (Kind.ELEMENT, Kind.ATTRIBUTE)


def test_the_numbers_in_c_are_those_in_python() -> None:
    in_c = {name: int(number) for name, number in re.findall(r"^    (\w+) = (\d+)$", SOURCE.read_text(), re.M)}

    assert in_c == {name: value for name, value in vars(codes).items() if name.isupper()}
