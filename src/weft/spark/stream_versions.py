"""The versions of a stream's subscriptions in, which of them it can go on with out, and when its plan must change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from weft.broker.subscriptions import Subscription
from weft.errors import ConfigurationError
from weft.spark.compiled import Compiled, unpack_joins
from weft.spark.joins_plans import no_joins
from weft.spark.versions import Compile

_BEGIN = "begin with another --checkpoint and --output"


class StreamVersions:
    """Compiles versions, and refuses those that the state in a checkpoint cannot serve.

    A stream that begins without XSCL keeps no state, and cannot begin to; one that has state goes on with whatever
    XSCL there is, also with none.
    """

    def __init__(self, source: Path, checkpoint: Path, compile: Compile) -> None:
        self._source, self._compile = source, compile
        self._last: Compiled | None = None
        self.has_state: bool | None = None  # not known before the first version
        if (checkpoint / "state").exists():
            self.has_state = True
        elif any((checkpoint / "commits").glob("[0-9]*")):
            self.has_state = False

    def compile(self, subscriptions: Path | list[Subscription], version: int) -> Compiled:
        """A version, if the stream can go on with it; else ConfigurationError."""
        compiled = self._compile(subscriptions, version)
        if self.has_state is None:
            self.has_state = compiled.joins is not None
        if compiled.joins is not None and not self.has_state:
            raise ConfigurationError(
                f"{self._source}: expected no XSCL, for the stream began without, and keeps no documents; {_BEGIN}"
            )
        if compiled.joins is None and self.has_state:
            compiled = replace(compiled, joins=no_joins())
        self._check_moves(compiled)
        self._last = compiled
        return compiled

    def _check_moves(self, compiled: Compiled) -> None:
        """A query that publishes, or reads what is published, is joined elsewhere than it was before."""
        before, now = self._last and self._last.joins, compiled.joins
        if not before or not now or before.cascades == now.cascades:
            return
        both = set(unpack_joins(before).identities.values()) & set(unpack_joins(now).identities.values())
        moved = (before.cascades ^ now.cascades) & both
        if moved:
            plans = unpack_joins(now)
            ids = sorted(str(plans.ids[number].as_py()) for number, each in plans.identities.items() if each in moved)
            raise ConfigurationError(
                f"{self._source}: {', '.join(ids)}: with what is published now, other documents must be kept for these "
                f"than were; give them other ids, or {_BEGIN}"
            )


def plan_key(compiled: Compiled) -> str:
    """What a query's plan depends on: equal ones can go on with the same."""
    if compiled.joins is None:
        return ""
    # what is published goes to queries in other languages too
    return compiled.joins.identity + (compiled.digest if compiled.joins.publishes else "")
