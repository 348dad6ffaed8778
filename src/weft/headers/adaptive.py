"""Configurations that follow the stream: reports of servers in, the next version of a configuration out when it pays.

A new version takes over by its tag: the producer attaches its headers from then on, servers that know it use them, and
headers of the versions before stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from weft.documents.document import Document
from weft.headers.configuration import Configuration, configure
from weft.headers.selection.feedback import Feedback
from weft.headers.selection.online import SelectedViews, choose_again
from weft.headers.selection.ours import select_views
from weft.headers.selection.problem import BANDWIDTH
from weft.headers.selection.workload import ServerQueries, make_problem


class AdaptiveViews:
    """The views of a stream, chosen for its servers, and again as they report what they ask and what comes of it."""

    def __init__(
        self,
        name: str,
        servers: Sequence[ServerQueries],
        documents: Sequence[Document],
        *,
        size: int | None = None,
        max_bytes: float | None = None,
        parse_seconds: float | None = None,
        bandwidth: float = BANDWIDTH,
        links: float | None = None,
    ) -> None:
        """`documents` are some of the stream; `size` and `max_bytes` bound the header.

        Without bounds there are as many views as pay: what they save of parsing is more than what their bytes take on
        links of this `bandwidth`, in bytes a second. `links` are as many as a header goes over for each document; None:
        one into each server that the document reaches.
        """
        self._name, self._size, self._max_bytes = name, size, max_bytes
        self._make_problem = partial(make_problem, parse_seconds=parse_seconds, bandwidth=bandwidth, links=links)
        self.feedback = Feedback()
        self._problem = self._make_problem(servers, documents)
        choice = select_views(self._problem.problem, size, max_bytes)
        self._selected = SelectedViews(1, choice.views)
        self.configuration = self._configuration()

    def adapt(self, now: float) -> Configuration | None:
        """The next version, if by the reports so far it is better by enough; `configuration` is that from then on."""
        found = choose_again(
            self._selected,
            self._problem.problem,
            self._problem.expressions,
            self.feedback,
            now,
            size=self._size,
            max_bytes=self._max_bytes,
        )
        if found is None:
            return None
        self._selected = found
        self.configuration = self._configuration()
        return self.configuration

    def change(self, servers: Sequence[ServerQueries], documents: Sequence[Document]) -> Configuration | None:
        """Servers ask for something else now; the next version, unless the same views are the best."""
        self._problem = self._make_problem(servers, documents)
        choice = select_views(self._problem.problem, self._size, self._max_bytes)
        known = self.configuration
        self._selected = SelectedViews(known.version + 1, choice.views)
        changed = self._configuration()
        if {view.pattern for view in changed.views} == {view.pattern for view in known.views}:
            self._selected = SelectedViews(known.version, choice.views)
            return None
        self.configuration = changed
        return changed

    def _configuration(self) -> Configuration:
        texts = self._problem.texts(self._selected.views)
        return configure(self._name, texts, version=self._selected.version, namespaces=self._problem.namespaces)
