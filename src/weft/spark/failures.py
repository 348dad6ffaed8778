"""What Spark raised in, the one line out that tells the cause: it is somewhere in a text of a hundred lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

#: What Spark raises: told in one line by `first_line`.
SPARK_ERRORS = (PySparkException, Py4JError)
_TRACEBACK = "Traceback (most recent call last):"
_OURS = "weft.errors."
_WRAPPERS = ("py4j.", "pyspark.")  # exceptions that only say that there was another
_JAVA = re.compile(r"^(?:[\w$]+\.)+[\w$]+(?:: |$)")  # the name of an exception before its message
_STREAM = re.compile(r"^\[STREAM_FAILED\] Query \[[^]]*\] terminated with exception: ")
_CODES = re.compile(r"(?: SQLSTATE: \w+)+$")
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '([^']+)'")
_CRASHED = "Python worker exited unexpectedly"
_LOST = re.compile(r"ExecutorLostFailure \(.*")
#: What Java says in a way that only programmers understand.
_MKDIRS = r"^java\.io\.IOException: Mkdirs failed to create file:(.*?)(?:/_temporary.*)? \(.*"
_PLAINLY = (
    (re.compile(r"^java\.nio\.file\.AccessDeniedException: (.*)"), r"\1: Permission denied"),
    (re.compile(r"^java\.nio\.file\.NoSuchFileException: (.*)"), r"\1: No such file or directory"),
    (
        re.compile(r"^java\.io\.IOException: Mkdirs failed to create file:(.*?)(?:/_temporary\S*)? \(.*"),
        r"\1: cannot write there",
    ),
)


def first_line(error: BaseException) -> str:
    """The line of an error that says something.

    That is Weft's own inside it; or that a process is gone; or what Python raised last; or what caused it all in Java;
    or the first line.
    """
    if isinstance(error, Py4JNetworkError):
        return "Spark ended unexpectedly; it may have run out of memory, or was killed"
    lines = str(error).splitlines()
    for find in (_ours, _without, _gone, _raised, _caused):
        if found := find(lines):
            return found
    told = [line.strip() for line in lines if line.strip()]
    return _plain(_STREAM.sub("", told[0])) if told else type(error).__name__


def _ours(lines: Sequence[str]) -> str | None:
    found = [line.strip() for line in lines if line.strip().startswith(_OURS)]
    return found[-1].partition(": ")[2] if found else None


def _without(lines: Sequence[str]) -> str | None:
    """A worker that has not what it needs: on a cluster nobody installs it there by itself."""
    for line in _ends(lines):
        if found := _MISSING.match(line):
            advice = "install weft[spark] for the Python of the workers, or send it along with --archives"
            return f"a worker of Spark has no module {found[1]!r}: {advice} (docs/cluster.md)"
    return None


def _gone(lines: Sequence[str]) -> str | None:
    if any(_CRASHED in line for line in lines):
        return "a Python worker ended unexpectedly; it may have run out of memory, or was killed"
    found = [match[0].strip() for line in lines if (match := _LOST.search(line))]
    return f"an executor was lost: {found[-1]}" if found else None


def _raised(lines: Sequence[str]) -> str | None:
    found = [_CODES.sub("", line) for line in _ends(lines) if not line.startswith(_WRAPPERS)]
    return found[-1] if found else None


def _ends(lines: Sequence[str]) -> Iterator[str]:
    """The last line of each traceback: the first that is not indented."""
    is_inside = False
    for line in lines:
        if is_inside and line.strip() and not line[0].isspace():
            is_inside = False
            yield line.strip()
        is_inside = is_inside or line.endswith(_TRACEBACK)


def _caused(lines: Sequence[str]) -> str | None:
    """The innermost cause that says anything, else what py4j tells in its second line."""
    starts = (": ", "Caused by: ")
    found = [line.removeprefix(start) for start in starts for line in lines if line.startswith(start)]
    said = [text for text in map(_plain, found) if text]
    return said[-1] if said else None


def _plain(text: str) -> str:
    for pattern, plainly in _PLAINLY:
        if pattern.match(text):
            return pattern.sub(plainly, text)
    return _CODES.sub("", _JAVA.sub("", text)).strip()
