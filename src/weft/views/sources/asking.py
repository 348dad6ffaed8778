"""Several sources are asked at once: each in a thread of its own, and none waits for another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

from weft.errors import QueryError, failure_of
from weft.views.bounds import AnswerTooLargeError, StoppedError, bounds_here
from weft.views.sources.source import Answer, ExplainingSource, Question, Source, SourceError

_Told = TypeVar("_Told")
_Ended = SourceError | QueryError | AnswerTooLargeError | StoppedError


def ask(
    sources: Mapping[str, Source], questions: Mapping[str, Sequence[Question]], timeout: float = 60.0
) -> dict[str, Answer | SourceError]:
    """The answer of each source that is asked something, by its name; an error for one that has none in time.

    A question that is itself wrong is raised as a QueryError: no source could answer it.
    """
    asked = [name for name in sources if questions.get(name)]
    return _at_once({name: partial(sources[name].answer, questions[name]) for name in asked}, timeout)


def ask_to_explain(
    sources: Mapping[str, Source], questions: Sequence[Question], timeout: float = 60.0
) -> dict[str, tuple[float | None, ...]]:
    """The seconds that sources expect to take to find each answer; of those alone that explain themselves."""
    asked = {name: each for name, each in sources.items() if isinstance(each, ExplainingSource)}
    told = _at_once({name: partial(each.explain, questions) for name, each in asked.items()}, timeout)
    return {name: each for name, each in told.items() if not isinstance(each, SourceError)}


def _at_once(work: Mapping[str, Callable[[], _Told]], timeout: float) -> dict[str, _Told | SourceError]:
    """What comes of each source's work, or why nothing does.

    A source that hangs is left to a thread that ends when the source's own timeout does, or with the process; where
    the answer is stopped, that is at once. If the answer of one is too large, the others are stopped.
    """
    done: SimpleQueue[tuple[str, _Told | _Ended]] = SimpleQueue()
    bounds = bounds_here()
    for name, act in work.items():
        # In a context of its own, so that what works on the answer there knows its bounds.
        Thread(target=copy_context().run, args=(_do, name, act, done), name=f"ask {name}", daemon=True).start()
    found: dict[str, _Told | SourceError] = {}
    end = monotonic() + timeout
    with bounds.stopping(lambda: done.put(("", StoppedError()))):
        while len(found) < len(work):
            try:
                name, each = done.get(timeout=max(0.0, end - monotonic()))
            except Empty:
                break
            if isinstance(each, AnswerTooLargeError):
                bounds.stop()
            if isinstance(each, QueryError | AnswerTooLargeError | StoppedError):
                raise each
            found[name] = each
    late = f"no answer within {timeout:g} s"
    return {name: found[name] if name in found else SourceError(name, late) for name in work}


def _do(name: str, act: Callable[[], _Told], done: SimpleQueue[tuple[str, _Told | _Ended]]) -> None:
    try:
        done.put((name, act()))
    except (QueryError, SourceError, AnswerTooLargeError, StoppedError) as error:
        done.put((name, error))
    except Exception as error:  # whatever it is, it is this source's own: the others go on
        done.put((name, SourceError(name, failure_of(error))))
