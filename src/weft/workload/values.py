"""A number in, the text that stands for it in documents and in queries out."""

from __future__ import annotations

from functools import lru_cache

_TEXT = (
    "harbour council opens winter market after long debate over northern railway bridge while farmers "
    "welcome early rain and students plan new library near old river garden before summer festival brings "
    "music theatre visitors from distant islands to quiet valley towns where teachers doctors bakers "
    "builders share stories of courage patience trade science weather sport travel health history"
)
_WORDS = _TEXT.split()


@lru_cache(maxsize=1 << 16)
def value_text(value: int, words: int) -> str:
    """A phrase of that many words, the last of which is the number: `bridge near islands 17`."""
    start = value * 31
    phrase = [_WORDS[(start + 17 * place * (place + 1) // 2) % len(_WORDS)] for place in range(words - 1)]
    return " ".join([*phrase, str(value)])


def id_text(element: str, number: int) -> str:
    """The ID of the element of that name that is the first (1), second (2), … with an ID in its document."""
    return f"{element.replace(':', '.')}-{number}"
