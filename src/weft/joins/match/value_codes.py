"""Texts that are compared in, numbers out: equal texts have equal ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.columns.integers import Longs

NO_VALUE = -1  # the code of what has none: nothing is equal to it, not even itself
_SWEEP = 10_000  # texts, before it is worth while to look for those that nobody has any more


class ValueCodes:
    """String-values as numbers: equal texts have equal numbers."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self._next = 0
        self._kept = 0  # how many were kept last

    @property
    def has_grown(self) -> bool:
        """Whether so many came since some were forgotten last that it is worth while to look again."""
        return len(self.texts) > max(_SWEEP, 2 * self._kept)

    def code(self, texts: Sequence[str | None]) -> Longs:
        """The number of each text; of what has no value there is none."""
        codes = np.empty(len(texts), np.int64)
        known = self.codes
        for at, text in enumerate(texts):
            code = NO_VALUE if text is None else known.get(text)
            if code is None and text is not None:
                code = known[text] = self._next
                self.texts[code] = text
                self._next += 1
            codes[at] = NO_VALUE if code is None else code
        return codes

    def keep(self, codes: Longs) -> None:
        """Forget all other texts. Their numbers are not given again."""
        self.texts = {code: self.texts[code] for code in np.unique(codes).tolist() if code >= 0}
        self.codes = {text: code for code, text in self.texts.items()}
        self._kept = len(self.texts)
