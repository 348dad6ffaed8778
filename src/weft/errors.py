"""Everything Weft raises on purpose.

WeftError
├── QueryError            a query that cannot be read: place, what was expected, what was found, a caret
│   └── UnsupportedError  a query that is right but asks for what Weft does not do: the feature, what to do instead
├── DocumentError         a document that cannot be read: document, line, column, byte offset, reason
├── MessageError          a message that is not made: subscription, document, reason
├── DeliveryError         a destination that took too long, or is given a rest
└── ConfigurationError    a DTD, file, option or limit that is wrong

And one warning: QueryWarning, for a query that is right but cannot mean what it says.
"""

from __future__ import annotations

__all__ = [
    "ConfigurationError",
    "DeliveryError",
    "DocumentError",
    "MessageError",
    "QueryError",
    "QueryWarning",
    "UnsupportedError",
    "WeftError",
]


_SHOWN = 120  # characters of a long line that are shown around the caret


class WeftError(Exception):
    """The root of all errors that Weft raises on purpose."""


class ConfigurationError(WeftError):
    """A DTD, file, option or limit that is wrong."""


class DeliveryError(WeftError):
    """A destination that took too long, or that is not asked for a while because it failed."""


class DocumentError(WeftError):
    """A document that cannot be read: it is *rejected*, and the rest of its batch goes on."""

    def __init__(self, document: str, line: int, column: int, offset: int, reason: str) -> None:
        self.document, self.line, self.column, self.offset, self.reason = document, line, column, offset, reason
        super().__init__(document, line, column, offset, reason)

    def __str__(self) -> str:
        return f"{self.document}:{self.line}:{self.column}: {self.reason} (byte {self.offset})"

    def told(self) -> DocumentError:
        """What is told, without the frames that it was raised in: they would keep the whole batch alive."""
        return DocumentError(self.document, self.line, self.column, self.offset, self.reason)


def failure_of(error: BaseException) -> str:
    """Why something failed that nobody expected to: the exception's kind, and what it says."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def without_frames(error: BaseException) -> BaseException:
    """The error and those before it without the frames that they were raised in: they would keep the batch alive."""
    known: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in known:
            known.add(id(each))
            each.__traceback__ = None
            waiting += each.__cause__, each.__context__
    return error


class MessageError(WeftError):
    """A message that is not made, because it would break a limit or its query failed; all others are."""

    def __init__(self, subscription: str, document: str, reason: str) -> None:
        self.subscription, self.document, self.reason = subscription, document, reason
        super().__init__(subscription, document, reason)

    def __str__(self) -> str:
        return f"{self.subscription} from {self.document}: {self.reason}"


class QueryError(WeftError):
    """A query that cannot be read, with its place and a caret under it."""

    is_final = False  # whether it is one however else the query may be read

    def __init__(self, language: str, query: str, at: int, reason: str) -> None:
        self.language, self.query, self.at, self.reason = language, query, at, reason
        self.line = query.count("\n", 0, at) + 1
        self.column = at - (query.rfind("\n", 0, at) + 1) + 1
        super().__init__(language, query, at, reason)

    def __str__(self) -> str:
        return _pointed(self.language, self.query, self.line, self.column, self.reason)


def _pointed(language: str, query: str, line: int, column: int, reason: str) -> str:
    """A reason with its place, the line of the query that it is in, and a caret."""
    text = query.split("\n")[line - 1]
    start = max(0, column - _SHOWN // 2) if len(text) > _SHOWN else 0
    excerpt = ("…" if start else "") + text[start : start + _SHOWN] + ("…" if start + _SHOWN < len(text) else "")
    caret = " " * (column - 1 - start + (start > 0)) + "^"
    return f"{language} {line}:{column}: {reason}\n  {excerpt}\n  {caret}"


class UnsupportedError(QueryError):
    """A query that is right but asks for a feature that Weft does not have."""

    def __init__(self, language: str, query: str, at: int, feature: str, instead: str | None = None) -> None:
        self.feature, self.instead = feature, instead
        advice = f"; {instead}" if instead else ""
        super().__init__(language, query, at, f"{feature} is not supported{advice}")
        self.args = (language, query, at, feature, instead)


class QueryWarning(UserWarning):
    """A part of a query that is never true, or always, whatever the document: with its place and what to write."""

    def __init__(self, language: str, query: str, at: int, reason: str, subscription: str = "") -> None:
        self.language, self.query, self.at, self.reason = language, query, at, reason
        self.subscription = subscription  # its id, or where it was written
        super().__init__(language, query, at, reason, subscription)

    def __str__(self) -> str:
        line = self.query.count("\n", 0, self.at) + 1
        column = self.at - (self.query.rfind("\n", 0, self.at) + 1) + 1
        told = _pointed(self.language, self.query, line, column, self.reason)
        return f"{self.subscription}: {told}" if self.subscription else told
