"""Rules of streams: what a file may say, which one is for a stream, and what is told of one that is wrong."""

from pathlib import Path

import pytest

from weft.broker.stream_rules import StreamRule, all_rules, load_stream_rules, rule_of
from weft.broker.subscriptions import load_subscriptions
from weft.errors import ConfigurationError

QUERY = '{"id": "a", "query": "//a"}\n'


def test_a_file_has_rules_beside_its_subscriptions(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(QUERY + '{"stream": "pay", "timestamp": "//t", "id": "//p:i", "namespaces": {"p": "urn:p"}}\n')

    (rule,) = load_stream_rules(file)
    (subscription,) = load_subscriptions(file)

    assert (rule.stream, rule.timestamp, rule.id, rule.place) == ("pay", "//t", "//p:i", f"{file}:2")
    assert (subscription.id, subscription.language) == ("a", "xpath")


def test_a_folder_has_them_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.xpath").write_text("//a")
    (tmp_path / "streams.jsonl").write_text('{"stream": "*", "timestamp": "clock"}')

    assert [rule.timestamp for rule in load_stream_rules(tmp_path)] == ["clock"]
    assert [each.id for each in load_subscriptions(tmp_path)] == ["a"]


def test_languages_are_told_where_the_file_does_not(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    queries = ["//a", "<m>{ for $a in //a return $a }</m>", "S//a->x JOIN{x = y, 1 day} S//b->y"]
    file.write_text("".join(f'{{"query": "{query}"}}\n' for query in queries))

    assert [each.language for each in load_subscriptions(file)] == ["xpath", "xquery", "xscl"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            '{"stream": "a", "time": "//t"}',
            'expected one of stream, timestamp, id, namespaces, ignore_namespaces, found "time"',
        ),
        ('{"stream": "a", "timestamp": 5}', 'expected str for "timestamp", found 5'),
        (
            '{"stream": "a", "timestamp": "mtime"}',
            'expected a path such as //CreDtTm, "file" or "clock", found \'mtime\'',
        ),
        ('{"stream": "a", "id": "key"}', "expected a path such as //MsgId, found 'key'"),
        ('{"stream": "a", "id": "//a["}', "XPath 1:5: expected"),
        ('{"stream": "a", "namespaces": {"p": 1}}', 'expected a namespace for prefix "p", found 1'),
        ('{"stream": "a"}\n{"stream": "a"}', "stream 'a' has a rule already"),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_with_its_place(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(line)

    with pytest.raises(ConfigurationError) as error:
        load_stream_rules(file)

    assert str(error.value).startswith(f"{file}:{line.count(chr(10)) + 1}: ")
    assert told in str(error.value)


def test_a_stream_has_its_own_rule_or_that_of_all_others() -> None:
    rules = all_rules([StreamRule("a", id="//i"), StreamRule("b", timestamp="clock")], "//t", None)

    assert (rule_of(rules, "a") or StreamRule()).timestamp == "//t", "what a rule leaves open the options say"
    assert (rule_of(rules, "b") or StreamRule()).timestamp == "clock"
    assert (rule_of(rules, "c") or StreamRule()).timestamp == "//t"
    assert all_rules(None, None, None) == ()
