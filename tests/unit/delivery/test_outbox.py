"""Batches of files reach a folder, each once, wherever a process is killed between two steps, and whatever breaks."""

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import blake2b
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import damage, refused
from profiles import examples, rounds
from weft.delivery import outbox
from weft.delivery.outbox import Name, Outbox, Staged
from weft.durable import write_sealed
from weft.errors import ConfigurationError

File = tuple[Name, bytes]


class Killed(BaseException):
    """Not an Exception: no code may handle the end of its process."""


def message(document: str, to: str = "desk", position: int = 1) -> File:
    """A message as the sink names it: what makes two messages alike is the document and the position."""
    key = blake2b(f"{document} {position}".encode(), digest_size=8).hexdigest()
    return Name(to, f"s-{key}", ".xml"), f"<m>{document} {position}</m>".encode()


def deliver(path: Path, *tasks: list[File], batch: int | None = None, overwrite: bool = False) -> None:
    """Each list of files is a task."""
    box = Outbox(path)
    box.commit([box.stage(files) for files in tasks], batch, overwrite=overwrite)


def files_in(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file() and "_weft" not in file.parts]


def delivered(path: Path) -> list[tuple[str, str]]:
    """Folder and content of all files but our records."""
    return sorted((str(file.parent.relative_to(path)), file.read_text()) for file in files_in(path))


def names(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path)) for file in files_in(path))


def records(path: Path, kind: str) -> list[str]:
    return sorted(record.name for record in (path / "_weft" / kind).iterdir())


def expected(*files: File) -> list[tuple[str, str]]:
    return sorted((name.folder or ".", content.decode()) for name, content in files)


@contextmanager
def kill_at(step: int) -> Iterator[None]:
    """Die before the call that changes something on the disk for the n-th time, counted from 0."""
    steps = count()

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def step_or_die(*args: object, **kwargs: object) -> object:
            if next(steps) >= step:
                raise Killed
            return call(*args, **kwargs)

        return step_or_die

    with ExitStack() as patches:
        for name in ("replace", "unlink", "mkdir", "fsync", "rmdir"):
            patches.enter_context(patch.object(os, name, dying(getattr(os, name))))
        yield


def killed_at(step: int, run: Callable[[], object]) -> bool:
    try:
        with kill_at(step):
            run()
    except Killed:
        return True
    return False


# -- once


def test_a_file_is_named_after_its_batch_and_one_that_comes_again_is_numbered(tmp_path: Path) -> None:
    deliver(tmp_path, [message("1"), message("1")], [message("1"), message("1", to="news")], batch=12)

    (key,) = {name.base for name, _ in [message("1")]}
    start = f"0000000012-{key}"
    assert names(tmp_path) == [f"desk/{start}{end}.xml" for end in ("-2", "-3", "")] + [f"news/{start}.xml"]
    assert records(tmp_path, "staging") == []


def test_the_names_are_the_same_however_the_files_are_spread_over_tasks(tmp_path: Path) -> None:
    files = [message("1"), message("2"), message("1"), message("1", position=2)]

    deliver(tmp_path / "a", files, batch=3)
    deliver(tmp_path / "b", *([each] for each in reversed(files)), batch=3)

    assert names(tmp_path / "a") == names(tmp_path / "b")


def test_a_batch_that_comes_again_is_dropped(tmp_path: Path) -> None:
    deliver(tmp_path, [message("1")], batch=0)
    deliver(tmp_path, [message("2")], batch=1)

    deliver(tmp_path, [message("1")], batch=0)
    deliver(tmp_path, [message("other")], batch=1)

    assert delivered(tmp_path) == expected(message("1"), message("2"))
    assert records(tmp_path, "staging") == []


def test_what_comes_without_a_batch_takes_the_next_number(tmp_path: Path) -> None:
    deliver(tmp_path, [message("1")])
    deliver(tmp_path, [message("1")], batch=7)

    deliver(tmp_path, [message("1")])

    assert [name[5:15] for name in names(tmp_path)] == ["0000000000", "0000000007", "0000000008"]


def test_deliveries_at_the_same_time_all_arrive(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: deliver(tmp_path, [message(str(number))]), range(24)))

    assert delivered(tmp_path) == expected(*(message(str(number)) for number in range(24)))


