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


def examples() -> list[tuple[str, list[str]]]:
    """Each command line of the page that calls weft, with the output shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            if command.startswith("weft "):
                found.append((command, output))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the examples and the page's files in it, so that commands may write there."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_examples_of_every_command() -> None:
    shown = {shlex.split(command)[1] for command, _ in examples()}

    assert {"match", "check", "test", "explain", "generate", "--version"} <= shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "shown"), examples(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_command_of_the_page_prints_what_is_shown(command: str, shown: list[str]) -> None:
    words, _, source = command.partition(" < ")

    result = CliRunner().invoke(app, shlex.split(words)[1:], input=Path(source).read_bytes() if source else None)

    printed = [line.rstrip() for line in (result.stderr + result.stdout).rstrip("\n").split("\n")]
    assert not isinstance(result.exception, Exception), "a stack trace"
    if shown and shown[-1] == AND_SO_ON:
        assert printed[: len(shown) - 1] == shown[:-1]
    elif shown:
        assert printed == shown
