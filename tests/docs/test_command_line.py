"""The examples in docs/command-line.md give what the page shows."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
AND_SO_ON = "…"  # as the last line of an output: more follows


def examples() -> list[list[tuple[str, list[str]]]]:
    """For each block of the page its command lines that call weft, with the output shown below each."""
    found: list[list[tuple[str, list[str]]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        found.append([])
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            if command.startswith("weft "):
                found[-1].append((command, output))
    return [block for block in found if block]


def marks_of(block: list[tuple[str, list[str]]]) -> list[pytest.MarkDecorator]:
    """What `weft run` does needs Spark."""
    needs_spark = any(command.startswith("weft run") for command, _ in block)
    return [pytest.mark.spark, pytest.mark.slow] if needs_spark else []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the examples and the page's files in it, so that commands may write there."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_examples_of_every_command() -> None:
    shown = {shlex.split(command)[1] for block in examples() for command, _ in block}

    assert {"match", "check", "test", "explain", "run", "show", "generate", "--version"} <= shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("block", [pytest.param(block, id=block[0][0], marks=marks_of(block)) for block in examples()])
def test_the_commands_of_a_block_print_what_is_shown(block: list[tuple[str, list[str]]]) -> None:
    for command, shown in block:
        words, _, source = command.partition(" < ")

        result = CliRunner().invoke(app, shlex.split(words)[1:], input=Path(source).read_bytes() if source else None)

        printed = [line.rstrip() for line in (result.stderr + result.stdout).rstrip("\n").split("\n")]
        assert not isinstance(result.exception, Exception), "a stack trace"
        if shown and shown[-1] == AND_SO_ON:
            assert printed[: len(shown) - 1] == shown[:-1]
        elif shown:
            assert [as_shown(*lines) for lines in zip(printed, shown, strict=True)] == shown


def as_shown(printed: str, shown: str) -> str:
    """A line as it is shown, if that ends with an ellipsis for what differs from machine to machine."""
    return shown if shown.endswith(AND_SO_ON) and printed.startswith(shown.removesuffix(AND_SO_ON)) else printed
