"""The log of arrivals: each file gets one number, whatever is restarted, torn, or done by two at once."""

import fcntl
import json
import multiprocessing
import os
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from damage import damage, refused
from profiles import examples
from weft.delivery.arrival_log import ArrivalLog, lines_after, mark_after
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.files import Piece, read_piece

LOG = "_weft/arrivals.jsonl"


def put(root: Path, name: str, age: float = 0.0) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("<a/>")
    os.utime(file, (1_000_000 - age, 1_000_000 - age))


def arrivals(root: Path) -> ArrivalLog:
    return ArrivalLog(root / LOG, root)


def names(root: Path, log: ArrivalLog, start: int = 0) -> list[str]:
    """The paths of the files; those that have vanished are kept apart."""
    paths = [os.path.relpath(file.path, root) for file in log.between(start, log.update())]
    return [path.removeprefix("_weft/vanished/") for path in paths]


def last_mark(log: Path) -> int:
    return int(log.read_bytes().splitlines()[-1].partition(b" ")[0], 16)


def test_files_that_are_found_together_are_numbered_by_age_and_then_by_id(tmp_path: Path) -> None:
    for name, age in (("b.xml", 5), ("a.xml", 5), ("young.xml", 1), ("deep/old.xml", 9)):
        put(tmp_path, name, age)

    assert names(tmp_path, arrivals(tmp_path)) == ["deep/old.xml", "a.xml", "b.xml", "young.xml"]