def test_what_is_dropped_or_fails_while_it_is_staged_leaves_nothing(tmp_path: Path) -> None:
    box = Outbox(tmp_path)

    def failing() -> Iterator[File]:
        yield message("1")
        raise ValueError("no more")

    box.drop([box.stage([message("1")])])
    with pytest.raises(ValueError, match="no more"):
        box.stage(failing())

    assert records(tmp_path, "staging") == []
    assert names(tmp_path) == []


def test_what_killed_jobs_staged_is_removed_after_an_hour_but_never_what_is_being_committed(tmp_path: Path) -> None:
    box = Outbox(tmp_path)
    old, fresh, ours = (box.stage([message("1")]) for _ in range(3))
    for task in (old, ours):
        os.utime(task.folder, (0, 0))

    box.commit([ours], 0)

    assert records(tmp_path, "staging") == [fresh.folder.name]
    assert delivered(tmp_path) == expected(message("1"))


def test_records_stay_few_and_old_batches_stay_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEPT", 3)
    for number in range(10):
        deliver(tmp_path, [message(str(number))], batch=number)

    for number in range(10):
        deliver(tmp_path, [message("again")], batch=number)
    deliver(tmp_path, [message("next")])

    assert delivered(tmp_path) == expected(*(message(str(number)) for number in range(10)), message("next"))
    assert records(tmp_path, "commits") == ["10", "8", "9"]
    assert (tmp_path / "_weft" / "committed").read_text().startswith("weft delivered 1\n7")
    assert records(tmp_path, "intents") == []


def test_a_batch_that_is_taken_back_is_delivered_anew(tmp_path: Path) -> None:
    deliver(tmp_path, [message("1")], batch=0)
    deliver(tmp_path, [message("2"), message("3")], batch=1)

    Outbox(tmp_path).take_back(1)
    deliver(tmp_path, [message("3"), message("4")], batch=1)

    assert delivered(tmp_path) == expected(message("1"), message("3"), message("4"))


def test_a_folder_that_is_not_shared_between_machines_is_told(tmp_path: Path) -> None:
    box = Outbox(tmp_path)
    staged = box.stage([message("1")])
    shutil.rmtree(staged.folder)

    with pytest.raises(ConfigurationError, match="expected a folder that all machines share"):
        box.commit([staged], 0)

    assert isinstance(staged, Staged)
    assert records(tmp_path, "intents") == []


# -- killed

FILES = [message("1"), message("1"), message("2", to="a%2Fb"), message("3", to="s"), message("3", position=2)]
DELIVERED = expected(*FILES)


def test_a_batch_killed_at_any_step_and_replayed_is_there_once(tmp_path: Path) -> None:
    for step in count():
        path = tmp_path / str(step)
        deliver(path, [message("before")], batch=0)

        killed = killed_at(step, partial(deliver, path, FILES[:2], FILES[2:], batch=1))
        deliver(path, FILES[1:], FILES[:1], batch=1)
        deliver(path, [message("after")], batch=2)

        assert delivered(path) == sorted(expected(message("before"), message("after")) + DELIVERED), step
        assert records(path, "intents") == []
        if not killed:
            break
    assert step > 20  # it went through all steps


@pytest.mark.slow
@pytest.mark.parametrize("batch", [None, 1, 2])
def test_an_overwrite_killed_at_any_step_and_run_again_leaves_only_the_new(tmp_path: Path, batch: int | None) -> None:
    for step in count():
        path = tmp_path / str(step)
        deliver(path, [message("before"), message("1")], batch=0)
        deliver(path, [message("before", to="old"), message("1")], batch=1)

        killed = killed_at(step, partial(deliver, path, FILES[:2], FILES[2:], batch=batch, overwrite=True))
        deliver(path, FILES, batch=batch, overwrite=True)

        assert delivered(path) == DELIVERED, step
        if not killed:
            break
    assert step > 20


def test_an_append_killed_at_any_step_and_run_again_without_a_batch_is_there_once_or_as_a_second_batch(
    tmp_path: Path,
) -> None:
    for step in count():
        path = tmp_path / str(step)
        deliver(path, [message("before")])

        killed = killed_at(step, partial(deliver, path, FILES))
        committed = (path / "_weft" / "commits" / "1").exists()
        deliver(path, FILES)

        assert delivered(path) == sorted(expected(message("before")) + DELIVERED * (2 if committed else 1)), step
        if not killed:
            break


