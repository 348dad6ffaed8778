"""All that a server asks of a document, each question under a key; documents in, the keys that match out.

Headers answer first. Documents whose headers do not tell all are parsed together, each once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

from weft.documents.document import Document, Limits, is_in_stream
from weft.errors import DocumentError
from weft.headers.configuration import Configuration
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import Producer, bytes_of
from weft.headers.selection.feedback import Feedback
from weft.headers.served import Suffices
from weft.network.parsing import ParsedDocument, Parsing
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection

#: Why something is asked: for a subscription, for one that joins documents, or to know where a document goes on.
Asked = tuple[Literal["subscription", "join", "routing"], str | int]
#: By the place of a document: whether the keys that match are enough, though others are unknown.
Enough = Callable[[int, Sequence[Asked], Sequence[Asked]], bool]


@dataclass(slots=True)
class AnswerToDocument:
    """The keys that match a document, those that could not be asked, and what it took.

    Without `is_answered` nothing could be asked, though the document was read.
    """

    matched: list[Asked] = field(default_factory=list)
    failed: list[Asked] = field(default_factory=list)
    header: bytes | None = None  # a new one, for those behind this server
    rejected: DocumentError | None = None
    is_answered: bool = True
    is_hit: bool = False
    look_up_seconds: float = 0.0
    parse_seconds: float = 0.0


class Questions:
    """The questions of one server, and the configurations whose headers it reads."""

    def __init__(
        self, readable: Sequence[Configuration], attached: Sequence[Configuration] = (), limits: Limits | None = None
    ) -> None:
        limits = limits or Limits()
        self._matcher = HeaderMatcher(readable)
        self._plans: dict[int, Selection | Flwr | LoneQuery] = {}
        self._parsing = Parsing(self._plans, limits, Producer(attached, limits) if attached else None)
        self._asked: dict[int, tuple[Asked, str]] = {}  # by number: the key, and the stream that it is for
        self._numbers: dict[Asked, list[int]] = {}
        self._next = 0
        self._counted: Counter[str] = Counter()  # what the matcher had counted when counting began

    def __len__(self) -> int:
        return len(self._asked)

    @property
    def keys(self) -> list[Asked]:
        """All keys."""
        return list(self._numbers)

    @property
    def misses(self) -> Counter[str]:
        """Of documents: why they had to be parsed."""
        found = self._matcher.counts - self._counted
        del found["hit"]
        return found

    def add(self, key: Asked, plan: Selection | Flwr | LoneQuery, stream: str = "") -> None:
        """Ask one more thing. A key may have several plans, of which one must match."""
        number, self._next = self._next, self._next + 1
        self._asked[number], self._plans[number] = (key, stream), plan
        self._numbers.setdefault(key, []).append(number)
        self._matcher.add(number, plan)
        self._parsing.added(number)

    def remove(self, key: Asked) -> None:
        """Ask for a key no more."""
        for number in self._numbers.pop(key):
            del self._asked[number], self._plans[number]
            self._matcher.remove(number)
            self._parsing.removed(number)

    def configure(self, configuration: Configuration) -> None:
        """Read the headers of one more configuration."""
        self._matcher.configure(configuration)

    def tell(self, feedback: Feedback, server: str, now: float) -> None:
        """Tell whoever chooses views what was asked of headers, and what came of it."""
        self._matcher.report(feedback, server, now)

    def count_anew(self) -> None:
        """Forget how many documents had to be parsed."""
        self._counted = Counter(self._matcher.counts)

    def rest(self) -> None:
        """Let the engine go, until a document must be parsed."""
        self._parsing.rest()

    @property
    def is_resting(self) -> bool:
        """Whether there is no engine just now."""
        return self._parsing.is_resting

    def answer(self, documents: Sequence[Document], suffices: Enough | None = None) -> list[AnswerToDocument]:
        """What matches each document; keys that are unknown from its header may be left out if the others suffice."""
        answers = [AnswerToDocument() for _ in documents]
        missed: list[int] = []
        for place, document in enumerate(documents):
            started = perf_counter()
            numbers = self._matcher.answer(document, self._enough(place, document, suffices))
            if numbers is None:
                missed.append(place)
            else:
                answers[place].is_hit, answers[place].matched = True, self._keys(document, numbers)
            answers[place].look_up_seconds = perf_counter() - started
        if missed:
            self._parse([documents[place] for place in missed], [answers[place] for place in missed])
        return answers

    def _enough(self, place: int, document: Document, suffices: Enough | None) -> Suffices | None:
        if suffices is None:
            return None
        return lambda matched, unknown: suffices(place, self._keys(document, matched), self._keys(document, unknown))

    def _parse(self, documents: Sequence[Document], answers: Sequence[AnswerToDocument]) -> None:
        """Fill in the answers to documents that must be parsed; each takes the time by its size."""
        started = perf_counter()
        found = self._parsing.answer(documents)
        seconds = perf_counter() - started
        sizes = [len(bytes_of(document)) for document in documents]
        for document, answer, parsed, size in zip(documents, answers, found, sizes, strict=True):
            self._fill(document, answer, parsed)
            answer.parse_seconds = seconds * size / max(sum(sizes), 1)

    def _fill(self, document: Document, answer: AnswerToDocument, parsed: ParsedDocument) -> None:
        answer.matched = self._keys(document, sorted(parsed.numbers))
        answer.failed = self._keys(document, sorted(parsed.failed))
        answer.header, answer.rejected, answer.is_answered = parsed.header, parsed.rejected, parsed.is_answered

    def _keys(self, document: Document, numbers: Sequence[int]) -> list[Asked]:
        found = (self._asked[number] for number in numbers)
        return list(dict.fromkeys(key for key, stream in found if is_in_stream(document, stream)))
