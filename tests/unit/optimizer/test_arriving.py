"""Elements that come slowly: their answers do not wait for a full batch, whatever the stream is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from time import monotonic

import pytest

from weft import Document
from weft.inputs.arriving import arriving
from weft.optimizer import ElementMatcher, read_elements

PATIENCE = 20.0  # seconds, on a busy machine


def test_answers_come_while_the_stream_is_open() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as other:
        answers = ElementMatcher("/e[b = 1]").stream(read_elements(stream, "e"), wait=0.02)
        other.write(b"<es><e><b>1</b></e><e><b>2</b></e><e><b>1<")
        assert next(answers).nodes == ("<e><b>1</b></e>",)
        other.write(b"/b></e>")
        assert next(answers).nodes == ("<e><b>1</b></e>",)
        other.write(b"</es>")
        other.close()
        assert list(answers) == []


def test_an_element_waits_for_no_more_than_it_was_told_though_others_keep_coming() -> None:
    is_read = Event()

    def elements() -> Iterator[Document]:
        began = monotonic()
        for number in range(100_000):
            if is_read.is_set() or monotonic() - began > PATIENCE:
                return
            yield Document("<e/>", str(number))
            is_read.wait(0.005)

    matcher = ElementMatcher("/e")
    assert next(matcher.stream(elements(), wait=0.05)).element == "0"
    is_read.set()
    assert matcher.runs[0].elements < 256


def test_what_is_raised_while_elements_are_read_is_raised_in_its_place() -> None:
    def elements() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    found = list(_until_error(arriving(elements(), 0.5)))

    assert found == [1, "no more"]


def _until_error(entries: Iterator[int | None]) -> Iterator[int | str]:
    try:
        for entry in entries:
            if entry is not None:
                yield entry
    except ValueError as error:
        yield str(error)


@pytest.mark.parametrize("head", [b"", b'<?xml version="1.0" encoding="ISO-8859-1"?>'])
def test_a_stream_is_read_in_its_encoding_however_it_is_cut(head: bytes) -> None:
    text = "é".encode("latin-1" if head else "utf-8")
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as other:
        source = head + b"<es><e><b>" + text + b"</b></e></es>"
        answers = ElementMatcher("/e[b = 'é']").stream(read_elements(stream, "e"), wait=0.01)
        for at in range(0, len(source), 3):
            other.write(source[at : at + 3])
        other.close()
        assert [each.nodes for each in answers] == [("<e><b>é</b></e>",)]


@pytest.mark.slow
def test_the_command_line_answers_standard_input_as_it_comes(tmp_path: Path) -> None:
    query = tmp_path / "query.xpath"
    query.write_text("/e[b = 1]\n")
    command = [sys.executable, "-m", "weft", "match", "--row-tag", "e", "--optimizer", "greedy", str(query), "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"<es><e><b>1</b></e>")
        assert b"<e><b>1</b></e>" in process.stdout.readline()  # and the stream is still open
        process.stdin.write(b"</es>")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
