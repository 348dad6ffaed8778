"""The command line: what is printed where, and with which exit code."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import weft
from weft.cli import app
from weft.documents import Document, read
from weft.kernel import BUILT_FOR
from weft.workload import shipped

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Write = Callable[[str, str | bytes], str]


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into a folder of its own, which is also where the command runs."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return name

    return make


# -- weft match


def test_match_prints_a_json_object_for_each_match(write: Write) -> None:
    queries = write("q.xpath", "//b\n//nothing\n/a/c\n")
    document = write("d.xml", "<a><b>1</b><c/><b>2</b></a>")

    result = run("match", queries, document)

    assert result.exit_code == 0
    assert lines(result) == [
        {"document": "d.xml", "subscription": "1", "nodes": ["<b>1</b>", "<b>2</b>"]},
        {"document": "d.xml", "subscription": "3", "nodes": ["<c/>"]},
    ]


def test_attributes_are_printed_with_their_name_and_texts_as_they_are(write: Write) -> None:
    queries = write("q.xpath", "//@b\n//c/text()")
    document = write("d.xml", "<a b='x &lt; &quot;y&quot;'><c>1 &lt; 2 &amp; 3</c></a>")

    result = run("match", queries, document)

    assert [line["nodes"] for line in lines(result)] == [['b="x &lt; &quot;y&quot;"'], ["1 < 2 & 3"]]


def test_other_alphabets_are_printed_as_they_are(write: Write) -> None:
    result = run("match", write("q.xpath", "//ö/text()"), write("d.xml", "<ö>日本 é</ö>"))

    assert '"nodes": ["日本 é"]' in result.stdout


def test_ids_are_printed_in_the_order_of_the_file(write: Write) -> None:
    queries = write(
        "q.jsonl",
        '{"id": "z", "query": "//b"}\n{"id": "m", "query": "/none"}\n{"id": "a", "query": "/a[b]"}\n'
        '{"id": "off", "query": "/a", "enabled": false}\n{"id": "c", "query": "//b"}\n',
    )
    document, other = write("d.xml", "<a><b/></a>"), write("e.xml", "<x/>")

    result = run("match", "--ids", queries, document, other)

    assert lines(result) == [{"document": "d.xml", "matches": ["z", "a", "c"]}, {"document": "e.xml", "matches": []}]


def test_a_folder_of_queries_has_ids_from_file_names(write: Write) -> None:
    write("queries/second.xpath", "//b")
    write("queries/first.xpath", "/a")

    result = run("match", "--ids", "queries", write("d.xml", "<a><b/></a>"))

    assert lines(result) == [{"document": "d.xml", "matches": ["first", "second"]}]


def test_folders_are_searched_at_any_depth_and_sorted(write: Write) -> None:
    for name in ("in/b.xml", "in/deep/er/c.xml", "in/a.xml", "in/no.txt"):
        write(name, "<a/>")
    queries = write("q.xpath", "/a")

    result = run("match", "--ids", queries, "./in/")

    assert [line["document"] for line in lines(result)] == ["./in/a.xml", "./in/b.xml", "./in/deep/er/c.xml"]


def test_a_folder_without_documents_is_told(write: Write) -> None:
    write("in/no.txt", "")

    result = run("match", write("q.xpath", "/a"), "in")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "in: no *.xml, *.gz, *.zip or *.tar in this folder\n"


def test_a_dash_reads_standard_input(write: Write) -> None:
    result = run("match", "--ids", write("q.xpath", "/ä"), "-", stdin="<ä/>")

    assert lines(result) == [{"document": "-", "matches": ["1"]}]


def test_standard_input_can_be_given_only_once(write: Write) -> None:
    result = run("match", write("q.xpath", "/a"), "-", "-", stdin="<a/>")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "weft: - can be given only once: standard input is one document\n"


@pytest.mark.parametrize("ids", [["--ids"], []])
def test_rejected_documents_go_to_standard_error_and_the_others_go_on(write: Write, ids: list[str]) -> None:
    queries = write("q.xpath", "/a")
    good, bad, empty = write("good.xml", "<a/>"), write("bad.xml", "<a>\n  <b></a>"), write("empty.xml", "")

    result = run("match", *ids, queries, bad, good, "missing.xml", empty)

    assert result.exit_code == 1
    assert [line["document"] for line in lines(result)] == ["good.xml"]
    assert sorted(result.stderr.splitlines()) == [
        "bad.xml:2:8: mismatched tag (byte 11)",
        "empty.xml:1:1: no element found (byte 0)",
        "missing.xml:1:1: No such file or directory (byte 0)",
    ]


def test_each_rejected_document_is_told_once_however_many_there_are(write: Write) -> None:
    for number in range(200):
        write(f"in/{number:03}.xml", "<a>" if number % 2 else "<a/>")

    result = run("match", "--ids", write("q.xpath", "/a"), "in")

    assert [line["document"] for line in lines(result)] == [f"in/{number:03}.xml" for number in range(0, 200, 2)]
    told = [line.split(":")[0] for line in result.stderr.splitlines()]
    assert told == [f"in/{number:03}.xml" for number in range(1, 200, 2)]


def test_documents_are_never_all_in_memory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(150):
        write(f"in/{number:03}.xml", "<a/>")
    sizes: list[int] = []
    matches = weft.Broker.matches

    def counted(broker: weft.Broker, batch: list[weft.Document]) -> list[weft.Ids]:
        sizes.append(len(batch))
        return matches(broker, batch)

    monkeypatch.setattr(weft.Broker, "matches", counted)

    run("match", "--ids", write("q.xpath", "/a"), "in")

    assert sizes == [64, 64, 22]


def test_limits_can_be_set(write: Write) -> None:
    queries = write("q.xpath", "//b")
    document, doctype = write("d.xml", "<a><b><c/></b></a>"), write("t.xml", "<!DOCTYPE a [<!ENTITY e 'x'>]><b>&e;</b>")

    deep = run("match", "--max-depth", "2", queries, document)
    large = run("match", "--max-bytes", "17", queries, document)
    fits = run("match", "--max-bytes", "18", "--max-depth", "3", queries, document)
    refused = run("match", "--doctype", "reject", queries, doctype)
    expanded = run("match", "--doctype", "ignore-external", queries, doctype)
    many = run("match", "--limit", "max_nodes=2", "--limit", "max_depth=9", queries, document)
    explained = run("explain", "--limit", "max_nodes=2", queries, document)

    assert (deep.exit_code, deep.stderr) == (1, "d.xml:1:7: nested deeper than 2 (byte 6)\n")
    assert (large.exit_code, large.stderr) == (1, "d.xml:1:1: more than 17 bytes (byte 0)\n")
    assert fits.exit_code == 0
    assert refused.stderr == "t.xml:1:1: a DOCTYPE is not allowed here (byte 0)\n"
    assert lines(expanded)[0]["nodes"] == ["<b>x</b>"]
    assert (many.exit_code, many.stderr) == (1, "d.xml:1:7: more than 2 nodes (byte 6)\n")
    assert (explained.exit_code, explained.stderr) == (1, many.stderr)


def test_namespaces_can_be_declared_for_all_queries(write: Write) -> None:
    queries = write("q.jsonl", '{"query": "//p:b"}\n{"query": "//a"}\n{"query": "//p:b", "namespaces": {"p": "v"}}\n')
    document = write("d.xml", "<a xmlns='u'><b/></a>")

    result = run("match", "--ids", "--namespace", "p=u", "--namespace", "=u", queries, document)

    assert lines(result) == [{"document": "d.xml", "matches": ["1", "2"]}]


def test_namespaces_can_be_ignored(write: Write) -> None:
    queries, document = write("q.xpath", "//b"), write("d.xml", "<a xmlns='u'><b/></a>")

    plain, ignoring = (run("match", "--ids", *option, queries, document) for option in ([], ["--ignore-namespaces"]))

    assert lines(plain)[0]["matches"] == []
    assert lines(ignoring)[0]["matches"] == ["1"]


def test_nothing_is_matched_if_a_query_is_wrong(write: Write) -> None:
    queries = write("q.xpath", "/a\n\n# comment\n/a[\n//b/namespace::c\n")

    result = run("match", queries, write("d.xml", "<a/>"))

    assert (result.exit_code, result.stdout) == (2, "")
    assert "q.xpath:4: XPath 1:4: expected" in result.stderr
    assert "\n  /a[\n     ^\n" in result.stderr
    assert "q.xpath:5: XPath 1:5: the axis namespace:: is not supported" in result.stderr


def test_a_file_of_queries_that_is_not_there_is_told(write: Write) -> None:
    result = run("match", "nowhere.xpath", write("d.xml", "<a/>"))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "weft: nowhere.xpath: no such file or folder of subscriptions\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--namespace", "u"], "--namespace: expected PREFIX=URI, found 'u'"),
        (["--max-depth", "0"], "--max-depth"),
        (["--max-bytes", "many"], "--max-bytes"),
        (["--doctype", "fetch"], "--doctype"),
        (["--limit", "max_node=1"], "limit: expected NAME=VALUE with one of max_bytes"),
        (["--limit", "max_nodes"], "limit max_nodes: expected a whole number, found ''"),
        (["--limit", "max_nodes=0"], "Limits.max_nodes: expected a positive number, found 0"),
        (["--limit", "doctype=fetch"], "Limits.doctype: expected one of"),
        (["--limit", "__class__=1"], "limit: expected NAME=VALUE"),
        (["--row-tag", "a b"], "weft: row tag: expected the name of an element such as item or x:item, found 'a b'"),
        (["--colour"], "--colour"),
    ],
)
def test_a_wrong_option_is_told_with_exit_code_2(write: Write, arguments: list[str], told: str) -> None:
    result = run("match", *arguments, write("q.xpath", "/a"), write("d.xml", "<a/>"))

    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def weft_process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "weft"]
    return subprocess.Popen([*program, *arguments], stdout=subprocess.PIPE, **options)


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_ends_it_quietly(write: Write) -> None:
    write("d.xml", f"<a><b>{'long ' * 50_000}</b></a>")  # more than a pipe takes in
    write("q.xpath", "//b")

    process = weft_process("match", "q.xpath", "d.xml", "d.xml", stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()

    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() != 0
    process.stderr.close()


@pytest.mark.slow
def test_output_is_utf_8_whatever_the_locale_and_the_path(write: Write) -> None:
    write("q.xpath", "//a/text()")
    name = os.fsdecode(b"\xff.xml")
    Path(name).write_text("<a>é</a>", encoding="utf-8")

    process = weft_process("match", "q.xpath", name, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    output, _ = process.communicate()

    assert json.loads(output) == {"document": name, "subscription": "1", "nodes": ["é"]}
    assert "é".encode() in output


@pytest.mark.slow
@pytest.mark.parametrize(("number", "is_shown"), [(65, True), (64, False)])
def test_a_bar_is_shown_on_a_terminal_if_there_are_many_documents(write: Write, number: int, is_shown: bool) -> None:
    write("q.xpath", "/a")
    for at in range(number):
        write(f"in/{at}.xml", "<a/>")
    terminal, end = pty.openpty()

    process = weft_process("match", "--ids", "q.xpath", "in", stderr=end, env={**os.environ, "TERM": "xterm"})
    output, _ = process.communicate()
    os.write(end, b"END")
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(terminal, 1 << 16)
    os.close(end)
    os.close(terminal)

    assert len(output.splitlines()) == number
    assert (b"matching" in shown) == is_shown


# -- weft check


def test_check_tells_how_many_subscriptions_are_fine(write: Write) -> None:
    one, two = run("check", write("1.xpath", "/a")), run("check", write("2.xpath", "/a\n# more\n//b"))

    assert (one.exit_code, one.stdout) == (0, "1 subscription is fine: 1 XPath\n")
    assert (two.exit_code, two.stdout) == (0, "2 subscriptions are fine: 2 XPath\n")


def test_check_tells_all_errors_with_place_and_caret(write: Write) -> None:
    queries = write(
        "q.jsonl",
        '{"id": "a", "query": "/a["}\n{"id": "b", "query": "//p:b"}\nnot json\n{"id": "a", "query": "/a"}\n'
        '{"id": "c", "query": "/fine"}\n{"id": "d", "query": "/a", "language": "sql"}\n{"id": "e", "quer": "/a"}\n',
    )

    result = run("check", queries)

    assert (result.exit_code, result.stdout) == (2, "")
    for told in (
        "q.jsonl:1 (a): XPath 1:4: expected a path, a constant or a function, found the end of the query\n  /a[\n",
        "q.jsonl:2 (b): XPath 1:3: expected a declared prefix, found 'p'\n  //p:b\n    ^\n",
        "q.jsonl:3:1: expected a JSON object",
        "q.jsonl:4: id 'a' is taken by q.jsonl:1",
        "q.jsonl:6 (d): language: expected",
        'q.jsonl:7: expected an object with "query"',
    ):
        assert told in result.stderr
    assert "fine" not in result.stderr
    assert result.stderr.endswith("6 errors in 4 subscriptions\n")


def test_check_tells_totals_ids_errors_and_warnings_as_json(write: Write) -> None:
    queries = write(
        "q.jsonl",
        '{"id": "a", "query": "/a["}\n{"id": "b", "query": "//a[b > \'x\']"}\n'
        '{"id": "c", "query": "<m>{ for $a in //a return $a }</m>"}\n{"stream": "s", "timestamp": "//["}\n',
    )

    result = run("check", "--json", queries)

    assert (result.exit_code, result.stderr) == (2, "")
    found = json.loads(result.stdout)
    assert (found["subscriptions"], found["languages"], found["ids"]) == (3, {"XPath": 1, "FLWR": 1}, ["a", "b", "c"])
    by_rule, by_query = found["errors"]
    assert by_rule["message"].startswith("q.jsonl:4: XPath 1:3")
    assert (by_query["id"], by_query["place"], by_query["line"], by_query["column"]) == ("a", "q.jsonl:1", 1, 4)
    assert [(each["id"], each["line"], each["column"]) for each in found["warnings"]] == [("b", 1, 9)]


def test_check_warns_of_a_file_without_subscriptions(write: Write) -> None:
    result = run("check", write("q.xpath", "# nothing yet\n"))

    assert (result.exit_code, result.stdout) == (0, "0 subscriptions\n")
    assert result.stderr == "warning: q.xpath: there is no subscription in it\n"


def test_check_knows_the_namespaces_of_the_command_line(write: Write) -> None:
    queries = write("q.xpath", "//p:b")

    assert run("check", queries).exit_code == 2
    assert run("check", "--namespace", "p=u", queries).exit_code == 0
    assert run("check", "--ignore-namespaces", queries).exit_code == 0


# -- weft test


def test_test_counts_the_nodes_after_each_step_and_condition(write: Write) -> None:
    document = write("d.xml", "<a><b x='1'><c/></b><b x='2'/><b x='2'><c>t</c></b></a>")

    result = run("test", "/a/b[@x = 2][c]//c/text()", document)

    assert result.exit_code == 0
    assert result.stdout.split("\n\n")[0].split("\n") == [
        "      1  /a",
        "      3  /a/b",
        "      2      has @x",
        "               value = 2",
        "      1      has c",
        "      1  /a/b//c",
        "      1  /a/b//c/text()",
    ]


def test_test_marks_elements_attributes_and_texts_in_the_tree(write: Write) -> None:
    document = write("d.xml", "<a>\n  <b x='1' y='2'>some <i>mixed</i> text</b>\n  <c>only</c>\n</a>")

    result = run("test", "//i | //@y | //c/text() | //b/text()", document)

    assert result.stdout.split("\n\n")[1].split("\n") == [
        "  <a>",
        '    <b x="1" y="2">',
        '▶     @y="2"',
        '▶     "some"',
        '▶     <i> "mixed"',
        '▶     "text"',
        "    <c>",
        '▶     "only"',
    ]
    assert result.stdout.endswith("▶ 5 nodes in d.xml\n")


@pytest.mark.parametrize(("operator", "number"), [("union", 3), ("intersect", 1), ("except", 1)])
def test_test_shows_each_part_of_a_set_operation(write: Write, operator: str, number: int) -> None:
    document = write("d.xml", "<a><b/><b><c/></b><d><c/></d></a>")

    result = run("test", f"//b {operator} /a/*[c]", document)

    assert result.stdout.split("\n\n")[0].split("\n") == [
        "      2    //b",
        "      1    /a",
        "      3    /a/*",
        "      2        has c",
        f"      {number}  {operator}",
    ]


def test_test_writes_names_with_the_prefixes_of_the_query(write: Write) -> None:
    document = write("d.xml", "<a xmlns='u'><b xmlns='v'/></a>")

    result = run("test", "--namespace", "=u", "--namespace", "p=v", "/a/p:b", document)

    assert result.stdout.startswith("      1  /a\n      1  /a/p:b\n")
    assert '▶   <b xmlns="v">' in result.stdout


def test_test_tells_when_only_the_namespace_is_wrong(write: Write) -> None:
    document = write("d.xml", "<a xmlns='u'><b/></a>")

    result = run("test", "//b", document)

    assert "with --ignore-namespaces it would be 1" in result.stdout
    assert "▶ 0 nodes in d.xml" in result.stdout


def test_test_keeps_orders_to_the_terminal_out_of_the_tree(write: Write) -> None:
    result = run("test", "//a", write("d.xml", "<a>\x9b31m" + "long " * 100 + "</a>"))

    assert "\x9b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 120


def test_test_reads_standard_input(write: Write) -> None:
    write("unused", "")

    assert run("test", "/a", "-", stdin="<a/>").stdout.endswith("▶ 1 node in -\n")


def test_test_ends_with_1_for_a_rejected_document_and_2_for_a_wrong_query(write: Write) -> None:
    bad, good = write("bad.xml", "<a>"), write("good.xml", "<a/>")

    rejected, missing, wrong = run("test", "/a", bad), run("test", "/a", "missing.xml"), run("test", "/a[", good)

    assert (rejected.exit_code, rejected.stderr) == (1, "bad.xml:1:4: no element found (byte 3)\n")
    assert (missing.exit_code, missing.stderr) == (1, "missing.xml:1:1: No such file or directory (byte 0)\n")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.endswith("\n  /a[\n     ^\n")


# -- weft explain


def test_explain_shows_the_shared_plan_and_the_label_paths_of_documents(write: Write) -> None:
    queries = write("q.xpath", "/a/b\n/a/b\n//c")

    before, after = run("explain", queries), run("explain", queries, write("d.xml", "<a><b/></a>"))

    assert (before.exit_code, after.exit_code) == (0, 0)
    assert before.stdout.startswith("3 subscriptions\n")
    assert "/a/b" not in before.stdout
    assert "/a/b" in after.stdout


def test_explain_shows_one_subscription(write: Write) -> None:
    queries = write("q.jsonl", '{"id": "mine", "query": "/a/b[c = 3]"}\n')

    found, missing = run("explain", "--id", "mine", queries), run("explain", "--id", "yours", queries)

    assert found.stdout.startswith("/a/b[c = 3]\n\npattern /a/b\n  has c\n    value = 3\n")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert missing.stderr == "weft: --id: expected the id of a subscription in q.jsonl, found 'yours'\n"


def test_explain_tells_rejected_documents(write: Write) -> None:
    result = run("explain", write("q.xpath", "/a"), write("bad.xml", "<a>"))

    assert result.exit_code == 1
    assert result.stdout.startswith("1 subscription")
    assert result.stderr == "bad.xml:1:4: no element found (byte 3)\n"


# -- weft generate


@pytest.mark.parametrize("kind", ["documents", "queries"])
def test_generate_depends_on_the_seed_and_the_options_alone(kind: str) -> None:
    first, again, other = (
        run("generate", kind, "--dtd", "news", "--number", 5, "--seed", seed).stdout for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other
    assert len(first.splitlines()) == 5


def test_generated_documents_can_be_written_to_numbered_files(write: Write) -> None:
    write("unused", "")
    options = ["--dtd", "book", "--number", 3, "--depth", 4, "--repeats", 2, "--repeats", "section=1"]
    options += ["--values", 5, "--words", 2, "--elements", 10]

    printed = run("generate", "documents", *options)
    written = run("generate", "documents", *options, "--output", "out/deep")

    files = sorted(Path("out/deep").iterdir())
    assert (written.exit_code, written.stdout) == (0, "")
    assert [file.name for file in files] == ["000001.xml", "000002.xml", "000003.xml"]
    assert [file.read_text() for file in files] == printed.stdout.splitlines()
    assert not read(Document(line) for line in printed.stdout.splitlines()).rejected


def test_generated_queries_follow_their_options_and_are_fine(write: Write) -> None:
    options = ["--descendant", 0, "--wildcard", 0, "--predicates", 1, "--nested", 1, "--depth", 4, "--skew", 1]
    options += ["--predicate-probability", 1, "--nested-probability", 1, "--values", 5, "--words", 2, "--no-distinct"]

    result = run("generate", "queries", "--dtd", "auction", "--number", 20, *options)

    assert not any("//" in query or "*" in query for query in result.stdout.splitlines())
    assert any("[" in query for query in result.stdout.splitlines())
    assert run("check", write("q.xpath", result.stdout)).stdout == "20 subscriptions are fine: 20 XPath\n"


def test_generate_takes_a_dtd_from_a_file(write: Write) -> None:
    dtd = write("my.dtd", "<!ELEMENT note (to+)>\n<!ELEMENT to (#PCDATA)>")

    result = run("generate", "documents", "--dtd", dtd, "--number", 1, "--repeats", "note/to=1")

    assert result.stdout.count("<to>") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["documents", "--dtd", "nothing"], "weft: --dtd: expected a file or one of bibliography"),
        (["documents", "--dtd", "wrong.dtd"], "weft: wrong.dtd:1: not a DTD"),
        (["documents", "--dtd", "book", "--repeats", "section"], "weft: --repeats: expected N or NAME=N, found"),
        (["documents", "--dtd", "book", "--repeats", "nobody=3"], "declares no element 'nobody'"),
        (["documents", "--dtd", "book", "--number", "-1"], "weft: number must be at least 0"),
        (["documents", "--dtd", "book", "--output", "wrong.dtd"], "weft: wrong.dtd: File exists"),
        (["queries", "--dtd", "book", "--wildcard", "2"], "weft: wildcard must be a probability"),
        (["queries", "--dtd", "book", "--depth", "1", "--number", "1000"], "weft: found only"),
        (["queries"], "--dtd"),
        (["letters"], "letters"),
    ],
)
def test_wrong_input_to_generate_is_one_clear_line(write: Write, arguments: list[str], told: str) -> None:
    write("wrong.dtd", "<not-a-dtd/>")

    result = run("generate", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert result.stderr.splitlines()[-1].startswith(("weft: ", "Error: "))


# -- weft


def test_the_version_is_the_package_s() -> None:
    assert run("--version").stdout == f"weft 0.1.0, core compiled for {BUILT_FOR}\n"


COMMANDS = ["match", "check", "test", "explain", "generate", "generate documents", "generate queries"]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_teaches_with_an_example(command: str) -> None:
    result = run(*command.split(), "--help")

    assert result.exit_code == 0
    assert f"\n    weft {command or 'match'} " in result.stdout


def test_an_unknown_command_ends_with_2() -> None:
    assert run("mach").exit_code == 2


def test_without_a_command_help_is_shown() -> None:
    assert "Commands:" in run().output


# -- examples


@pytest.mark.parametrize(
    ("queries", "folder", "number"),
    [("subscriptions.xpath", "news", 40), ("payments.jsonl", "payments", 20), ("feeds.jsonl", "feeds", 20)],
)
def test_every_subscription_of_the_examples_matches_something(queries: str, folder: str, number: int) -> None:
    result = run("match", "--ids", EXAMPLES / queries, EXAMPLES / folder)

    matched = {name for line in lines(result) for name in line["matches"]}
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(lines(result)) == number
    assert matched == {subscription.id for subscription in weft.load_subscriptions(EXAMPLES / queries)}


def test_the_plain_news_of_the_examples_use_the_names_of_the_shipped_dtd() -> None:
    table = read(Document(path.read_bytes()) for path in sorted(EXAMPLES.glob("news/*.xml")))

    names = {table.names[name] for name in table.name.tolist()}
    assert {name for name in names if not name.startswith("{")} <= set(shipped("news").names)


# -- one query by cost

_AUCTIONS = "<auctions>{}</auctions>".format(
    "".join(f"<auction>{'<reserve/>' * (at % 4 == 0)}<zip>{at % 3}</zip></auction>" for at in range(40))
)


@pytest.mark.parametrize("optimizer", ["min-exhaust", "greedy", "fast-prune", "fixed"])
@pytest.mark.parametrize("ids", [(), ("--ids",)])
def test_an_optimizer_prints_what_is_printed_without(write: Write, optimizer: str, ids: tuple[str, ...]) -> None:
    queries, document = write("q.xpath", "/auction[reserve][zip = 0]\n"), write("a.xml", _AUCTIONS)

    usual, by_cost = (
        run("match", *ids, *more, "--row-tag", "auction", queries, document)
        for more in ((), ("--optimizer", optimizer))
    )

    assert by_cost.stdout == usual.stdout != ""
    assert by_cost.exit_code == usual.exit_code == 0


def test_an_optimizer_tells_what_is_rejected(write: Write) -> None:
    queries, document = write("q.xpath", "/a[b]\n"), write("a.xml", "<r><a><b></a><a><b/></a></r>")

    result = run("match", "--optimizer", "greedy", "--row-tag", "a", queries, document)

    assert result.exit_code == 1
    assert "a.xml@3:1:9: mismatched tag" in result.stderr
    assert [line["document"] for line in lines(result)] == ["a.xml@13"]


def test_an_optimizer_is_for_one_query(write: Write) -> None:
    queries = write("q.xpath", "/a[b]\n/a[c]\n")

    result = run("match", "--optimizer", "greedy", queries, write("a.xml", "<a/>"))

    assert result.exit_code == 2
    assert "--optimizer: expected one query in q.xpath, found 2" in result.stderr


def test_costs_are_explained_and_drawn(write: Write) -> None:
    queries, document = write("q.xpath", "/auction[reserve][zip = 0]\n"), write("a.xml", _AUCTIONS)

    result = run(
        "explain", "--costs", "--optimizer", "greedy", "--plot", "plans.svg", "--row-tag", "auction", queries, document
    )

    assert result.exit_code == 0
    assert "optimizer   greedy" in result.stdout
    assert Path("plans.svg").read_text().startswith("<svg")


def test_a_plot_needs_costs_of_one_query(write: Write) -> None:
    queries = write("q.xpath", "/a\n")

    for options in (("--plot", "plans.svg"), ("--costs", "--plot", "plans.svg")):
        result = run("explain", *options, queries)
        assert result.exit_code == 2
        assert "--plot: expected --costs and --optimizer with it" in result.stderr

    result = run("explain", "--optimizer", "greedy", queries)
    assert result.exit_code == 2
    assert "--optimizer: expected --costs with it" in result.stderr