def test_a_file_that_arrives_late_with_an_old_modification_time_comes_last(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    log = arrivals(tmp_path)
    assert log.update() == 1

    put(tmp_path, "old.xml", age=1_000)

    assert names(tmp_path, log) == ["a.xml", "old.xml"]


def test_a_restart_finds_the_same_numbers_without_looking_at_the_folder_first(tmp_path: Path) -> None:
    for name in ("c.xml", "a.xml", "b.xml"):
        put(tmp_path, name)
        arrivals(tmp_path).update()

    files = arrivals(tmp_path).between(1, 3)

    assert [Path(file.path).name for file in files] == ["a.xml", "b.xml"]
    assert [file.size for file in files] == [4, 4]


def test_a_file_that_is_written_again_keeps_its_number(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    log = arrivals(tmp_path)
    log.update()

    put(tmp_path, "a.xml", age=-100)

    assert log.update() == 1


def test_a_log_that_is_torn_anywhere_is_completed_and_keeps_its_whole_lines(tmp_path: Path) -> None:
    for name in ("c.xml", "é\n.xml", "b.xml"):
        put(tmp_path, name)
    log = tmp_path / LOG
    expected = names(tmp_path, arrivals(tmp_path))
    whole = log.read_bytes()

    for cut in range(len(whole)):
        log.write_bytes(whole[:cut])
        kept = max(0, whole[:cut].count(b"\n") - 1)
        found = names(tmp_path, arrivals(tmp_path))
        assert found[:kept] == expected[:kept]
        assert Counter(found) == Counter(expected)
        lines = log.read_text().split("\n")
        assert lines[0] == "weft arrivals 1"
        assert [json.loads(line.partition(" ")[2]) for line in lines[1:-1]] == found


def test_what_a_crash_left_is_cut_off_though_nothing_is_appended(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    arrivals(tmp_path).update()
    whole = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(whole + b'"a-name-that-is-longer-than-what-follows.xml"')

    arrivals(tmp_path).update()

    assert (tmp_path / LOG).read_bytes() == whole


def test_a_query_sees_what_another_has_appended(tmp_path: Path) -> None:
    first, second = arrivals(tmp_path), arrivals(tmp_path)
    put(tmp_path, "b.xml")
    first.update()
    put(tmp_path, "a.xml", age=9)
    second.update()

    assert names(tmp_path, first) == names(tmp_path, second) == ["b.xml", "a.xml"]


def test_any_name_that_a_file_can_have_comes_back_from_the_log(tmp_path: Path) -> None:
    odd = [
        "two\nlines.xml",
        "ü.xml",
        '"quoted".xml',
        os.fsdecode(b"\xff.xml"),
        os.fsdecode(b"\xfe.xml"),
        "\u2028\r.xml",
    ]
    for name in odd:
        put(tmp_path, name)
    arrivals(tmp_path).update()

    assert set(names(tmp_path, arrivals(tmp_path))) == set(odd)


def test_a_file_that_has_vanished_is_rejected_when_it_is_read(tmp_path: Path) -> None:
    put(tmp_path, "news/a.xml")
    log = arrivals(tmp_path)
    log.update()
    (tmp_path / "news" / "a.xml").unlink()

    for query in (log, arrivals(tmp_path)):
        (file,) = query.between(0, 1)
        (error,) = read_piece(Piece(file), None)
        assert isinstance(error, DocumentError)
        assert (error.document, file.stream) == ("news/a.xml", "news")


def test_files_arrive_in_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")

    for root in (tmp_path / "a.xml", tmp_path / "missing"):
        with pytest.raises(ConfigurationError, match="expected a folder that files arrive in"):
            ArrivalLog(tmp_path / "log", root).update()


def test_a_log_that_cannot_be_written_tells_to_set_the_option(tmp_path: Path) -> None:
    (tmp_path / "_weft").write_text("not a folder")

    with pytest.raises(ConfigurationError, match="set the option log"):
        arrivals(tmp_path).update()


def test_a_checkpoint_that_is_ahead_of_its_log_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    log = arrivals(tmp_path)
    log.update()

    with pytest.raises(ConfigurationError, match="expected 3 files or more, found 1"):
        log.between(0, 3)
    with pytest.raises(ConfigurationError, match="expected 1 files or more, found 0"):
        ArrivalLog(tmp_path / "lost", tmp_path).expect(1)


def test_a_log_that_loses_lines_under_a_query_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    log = arrivals(tmp_path)
    log.update()
    (tmp_path / LOG).write_bytes(b"")

    with pytest.raises(ConfigurationError, match="lines of the log are gone"):
        log.update()


NO_PATHS = ["a.xml", "7", '{"a": 1}', "", '"a.xml"', '""', '"."', '".."', r'"x\u0000.xml"', '".hidden.xml"']
NO_PATHS += ['"../x.xml"', '"/etc/x.xml"', '"a/../../x.xml"', '"b//x.xml"', '"x/."', '"_weft/x.xml"']


@pytest.mark.parametrize("text", NO_PATHS)
def test_a_line_that_is_no_path_of_a_new_file_is_refused_though_its_checksum_fits(tmp_path: Path, text: str) -> None:
    put(tmp_path, "a.xml")
    log = tmp_path / LOG
    arrivals(tmp_path).update()
    mark = mark_after(last_mark(log), text.encode())
    with log.open("a") as opened:
        opened.write(f"{mark:016x} {text}\n")

    for ask in (lambda: arrivals(tmp_path).update(), lambda: arrivals(tmp_path).between(0, 2)):
        with pytest.raises(ConfigurationError, match=r"arrivals.jsonl:3: damaged: expected the path of a new file"):
            ask()


def test_a_log_of_an_older_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    (tmp_path / LOG).parent.mkdir()
    (tmp_path / LOG).write_text('"a.xml"\n')

    with pytest.raises(
        ConfigurationError, match=r"arrivals.jsonl:1: damaged: expected 'weft arrivals 1', found .*a\.xml"
    ):
        arrivals(tmp_path).update()

    assert (tmp_path / LOG).read_text() == '"a.xml"\n'


def test_what_a_listing_does_not_find_is_not_read_though_something_is_there(tmp_path: Path) -> None:
    root, outside = tmp_path / "in", tmp_path / "outside"
    for name in ("news/a.xml", "b.xml"):
        put(root, name)
    put(outside, "a.xml")
    log = arrivals(root)
    log.update()
    (root / "news" / "a.xml").unlink()
    (root / "news").rmdir()
    (root / "news").symlink_to(outside)  # the path leads out of the folder now

    files = arrivals(root).between(0, 2)

    found = {file.id: next(iter(read_piece(Piece(file), None))) for file in files}
    assert isinstance(found["news/a.xml"], DocumentError)
    assert not isinstance(found["b.xml"], DocumentError)


def test_an_offset_remembers_the_files_before_it(tmp_path: Path) -> None:
    put(tmp_path, "b.xml")
    log = arrivals(tmp_path)
    log.update()
    mark = log.mark(1)
    (tmp_path / LOG).unlink()  # and another log is made, of as many files
    put(tmp_path, "a.xml", age=9)
    other = arrivals(tmp_path)
    other.update()

    log.expect(1, mark)
    with pytest.raises(ConfigurationError, match="the first 1 files are not those that the checkpoint was made with"):
        other.expect(1, mark)


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_log_is_refused_or_gives_what_it_gave(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root, log = tmp_path / "in", tmp_path / "in" / LOG
    for number in chance.sample(range(8), 8):
        put(root, f"news/{number}.xml")
        arrivals(root).update()
    put(tmp_path, "n/0.xml")  # what ../n would lead to
    before = arrivals(root)
    whole, expected, mark = log.read_bytes(), names(root, before), before.mark(8)
    put(root, "old.xml", age=10**6)  # arrives now, and is older than all

    for _ in range(100):
        log.write_bytes(damage(whole, chance))
        query = arrivals(root)
        with refused(log, "begin with a new"):
            query.update()
            query.expect(8, mark)
            assert names(root, query) == [*expected, "old.xml"]
        assert (tmp_path / "n" / "0.xml").read_text() == "<a/>"


def test_who_appends_waits_for_another_and_reads_first_what_that_one_appended(tmp_path: Path) -> None:
    put(tmp_path, "a.xml")
    log = arrivals(tmp_path)
    log.update()
    put(tmp_path, "b.xml")
    put(tmp_path, "c.xml")

    with (tmp_path / LOG).open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        waiting = Thread(target=log.update)
        waiting.start()
        waiting.join(timeout=0.3)
        assert waiting.is_alive()
        other.writelines(line.decode() for line in lines_after(last_mark(tmp_path / LOG), ["c.xml"]))
    waiting.join(timeout=60)

    assert names(tmp_path, log) == ["a.xml", "c.xml", "b.xml"]


def _put_and_update(root: Path, writer: int, seen: "multiprocessing.Queue[list[str]]") -> None:
    log = arrivals(root)
    for number in range(15):
        put(root, f"{writer}-{number}.xml", age=number)
        last = names(root, log)
    seen.put(last)


@pytest.mark.slow
def test_processes_that_append_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    seen = context.Queue()
    processes = [context.Process(target=_put_and_update, args=(tmp_path, writer, seen)) for writer in range(3)]
    for process in processes:
        process.start()
    views = [seen.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(timeout=60)

    final = names(tmp_path, arrivals(tmp_path))

    assert sorted(final) == sorted(f"{writer}-{number}.xml" for writer in range(3) for number in range(15))
    assert all(view == final[: len(view)] for view in views)


class Queries(RuleBasedStateMachine):
    """Queries on one log, in any order of arrivals, reads, restarts and crashes; a checkpoint is an offset."""

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.logs = [arrivals(self.root) for _ in range(2)]
        self.read: list[list[str]] = [[], []]
        self.made: set[str] = set()

    @rule(name=st.sampled_from("abcdefgh"), age=st.integers(0, 3))
    def arrive(self, name: str, age: int) -> None:
        put(self.root, f"{name}.xml", age)
        self.made.add(f"{name}.xml")

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def vanish(self, data: st.DataObject) -> None:
        (self.root / data.draw(st.sampled_from(sorted(self.made)))).unlink(missing_ok=True)

    @rule(query=st.integers(0, 1), most=st.integers(1, 3))
    def micro_batch(self, query: int, most: int) -> None:
        log, start = self.logs[query], len(self.read[query])
        end = min(log.update(), start + most)
        self.read[query] += [Path(file.path).name for file in log.between(start, end)]

    @rule(query=st.integers(0, 1))
    def restart(self, query: int) -> None:
        self.logs[query] = arrivals(self.root)
        replayed = self.logs[query].between(0, len(self.read[query]))
        assert [Path(file.path).name for file in replayed] == self.read[query]

    @rule(query=st.integers(0, 1))
    def new_checkpoint(self, query: int) -> None:
        self.logs[query], self.read[query] = arrivals(self.root), []

    @rule(most=st.integers(1, 30))
    def crash_while_appending(self, most: int) -> None:
        (self.root / "_weft").mkdir(exist_ok=True)
        log = self.root / LOG
        if not log.exists() or log.stat().st_size < len("weft arrivals 1\n"):
            log.write_text("weft arrivals 1"[: most // 2])
        else:
            with log.open("a") as opened:
                opened.write('0123456789abcdef "zzz.xml"'[:most])

    @invariant()
    def queries_agree_and_read_no_file_twice(self) -> None:
        shorter, longer = sorted(getattr(self, "read", ([], [])), key=len)
        assert longer[: len(shorter)] == shorter
        assert len(set(longer)) == len(longer)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            there = {file.name for file in self.root.glob("*.xml")}
            for log in self.logs:
                final = names(self.root, log)
                assert there <= set(final) <= self.made
                assert len(set(final)) == len(final)
            self.folder.cleanup()


TestQueries = Queries.TestCase
TestQueries.settings = examples(60, stateful_step_count=25)
