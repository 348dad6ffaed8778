"""Files that are there as a whole or not at all, and sealed ones that show every change."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.durable import Seal, open_sealed, read_sealed, write_atomically, write_sealed
from weft.errors import ConfigurationError

SEAL = Seal("notes", 2, "write it anew")


def test_a_file_is_replaced_as_a_whole_and_its_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "in" / "a file"

    write_atomically(file, "é")
    first = file.read_bytes()
    write_atomically(file, iter([b"one", b"", b" two"]))

    assert (first, file.read_bytes()) == ("é".encode(), b"one two")
    assert [each.name for each in file.parent.iterdir()] == ["a file"]


def test_a_write_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "before")

    def failing() -> Iterator[bytes]:
        yield b"half"
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_atomically(file, failing())

    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_the_content_is_on_the_disk_before_the_name_is_and_the_name_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "content")  # noqa: PTH112
        fsync(descriptor)

    def replaced(source: Path, target: Path) -> None:
        steps.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)

    write_atomically(tmp_path / "file", "text")

    assert steps == ["content", "name", "folder"]


@pytest.mark.parametrize("content", ["", "text\nwith lines\n", "é" * 3_000_000])
def test_what_is_sealed_comes_back_as_it_was(tmp_path: Path, content: str) -> None:
    write_sealed(tmp_path / "text", SEAL, content)
    write_sealed(tmp_path / "pieces", SEAL, iter([content.encode()[:5], content.encode()[5:]]))

    assert read_sealed(tmp_path / "text", SEAL).decode() == content
    assert (tmp_path / "pieces").read_bytes() == (tmp_path / "text").read_bytes()
    with open_sealed(tmp_path / "text", SEAL) as (opened, size):
        assert size == len(content.encode())
        assert opened.read(size).decode() == content


def test_every_change_of_a_byte_and_every_cut_is_refused_with_the_file_and_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_sealed(file, SEAL, "some\ntext")
    whole = file.read_bytes()
    damaged = [whole[:at] + bytes([byte ^ 1]) + whole[at + 1 :] for at, byte in enumerate(whole)]
    damaged += [whole[:at] for at in range(len(whole))] + [whole + b"\n", whole + whole]

    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(ConfigurationError) as told:
            read_sealed(file, SEAL)
        assert str(told.value).startswith(f"{file}: damaged: ")
        assert str(told.value).endswith("; write it anew")


@pytest.mark.parametrize(("name", "version"), [("notes", 1), ("notes", 20), ("note", 2)])
def test_a_file_of_another_kind_or_version_is_told_by_its_first_line(tmp_path: Path, name: str, version: int) -> None:
    write_sealed(tmp_path / "file", Seal(name, version, ""), "text")

    with pytest.raises(ConfigurationError, match=f"expected 'weft notes 2', found 'weft {name} {version}'"):
        read_sealed(tmp_path / "file", SEAL)


def test_a_file_that_is_not_there_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_sealed(tmp_path / "file", SEAL)