def test_an_append_after_a_killed_overwrite_of_the_same_batch_is_not_taken_for_delivered(tmp_path: Path) -> None:
    deliver(tmp_path, [message("1")], batch=5)
    with patch.object(Outbox, "_remove_earlier", side_effect=Killed), pytest.raises(Killed):
        deliver(tmp_path, [message("1"), message("2")], batch=5, overwrite=True)

    deliver(tmp_path, [message("3")], batch=5)

    assert delivered(tmp_path) == expected(message("3"))


def test_a_replay_that_differs_leaves_nothing_of_the_killed_attempt(tmp_path: Path) -> None:
    for step in count():
        path = tmp_path / str(step)

        killed = killed_at(step, partial(deliver, path, FILES, batch=0))
        committed = (path / "_weft" / "commits" / "0").exists()
        deliver(path, [message("other")], batch=0)

        assert delivered(path) == (DELIVERED if committed else expected(message("other"))), step
        if not killed:
            break


def test_an_append_after_a_killed_overwrite_leaves_nothing_of_the_killed_attempt(tmp_path: Path) -> None:
    old, new, more = (expected(message(name)) for name in ("old", "new", "more"))
    for step in count():
        path = tmp_path / str(step)
        deliver(path, [message("old")], batch=5)

        killed = killed_at(step, partial(deliver, path, [message("new")], overwrite=True))
        committed = (path / "_weft" / "commits" / "6").exists()
        deliver(path, [message("more")])

        assert delivered(path) in ([sorted(new + more)] if committed else [sorted(old + more), more]), step
        if not killed:
            break
    assert delivered(path) == sorted(new + more)


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 60), max_size=3), st.lists(st.sampled_from(FILES), max_size=6)),
        min_size=1,
        max_size=6,
    )
)
@examples(60)
def test_any_number_of_kills_in_any_batches_leaves_each_message_once(
    batches: list[tuple[list[int], list[File]]],
) -> None:
    with TemporaryDirectory() as folder, patch.object(outbox, "KEPT", 2):
        path = Path(folder)
        for number, (steps, files) in enumerate(batches):
            for step in steps:
                killed_at(step, partial(deliver, path, files[:2], files[2:], batch=number))
            deliver(path, files[::-1], batch=number)
            assert len(records(path, "commits")) <= 2

        found = Counter(text for _, text in delivered(path))
        assert found == Counter(content.decode() for _, files in batches for _, content in files)


# -- overwriting


def test_overwriting_removes_files_of_all_batches_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "KEPT", 1)
    for number in range(3):
        deliver(tmp_path, [message(str(number)), message("x", to="old")], batch=number)
    mine = [
        "desk/notes.xml",
        "desk/0000000001-s.xml",
        "0000000001-report.xml",
        ".hidden/0000000001-s-0123456789abcdef.xml",
    ]
    for name in mine:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    deliver(tmp_path / "another", [message("another")], batch=0)

    deliver(tmp_path, [message("new")], overwrite=True)

    kept = [name for name in names(tmp_path) if not name.startswith("another/")]
    assert set(mine) <= set(kept)
    assert len(kept) == len(mine) + 1
    assert delivered(tmp_path / "another") == expected(message("another"))
    assert records(tmp_path, "commits") == ["3"]


def test_after_overwriting_a_folder_is_as_new(tmp_path: Path) -> None:
    for _ in range(2):
        deliver(tmp_path, [message("1")], batch=1, overwrite=True)
        deliver(tmp_path, [message("2")], batch=2)

    assert delivered(tmp_path) == expected(message("1"), message("2"))


def test_overwriting_removes_rejected_documents_too(tmp_path: Path) -> None:
    for number in range(2):
        rejected = [(Name("", f"rejected-{number:016x}", ending), b"<") for ending in (".xml", ".json")]
        deliver(tmp_path, rejected, batch=number, overwrite=True)

    assert [name[:10] for name in names(tmp_path)] == ["0000000001"] * 2


def test_overwriting_leaves_what_is_behind_a_link(tmp_path: Path) -> None:
    path, outside = tmp_path / "out", tmp_path / "outside"
    deliver(path, [message("1")], batch=0)
    (path / "desk").rename(outside)
    (path / "desk").symlink_to(outside)

    deliver(path, [message("2", to="other")], overwrite=True)

    assert len(everything(outside)) == 1


# -- damaged


