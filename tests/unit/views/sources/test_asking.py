"""Several sources at once: what answers is there, what does not is told, and nobody waits for the slowest."""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier

import pytest

from rude_server import dying, hanging, rude_server
from weft.views.sources.asking import ask
from weft.views.sources.http import HttpSource
from weft.views.sources.local import FileSource
from weft.views.sources.running import serving
from weft.views.sources.source import Answer, Question, Source, SourceError, read_question

ITEMS = [read_question("//item")]


def file(folder: Path, name: str) -> FileSource:
    (folder / f"{name}.xml").write_text(f"<{name}><item/></{name}>")
    return FileSource(folder / f"{name}.xml")


class MeetingSource(FileSource):
    """A source that answers when all the others are asked too."""

    def __init__(self, path: Path, meeting: Barrier) -> None:
        super().__init__(path)
        self._meeting = meeting

    def answer(self, questions: Sequence[Question]) -> Answer:
        self._meeting.wait(60)  # raises if some are asked only when others have answered
        return super().answer(questions)


@pytest.mark.slow
def test_sources_are_asked_at_once_and_answer_in_their_order(tmp_path: Path) -> None:
    meeting = Barrier(3)
    for name in ("one", "two", "three"):
        file(tmp_path, name)
    with (
        serving(MeetingSource(tmp_path / "one.xml", meeting)) as one,
        serving(MeetingSource(tmp_path / "two.xml", meeting)) as two,
        serving(MeetingSource(tmp_path / "three.xml", meeting)) as three,
    ):
        sources: dict[str, Source] = {"one": HttpSource(one), "two": HttpSource(two), "three": HttpSource(three)}
        answers = ask(sources, dict.fromkeys(reversed(sources), ITEMS))

    assert list(answers) == ["one", "two", "three"]
    assert [answer.rows[0].num_rows if isinstance(answer, Answer) else str(answer) for answer in answers.values()] == [
        1,
        1,
        1,
    ]


@pytest.mark.timed
@pytest.mark.slow
def test_a_source_that_hangs_holds_nobody_beyond_the_timeout(tmp_path: Path) -> None:
    with rude_server(hanging) as hung, rude_server(dying) as dead:
        sources: dict[str, Source] = {
            "hung": HttpSource(hung, "hung"),
            "shop": file(tmp_path, "shop"),
            "dead": HttpSource(dead, "dead"),
            "gone": FileSource(tmp_path / "gone.xml", "gone"),
        }
        start = time.perf_counter()
        answers = ask(sources, dict.fromkeys(sources, ITEMS), timeout=2)
        took = time.perf_counter() - start

    assert took < 15  # the server hangs for 20, and the source would wait for 60
    assert isinstance(answers["shop"], Answer)
    assert str(answers["hung"]) == "hung: no answer within 2 s"
    assert {name for name, answer in answers.items() if isinstance(answer, SourceError)} == {"hung", "dead", "gone"}


def test_a_source_that_is_asked_nothing_is_left_alone(tmp_path: Path) -> None:
    sources: dict[str, Source] = {"shop": file(tmp_path, "shop"), "gone": FileSource(tmp_path / "gone.xml", "gone")}

    assert list(ask(sources, {"shop": ITEMS, "gone": [], "other": ITEMS})) == ["shop"]
    assert ask({}, {}) == {}


def test_a_text_that_a_source_cannot_read_is_told(tmp_path: Path) -> None:
    with serving(file(tmp_path, "shop")) as address:
        sources: dict[str, Source] = {"shop": HttpSource(address)}

        answer = ask(sources, {"shop": [Question(ITEMS[0].selection, "//item[")]})["shop"]

    assert isinstance(answer, SourceError)
    assert "HTTP status 400: XPath 1:8" in answer.reason
