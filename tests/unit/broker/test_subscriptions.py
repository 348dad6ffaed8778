"""Subscription files: the formats, and what is told of bad ones."""

import json
import os
from pathlib import Path

import pytest

from weft import Broker, ConfigurationError, WeftError, load_subscriptions


def test_plain_text_has_one_query_a_line_with_its_number_as_id(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("/a\n\n# a comment\n  //b  \n")

    loaded = load_subscriptions(file)

    assert [(subscription.id, subscription.query) for subscription in loaded] == [("1", "/a"), ("4", "//b")]


def test_json_lines_carry_all_fields(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    records = [
        {"id": "x", "language": "xpath", "query": "/p:a", "namespaces": {"p": "urn:p"}, "to": "somewhere"},
        {"id": 7, "query": "/b", "enabled": False},
        {"query": "/c", "ignore_namespaces": True},
    ]
    file.write_text("\n".join(map(json.dumps, records)))

    first, second = load_subscriptions(file)

    assert (first.id, first.language, first.namespaces, first.to) == ("x", "xpath", {"p": "urn:p"}, "somewhere")
    assert (second.id, second.query, second.ignore_namespaces) == ("3", "/c", True)


def test_a_folder_has_one_query_a_file_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.xpath").write_text("/b\n")
    (tmp_path / "a.xpath").write_text("/a[\n  c\n]")
    (tmp_path / "notes.md").write_text("not a query")

    loaded = load_subscriptions(tmp_path)

    assert [(subscription.id, subscription.query) for subscription in loaded] == [("a", "/a[\n  c\n]"), ("b", "/b")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", ":1:2: expected a JSON object"),
        ('["/a"]', 'expected an object with "query"'),
        ('{"query": "/a", "colour": 1}', 'found "colour"'),
        ('{"query": "/a", "namespaces": "p"}', 'expected dict for "namespaces", found "p"'),
    ],
)
def test_a_bad_json_line_is_told_with_its_place(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text(line)

    with pytest.raises(ConfigurationError) as caught:
        load_subscriptions(file)

    assert str(file) in str(caught.value)
    assert reason in str(caught.value)


def test_with_on_error_the_good_entries_are_loaded_and_all_bad_ones_told(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "a", "query": "/a"}\n{\n{"id": "a", "query": "/b"}\n{"id": "c", "query": "/c"}\n')
    errors: list[WeftError] = []

    loaded = load_subscriptions(file, on_error=errors.append)

    assert [subscription.id for subscription in loaded] == ["a", "c"]
    assert len(errors) == 2
    assert "is taken by" in str(errors[1])


def test_a_missing_file_and_a_folder_without_queries_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        load_subscriptions(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="found none"):
        load_subscriptions(tmp_path)


def test_a_broker_takes_loaded_subscriptions_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "n", "query": "/p:a", "namespaces": {"p": "urn:p"}}')
    broker = Broker()

    for subscription in load_subscriptions(file):
        broker.subscribe(subscription)

    assert broker.matches('<a xmlns="urn:p"/>') == [["n"]]


BAD = ['{"query": "/a", "id": ' + "1" * 5000 + "}", '{"query":' + "[" * 200_000 + "]" * 200_000 + "}"]


@pytest.mark.parametrize("bad", BAD, ids=["digits", "brackets"])
def test_a_line_that_json_cannot_hold_is_told_with_its_place_and_costs_no_other(tmp_path: Path, bad: str) -> None:
    file, errors = tmp_path / "q.jsonl", list[str]()
    file.write_text(f'{{"query": "/a", "id": "good"}}\n{bad}\n')

    loaded = load_subscriptions(file, on_error=lambda error: errors.append(str(error)))

    assert [each.id for each in loaded] == ["good"]
    assert [error.startswith(f"{file}:2: expected a JSON object") for error in errors] == [True]


def test_a_pipe_in_a_folder_of_queries_is_told_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "good.xpath").write_text("/a")
    os.mkfifo(tmp_path / "pipe.xpath")
    errors: list[str] = []

    loaded = load_subscriptions(tmp_path, on_error=lambda error: errors.append(str(error)))

    assert [each.id for each in loaded] == ["good"]
    assert errors == [f"{tmp_path / 'pipe.xpath'}: not a file"]