def everything(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def half_delivered(path: Path) -> None:
    """A batch whose commit was killed after all of its files were moved into place, beside batches that are whole."""
    for number in range(4):
        deliver(path, [message(str(number))], batch=number)
    with patch.object(Path, "replace", killing_the_record(Path.replace)), pytest.raises(Killed):
        deliver(path, [message("4"), message("5")], batch=4)


def killing_the_record(call: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    def replace(self: Path, target: Path) -> Path:
        if "commits" in Path(target).parts:
            raise Killed
        return call(self, target)

    return replace


@pytest.mark.parametrize("record", ["intents/4", "commits/3", "committed"])
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_record_is_refused_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str, seed: int
) -> None:
    monkeypatch.setattr(outbox, "KEPT", 2)
    chance = random.Random(seed)
    whole, out = tmp_path / "whole", tmp_path / "n" / "out"
    half_delivered(whole)
    again = [(1, [message("1")]), (3, [message("3")]), (4, [message("4"), message("6")])]
    shutil.copytree(whole, tmp_path / "expected")
    for number, files in again:
        deliver(tmp_path / "expected", files, batch=number)
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "mine.xml").write_text("mine")

    for _ in range(rounds(60)):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(whole, out)
        file = out / "_weft" / record
        file.write_bytes(damage(file.read_bytes(), chance))
        done = 0
        for number, files in again:
            with refused(file, "remove it, and what it stands for is delivered anew"):
                deliver(out, files, batch=number)
                done += 1
        if done == len(again):
            assert delivered(out) == delivered(tmp_path / "expected")
        else:
            assert set(delivered(out)) >= set(delivered(whole)) & set(delivered(tmp_path / "expected"))
        assert {name for name in everything(tmp_path / "n") if not name.startswith("out/")} == {"mine.xml"}


OUTSIDE: list[object] = [
    *("../mine.xml", "/etc/passwd", "a/../../mine.xml", "..", "_weft/committed", "_weft/0000000000-s-{}.xml"),
    *("../0000000000-s-{}.xml", "news/../0000000000-s-{}.xml", "./0000000000-s-{}.xml", "0000000000-s-{}.xml"),
    *("news/0000000001-s-{}.xml", "a/b/0000000000-s-{}.xml", "news/0000000000-s-\0{}.xml", 7, None, {}),
]


@pytest.mark.parametrize("name", OUTSIDE, ids=repr)
def test_a_name_that_is_not_a_file_of_the_batch_is_refused_though_the_checksum_fits(
    tmp_path: Path, name: object
) -> None:
    path = tmp_path / "out"
    deliver(path, [message("1")], batch=3)
    shown = name.format("0" * 16) if isinstance(name, str) else name
    write_sealed(path / "_weft" / "intents" / "0", outbox._NAMES, json.dumps([shown] if name is not None else None))
    (tmp_path / "mine.xml").write_text("mine")
    before = everything(tmp_path)

    with pytest.raises(ConfigurationError, match=r"intents/0: expected names of files of batch 0, found "):
        deliver(path, [message("1")], batch=0)

    after = everything(tmp_path)
    assert {key: text for key, text in after.items() if "/staging/" not in key} == {**before, "out/_weft/lock": b""}


@pytest.mark.parametrize("link", ["desk", "_weft", "_weft/staging", "_weft/intents", "_weft/commits"])
def test_a_folder_that_is_a_link_is_refused_and_nothing_behind_it_is_touched(tmp_path: Path, link: str) -> None:
    path, outside = tmp_path / "out", tmp_path / "outside"
    deliver(path, [message("1")], batch=0)
    (path / link).rename(outside)
    (path / link).symlink_to(outside)
    before = everything(outside)

    for options in ({"batch": 1}, {"overwrite": True}):
        with pytest.raises(ConfigurationError, match=f"{link}: expected a folder, found a link"):
            deliver(path, [message("2")], **options)

    assert everything(outside) == before


def test_a_lock_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "out"
    deliver(path, [message("1")], batch=0)
    (tmp_path / "mine").write_text("mine")
    (path / "_weft" / "lock").unlink()
    (path / "_weft" / "lock").symlink_to(tmp_path / "mine")

    with pytest.raises(OSError, match="symbolic links"):
        deliver(path, [message("2")], batch=1)

    assert (tmp_path / "mine").read_text() == "mine"
