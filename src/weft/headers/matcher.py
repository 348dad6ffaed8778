"""Queries and configurations in, answers to documents with headers out, without parsing where the header suffices."""

from __future__ import annotations

from collections import Counter

from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.headers.asked import Writer, asked
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.header import HeaderError, check, fields_of
from weft.headers.producer import bytes_of
from weft.headers.selection.feedback import Feedback
from weft.headers.served import ServedQueries, Suffices
from weft.languages import Plan
from weft.plans.show import show_test

_SWEEP = 10_000  # queries that went, before their conditions are forgotten


class HeaderMatcher:
    """The queries of a server, by number, and the configurations whose headers it can read."""

    def __init__(self, configurations: Configurations = ()) -> None:
        self._served = {each.tag: ServedQueries(each) for each in as_configurations(configurations)}
        self._latest: ServedQueries | None = None  # whose headers came last: the next one will be the same most often
        self._plans: dict[int, Plan] = {}
        self._gone = 0  # queries that were let go since conditions were forgotten
        self.hits = 0  # documents that were answered
        self.misses: Counter[str] = Counter()  # others, by the reason

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """Those whose headers can be read, the oldest first."""
        return tuple(served.configuration for served in self._served.values())

    def configure(self, configuration: Configuration) -> None:
        """Read the headers of one more configuration; those of the others can be read as before.

        Raises ConfigurationError if another one has its tag: headers of the two could not be told apart.
        """
        known = self._served.get(configuration.tag)
        if known is not None:
            if known.configuration != configuration:
                told = "expected the views and the documents that this tag has already, found others: a new version"
                raise ConfigurationError(f"configuration {configuration.tag}: {told}")
            return
        served = self._served[configuration.tag] = ServedQueries(configuration)
        for number, plan in self._plans.items():
            served.add(number, plan)

    def add(self, number: int, plan: Plan) -> None:
        """Take a query in."""
        self._plans[number] = plan
        for served in self._served.values():
            served.add(number, plan)

    def remove(self, number: int) -> None:
        """Let a query go."""
        if self._plans.pop(number, None) is not None:
            for served in self._served.values():
                served.remove(number)
            self._gone += 1
            if self._gone > max(_SWEEP, len(self._plans)):
                self._gone = 0
                for served in self._served.values():
                    served.renew(self._plans)

    def answer(self, document: Document, suffices: Suffices | None = None) -> list[int] | None:
        """The queries that match a document, those of joins if it may take part; None if it must be parsed.

        With `suffices`, which is told the queries that match and those of which it is unknown, it must be parsed only
        if that says no; of the unknown ones none is in the answer.
        """
        found = self._latest.answer_plain(document) if self._latest is not None else None
        if found is None:
            return self._answer(document, suffices)
        self.hits += 1
        return found

    def _answer(self, document: Document, suffices: Suffices | None) -> list[int] | None:
        """The same, whatever the header is, and whatever stands at its offsets."""
        try:
            fields = fields_of(document.header or b"")
            data = document.data if type(document.data) is bytes else bytes_of(document)
            tag, length, checksum, _, entries, _, _ = fields
            served, self._latest = self._served[tag], None  # until the header proves right: wrong ones come in a row
            if length != len(data) or len(entries) != len(served.kinds):
                self.misses["a header of another document or of other views"] += 1
                return None
            if suffices is None and served.is_hopeless(data, fields):
                found = None
            elif checksum != check(data, served.seed):
                self.misses["a header of another document or of other views"] += 1
                return None
            else:
                found = served.answer(document, data, fields, suffices)
            self._latest = served
            served.count(entries, found is None)
        except HeaderError:
            self.misses["no header" if document.header is None else "a damaged header"] += 1
        except KeyError:
            self.misses["an unknown configuration"] += 1
        except (ValueError, IndexError):
            self.misses["a value that could not be read"] += 1
        else:
            if found is not None:
                self.hits += 1
            else:
                self.misses["not known from the header"] += 1
            return found
        return None

    @property
    def counts(self) -> Counter[str]:
        """How many documents were answered ("hit"), and why the others were not."""
        return Counter({"hit": self.hits}) + self.misses

    def feedback(self, server: str, now: float) -> Feedback:
        """What was asked since the last report, and what came of it."""
        found = Feedback()
        self.report(found, server, now)
        return found

    def report(self, feedback: Feedback, server: str, now: float) -> None:
        """Tell a producer what was asked since the last report, and what came of it."""
        expressions = list(dict.fromkeys(each for plan in self._plans.values() for each in asked(plan)))
        for served in self._served.values():
            documents, several = served.documents - served.reported, served.several
            if not documents:
                continue
            writer = Writer(dict(served.configuration.namespaces))  # as whoever chose the views wrote them
            asked_for = {writer.write(each): each for each in expressions}
            feedback.arrived(server, now, documents)
            for text, expression in asked_for.items():
                entry = served.entry(expression)
                if text is not None and entry is None:
                    feedback.asked(text, "unserved", now, documents)
                elif text is not None and entry is not None:
                    feedback.asked(text, "miss", now, several[entry])
                    feedback.asked(text, "hit", now, documents - several[entry])
            served.reported = served.documents
            several.clear()
            _report_tests(served, writer, feedback, now)

    def serves(self, number: int) -> dict[str, str]:
        """By tag: whether a configuration has all that a query asks for, some of it, or nothing."""
        return {tag: served.tell(number) for tag, served in self._served.items()}


def _report_tests(served: ServedQueries, writer: Writer, feedback: Feedback, now: float) -> None:
    """Tell of tests on the values of views how many documents passed them."""
    views = served.configuration.views
    for look_up, (passed, failed) in served.tested().items():
        text = writer.write(views[look_up.entry].expression) if look_up.entry < len(views) else None
        if text is not None and look_up.test is not None:
            name = show_test(look_up.test)
            feedback.tested(text, name, True, now, passed)
            feedback.tested(text, name, False, now, failed)
