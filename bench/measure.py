"""Functions in, seconds and answers out: in this process, or in a child that may crash."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from time import process_time
from typing import Any, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


class ChildLostError(Exception):
    """A child process gave no answer; the text says why in two words or so."""


def timed(function: Callable[[Given], Result], argument: Given) -> tuple[float, Result]:
    """The seconds of processor time that one call takes, and its result.

    All that is timed here computes in one thread and waits for nothing, so on an idle machine this is the time on the
    clock. On a busy one the clock would count the others' turns too.
    """
    start = process_time()
    result = function(argument)
    return process_time() - start, result


class Child:
    """A fresh process that calls `make(*arguments)` of a module, and answers questions with what that gave.

    The module is given by name and not imported here, so it may need what is not installed, or what crashes.
    """

    def __init__(self, module: str, *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_answer, args=(other, module), daemon=True)
        self._process.start()
        other.close()  # only the child holds it now: when that dies, we are told
        with suppress(OSError):  # it died: whoever asks will learn it
            self._connection.send(arguments)  # not by Process, which waits for ever for a child that died early

    def ask(self, question: object, timeout: float) -> Any:
        """The answer; ChildLostError if there is none."""
        try:
            self._connection.send(question)
            if not self._connection.poll(timeout):
                raise ChildLostError("timed out")
            kind, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise ChildLostError("crashed") from error
        if kind == "lost":
            raise ChildLostError(answer)
        return answer

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _answer(connection: Connection, module: str) -> None:
    try:
        answer = import_module(module).make(*connection.recv())
        while True:
            connection.send(("answer", answer(connection.recv())))
    except ImportError:
        connection.send(("lost", "not available"))
    except EOFError:  # nobody asks any more
        pass
    except Exception as error:
        connection.send(("lost", f"failed: {type(error).__name__}: {error}"))
