"""The records of a job and of its checkpoint: who may write where, and what becomes of a record that is damaged."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from damage import damage, refused
from weft.delivery import output
from weft.delivery.output import Record, alone, claim, finish, name_of_checkpoint, read_record
from weft.delivery.results import read_results
from weft.durable import Seal, write_sealed
from weft.errors import ConfigurationError
from weft.spark import compile_subscriptions, versions
from weft.spark.versions import Versions

BATCH, STREAM = Record(None, "parquet"), Record("news", "parquet")


def take(folder: Path, record: Record, *, overwrite: bool = False) -> None:
    claim(folder, record, overwrite=overwrite, checkpoint=folder / "checkpoint")


def put_messages(folder: Path) -> Path:
    message = folder / "messages" / "batch=0" / "part-0.parquet"
    message.parent.mkdir(parents=True, exist_ok=True)
    message.write_text("a message")
    return message


# Who may write


def test_what_a_batch_has_finished_stays_unless_told_otherwise(tmp_path: Path) -> None:
    take(tmp_path, BATCH)
    message = put_messages(tmp_path)
    finish(tmp_path, BATCH)

    for record in (BATCH, STREAM):
        with pytest.raises(ConfigurationError, match="has the messages of another run already; choose another"):
            take(tmp_path, record)

    assert message.exists()
    take(tmp_path, BATCH, overwrite=True)
    assert not message.exists()


@pytest.mark.parametrize("record", [BATCH, STREAM])
def test_what_a_batch_has_not_finished_is_replaced_by_the_next_run(tmp_path: Path, record: Record) -> None:
    take(tmp_path, BATCH)
    message = put_messages(tmp_path)

    take(tmp_path, record)

    assert not message.exists()
    assert read_record(tmp_path) == record


def test_a_stream_goes_on_as_it_was(tmp_path: Path) -> None:
    take(tmp_path, STREAM)
    message = put_messages(tmp_path)

    take(tmp_path, STREAM)

    assert message.exists()
    with pytest.raises(ConfigurationError, match="expected --format parquet, as before, found json"):
        take(tmp_path, Record("news", "json"))
    with pytest.raises(ConfigurationError, match="the stream goes on from its checkpoint"):
        take(tmp_path, STREAM, overwrite=True)
    with pytest.raises(ConfigurationError, match="or its own --checkpoint"):
        take(tmp_path, Record("other", "parquet"))


def test_a_run_that_is_killed_while_it_removes_what_it_replaces_can_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(tmp_path, BATCH)
    message = put_messages(tmp_path)
    finish(tmp_path, BATCH)
    monkeypatch.setattr(shutil, "rmtree", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        take(tmp_path, STREAM, overwrite=True)
    monkeypatch.undo()

    take(tmp_path, STREAM)

    assert not message.exists()


def _interrupted(_: Path) -> None:
    raise KeyboardInterrupt


def test_one_run_at_a_time(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from weft.delivery.output import alone\n"
        "with alone(Path(sys.argv[1]), 'busy'): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "records")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ConfigurationError, match=f"{tmp_path}: busy"), alone(tmp_path / "records", "busy"):
            pass
        other.kill()

    with alone(tmp_path / "records", "busy"):
        pass


def test_a_lock_is_not_looked_for_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigurationError, match="cannot write there"), alone(tmp_path, "busy"):
        pass

    assert not (tmp_path / "elsewhere").exists()


# Damaged


class Checkpoint:
    """A stream's records in a folder, and all that reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.weft = folder, folder / "checkpoint" / "weft"
        self.write = (folder / "subscriptions.jsonl").write_text
        self.write('{"id": "news", "query": "//a"}\n')

    def restart(self) -> Versions:
        return Versions(
            self.folder / "subscriptions.jsonl",
            self.weft,
            lambda subscriptions, number: compile_subscriptions(subscriptions, version=number),
            lambda _: None,
        )

    def begin(self) -> None:
        self.restart().for_batch(0)
        self.write('{"id": "news", "query": "//b"}\n{"id": "x", "query": "//c"}\n')
        self.restart().for_batch(1)
        take(self.folder, Record(name_of_checkpoint(self.folder / "checkpoint"), "json"))

    def go_on(self) -> object:
        """What a restart finds, and what the batch that runs again runs with."""
        take(self.folder, Record(name_of_checkpoint(self.folder / "checkpoint"), "json"))
        restarted = self.restart()
        first, again = restarted.check(), restarted.for_batch(1)
        return first.version, first.digest, again.version, again.digest, list(read_results(self.folder))

    def files(self) -> dict[str, Path]:
        return {
            "job": self.folder / "_weft" / "job.json",
            "identity": self.weft / "identity",
            "batch": self.weft / "batch.json",
            "version": self.weft / "versions" / "000002.jsonl",
        }


@pytest.mark.parametrize("kind", ["job", "identity", "batch", "version"])
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_record_is_refused_or_gives_what_it_gave(tmp_path: Path, kind: str, seed: int) -> None:
    chance, checkpoint = random.Random(seed), Checkpoint(tmp_path)
    checkpoint.begin()
    file = checkpoint.files()[kind]
    whole, expected = file.read_bytes(), checkpoint.go_on()

    for _ in range(60):
        file.write_bytes(damage(whole, chance))
        with refused(file, "or begin with another"):
            assert checkpoint.go_on() == expected
        file.write_bytes(whole)

    assert checkpoint.go_on() == expected


@pytest.mark.parametrize("kind", ["job", "identity", "batch", "version"])
def test_a_record_of_an_older_version_is_refused(tmp_path: Path, kind: str) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.begin()
    file = checkpoint.files()[kind]
    content = b"\n".join(file.read_bytes().split(b"\n")[1:])[:-33]  # as it was before there were seals

    file.write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"damaged: expected 'weft .* 1', found"):
        checkpoint.go_on()


def test_a_version_that_is_gone_is_told(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.begin()
    checkpoint.files()["version"].unlink()

    with pytest.raises(ConfigurationError, match=r"000002\.jsonl: gone; bring it back"):
        checkpoint.go_on()


#: By kind the seal that a record has, and what it should not say.
FOREIGN: dict[str, tuple[Seal, list[object]]] = {
    "job": (
        output._JOB,
        [
            *("{", [], {}, {"stream": 7, "format": "json"}, {"stream": None}),
            *({"stream": None, "format": "csv"}, {"stream": None, "format": "json", "x": 1}),
        ],
    ),
    "batch": (versions._BATCH, ["{", [], {}, {"batch": 1}, {"batch": 1, "version": "../2"}]),
    "version": (versions._VERSION, ["{\n", "7\n", '{"no": 1}\n', '{"id": "a"}\n']),
}


@pytest.mark.parametrize(("kind", "content"), [(kind, said) for kind, (_, those) in FOREIGN.items() for said in those])
def test_a_record_that_says_something_else_is_refused_though_its_checksum_fits(
    tmp_path: Path, kind: str, content: object
) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.begin()

    text = content if isinstance(content, str) else json.dumps(content)
    write_sealed(checkpoint.files()[kind], FOREIGN[kind][0], text)

    with pytest.raises(ConfigurationError, match=checkpoint.files()[kind].name):
        checkpoint.go_on()
