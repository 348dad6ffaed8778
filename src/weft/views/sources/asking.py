"""Several sources are asked at once: each in a thread of its own, and none waits for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

from weft.errors import QueryError, failure_of
from weft.views.sources.source import Answer, Question, Source, SourceError


def ask(
    sources: Mapping[str, Source], questions: Mapping[str, Sequence[Question]], timeout: float = 60.0
) -> dict[str, Answer | SourceError]:
    """The answer of each source that is asked something, by its name; an error for one that has none in time.

    A source that hangs is left to a thread that ends when the source's own timeout does, or with the process. A
    question that is itself wrong is raised as a QueryError: no source could answer it.
    """
    asked = [name for name in sources if questions.get(name)]
    answered: SimpleQueue[tuple[str, Answer | Exception]] = SimpleQueue()
    for name in asked:
        arguments = (name, sources[name], questions[name], answered)
        Thread(target=_ask_one, args=arguments, name=f"ask {name}", daemon=True).start()
    found: dict[str, Answer | SourceError] = {}
    end = monotonic() + timeout
    while len(found) < len(asked):
        try:
            name, answer = answered.get(timeout=max(0.0, end - monotonic()))
        except Empty:
            break
        if isinstance(answer, QueryError):
            raise answer
        found[name] = answer if isinstance(answer, Answer | SourceError) else SourceError(name, failure_of(answer))
    late = f"no answer within {timeout:g} s"
    return {name: found[name] if name in found else SourceError(name, late) for name in asked}


def _ask_one(
    name: str, source: Source, questions: Sequence[Question], answered: SimpleQueue[tuple[str, Answer | Exception]]
) -> None:
    try:
        answered.put((name, source.answer(questions)))
    except Exception as error:  # whatever it is, it is this source's own: the others go on
        answered.put((name, error))
