"""Workload files: the forms of a line, what is merged, and what is told of lines that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.errors import ConfigurationError
from weft.views.notation import parse_query
from weft.views.workload import Workload, WorkloadError, make_query, read_lines, read_workload

#: The workload of five sources in the paper's introduction.
INTRODUCTION = """
/s1/a/* (0.1)
/s1/a/b (0.15)
/s2/a/b[c] (0.05)
/s2/a/b[d] (0.12)
/s3/a/b ∪ /s3/a/c (0.2)
/s3/a/b (0.08)
/s4/a/{b} (0.1)
/s4/a/{c} (0.07)
/s5/a/b/c (0.05)
/s5/a/*/c (0.08)
"""


def frequencies(workload: Workload) -> dict[str, float]:
    return {query.text: query.frequency for query in workload.queries}


def test_the_workload_of_the_introduction_is_read_as_it_is_printed() -> None:
    workload = read_lines(INTRODUCTION.splitlines())

    assert len(workload.queries) == 10
    assert sum(frequencies(workload).values()) == pytest.approx(1.0)
    assert frequencies(workload)["/s3/a/b ∪ /s3/a/c"] == 0.2
    assert workload.queries[6].selection == parse_query("/s4/a/*[not(self::b)]")
    assert [query.name for query in workload.queries] == [f"q{number}" for number in range(1, 11)]


@pytest.mark.parametrize(
    "line",
    [
        "0.1 /s1/a/*",
        "  .1   /s1/a/*  # often",
        "/s1/a/* (0.1)",
        "/s1/a/*(1e-1) # 'quoted'",
        '{"query": "/s1/a/*", "frequency": 0.1}',
    ],
)
def test_a_line_has_its_frequency_before_or_behind_or_in_json(line: str) -> None:
    assert frequencies(read_lines(["# all of it", "", line])) == {"/s1/a/*": 0.1}


def test_a_frequency_may_be_missing_and_a_number_sign_in_a_string_is_no_comment() -> None:
    workload = read_lines(["//a[b = ' #1'] # first"])

    assert frequencies(workload) == {"//a[b = ' #1']": 1.0}


def test_queries_have_names_and_namespaces() -> None:
    line = json.dumps({"query": "/p:a", "name": "mine", "namespaces": {"p": "urn:x"}})

    workload = read_lines(["hot: 0.5 /s/a", "q1: /s/b (2)", "/s/c", line])

    assert [query.name for query in workload.queries] == ["hot", "q1", "q2", "mine"]
    assert workload.queries[3].selection == parse_query("/p:a", {"p": "urn:x"})


def test_equal_queries_are_one_however_they_are_written() -> None:
    workload = read_lines(["0.1 /s4/a/{b}", "/s4/a/*[not(self::b)] (0.25)", "0.5 /s4/a/!{b}", "1 /s4/a"])

    assert [query.frequency for query in workload.queries] == [pytest.approx(0.85), 1]


def test_frequencies_are_normalized_only_when_that_is_asked_for() -> None:
    workload = read_lines(["3 /a", "1 /b"])

    assert [query.frequency for query in workload.queries] == [3, 1]
    assert [query.frequency for query in workload.normalized().queries] == [0.75, 0.25]
    assert Workload(()).normalized() == Workload(())


def test_every_line_that_is_wrong_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "workload.txt"
    file.write_text(
        '0.1 /s1/a\n0.2 /s1/{\n# fine\n-1 /s1/b\n{"query": 3}\n{"query"\n{"name": "x"}\n{"q": "/a"}\nx: /a\nx: /b\n'
        '{"query": "/a", "namespaces": {"p": 1}}\n/c (0.5)\n'
    )

    with pytest.raises(WorkloadError) as raised:
        read_workload(file)

    lines = [int(error.removeprefix(f"{file}:").split(":")[0]) for error in raised.value.errors]
    assert lines == [2, 4, 5, 6, 7, 8, 10, 11]
    assert "found the end of the query\n  /s1/{\n       ^" in raised.value.errors[0]
    assert "found 'x', which line 9 has" in str(raised.value)
    assert [query.text for query in raised.value.workload.queries] == ["/s1/a", "/a", "/c"]


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigurationError, match=r"/none: No such file or directory$"):
        read_workload(tmp_path / "none")
    with pytest.raises(ConfigurationError, match=r"/binary: not UTF-8 text$"):
        read_workload(tmp_path / "binary")


@pytest.mark.parametrize("line", ["/a (1e999)", "1e301 /a", f'{{"query": "/a", "frequency": 1{"0" * 400}}}'])
def test_a_frequency_that_cannot_be_added_up_is_refused(line: str) -> None:
    with pytest.raises(WorkloadError, match="line:1: expected a frequency from 0 on, found"):
        read_lines([line])


def test_a_query_beyond_the_limit_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected a query of at most"):
        make_query("/a" * 100_000)
