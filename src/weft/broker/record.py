"""What a broker tells of what has come so far: what was late, rejected, refused, suspended or not delivered."""

from __future__ import annotations

from weft.broker.change_lock import ChangeLock
from weft.broker.counts import BrokerCounts
from weft.broker.courier import Undelivered
from weft.broker.matcher import Matcher
from weft.broker.publisher import Publisher
from weft.broker.undelivered import UndeliveredMessages
from weft.errors import DocumentError, MessageError
from weft.headers.selection.feedback import Feedback


class BrokerRecord:
    """The part of a broker that only tells."""

    _matcher: Matcher
    _publisher: Publisher
    _undelivered: UndeliveredMessages
    _changing: ChangeLock

    @property
    def late(self) -> int:
        """How many documents came too late to be joined."""
        return self._matcher.joins.late

    @property
    def ahead(self) -> int:
        """How many documents were dated too far ahead to be joined; `rejected` tells which."""
        return self._matcher.joins.ahead

    @property
    def rejected(self) -> tuple[DocumentError, ...]:
        """The documents that could not be read, with place and reason; the latest ten thousand."""
        return tuple(self._publisher.rejected)

    @property
    def refused(self) -> tuple[MessageError, ...]:
        """The messages that were not made, with subscription, document and reason; the latest ten thousand.

        Each would have broken a limit (see `Limits`), or its query failed.
        """
        return tuple(self._publisher.refused)

    @property
    def refused_count(self) -> int:
        """How many messages were not made, also those no longer remembered."""
        return self._publisher.refused_count

    @property
    def suspended(self) -> dict[str, str]:
        """The subscriptions that failed while a document was matched, by id, and why.

        They take part no more, so that they do not disturb the others; to try one again, unsubscribe and subscribe it.
        """
        with self._changing:
            return {self._matcher.ids.of(number): reason for number, reason in self._matcher.suspended.items()}

    @property
    def counts(self) -> BrokerCounts:
        """All that is counted: documents, messages, reasons, seconds of stages, and what joins and the engine hold."""
        tally, matcher = self._publisher.tally, self._matcher
        return BrokerCounts(
            tally.documents,
            tally.messages,
            dict(tally.reasons),
            dict(tally.stages),
            self._publisher.refused_count,
            matcher.joins.late,
            matcher.joins.ahead,
            len(matcher.numbers),
            len(matcher.suspended),
            len(self._undelivered),
            len(matcher.joins.state),
            sum(len(index.plans.paths) for index in matcher.engine.indexes),
            tally.changes,
        )

    @property
    def invalid(self) -> int:
        """How many documents did not keep to the DTD: they were matched without it."""
        return self._matcher.invalid

    @property
    def header_counts(self) -> dict[str, int]:
        """How many documents were answered from their headers ("hit"), and why the others were parsed."""
        return dict(self._matcher.headers.counts)

    def header_feedback(self, server: str, now: float) -> Feedback:
        """What was asked of headers since this was called last, and what came of it: for whoever chooses views."""
        with self._changing:
            return self._matcher.headers.feedback(server, now)

    @property
    def undelivered(self) -> tuple[Undelivered, ...]:
        """The messages whose destination failed; the latest ten thousand, and no more than 64 MiB of text."""
        return tuple(self._undelivered)

    @property
    def operator_seconds(self) -> dict[str, float]:
        """With `profile`, the seconds that each operator has taken so far."""
        return dict(self._matcher.engine.profile.seconds)
