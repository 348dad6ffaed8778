"""Words in, those that lie in a text out: one pass for all of them, and not one step for each place of each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

import ahocorasick

Meaning = TypeVar("Meaning")
_FEW = 4_096  # words that can be looked for one by one
_LONG = 16  # how many times longer than the words a text is if a new machine is worth while
_REPEATS = 64  # places of words that are known already, whatever the text is


class WordMachine(Generic[Meaning]):
    """Words with what they mean, in an Aho-Corasick machine.

    It tells every place of every word: in a text like `aaaa`, words like `a`, `aa` and `aaa` have as many places as
    there are pairs. So it is left where known words come again and again, and the others are looked for without them.
    """

    def __init__(self, words: Mapping[str, Meaning]) -> None:
        self._meanings = words
        self._machine = ahocorasick.Automaton()
        for word in words:
            self._machine.add_word(word, word)
        self._machine.make_automaton()

    def inside(self, text: str) -> list[Meaning]:
        """What the words mean that a text has inside, each once."""
        return [self._meanings[word] for word in self._inside(text)]

    def _inside(self, text: str) -> list[str]:
        found: dict[str, None] = {}
        repeats, most = 0, _REPEATS + len(text) // 2
        for end, word in self._machine.iter(text):
            if word not in found:
                found[word] = None
                if len(found) == len(self._meanings):
                    break
            else:
                repeats += 1
                if repeats > most and (others := self._others(found, text, end)) is not None:
                    return [*found, *others]
        return list(found)

    def _others(self, found: dict[str, None], text: str, end: int) -> list[str] | None:
        """The words that are not found before a place, and found behind it; nothing if the machine is to go on."""
        missing = {word: meaning for word, meaning in self._meanings.items() if word not in found}
        size = sum(map(len, missing))
        if len(text) >= _LONG * size:
            longest = max(map(len, missing))
            return WordMachine(missing)._inside(text[max(end + 1 - longest, 0) :])
        if len(missing) > _FEW:
            return None
        return [word for word in missing if word in text]
