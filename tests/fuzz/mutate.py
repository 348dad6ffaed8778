"""Seeds in, something like them out: pieces gone, doubled, moved, from another seed, words or numbers put in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from fuzz.case import Case

_LARGEST = 64 * 1024  # bytes of a case: a fault that needs more is looked for by the tests of limits
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 62, (1 << 64) - 1)


_TOKEN = re.compile(rb"\w+|\s+|[<&/:-]+[\w:]*|.", re.DOTALL)


def mutate(seed: Case, seeds: Sequence[Case], words: Sequence[bytes], chance: Random) -> Case:
    """A seed after a few changes, most often one: of tokens, which leave much as it was, or of bytes."""
    if chance.random() < 0.4:
        return Case(_with_other_tokens(seed.data, seeds, words, chance)[:_LARGEST], seed.suffix)
    data = bytearray(seed.data)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 12))):
        _change(data, seeds, words, chance)
    return Case(bytes(data[:_LARGEST]), seed.suffix)


def _with_other_tokens(data: bytes, seeds: Sequence[Case], words: Sequence[bytes], chance: Random) -> bytes:
    tokens = _TOKEN.findall(data) or [b""]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                tokens[at] = chance.choice(words)
            case 1:
                tokens[at] = chance.choice(_TOKEN.findall(chance.choice(seeds).data) or [b""])
            case 2:
                tokens[at] = tokens[chance.randrange(len(tokens))]
            case 3:
                tokens.insert(at, chance.choice(tokens))
            case 4:
                tokens[at] = b""
    return b"".join(tokens)


def _change(data: bytearray, seeds: Sequence[Case], words: Sequence[bytes], chance: Random) -> None:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((0, 1, 1, 2, 4, 8, 30, 200)))
    match chance.randrange(10):
        case 0:
            del data[at:end]
        case 1 | 2 | 3:
            data[at:end] = chance.choice(words)
        case 4:
            data[at:at] = chance.choice(words)
        case 5:
            data[at:end] = bytes([chance.randrange(256)])
        case 6 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 7:  # something of the same seed, or of another
            other = data if chance.random() < 0.5 else chance.choice(seeds).data
            start = chance.randrange(len(other) + 1)
            data[at:end] = other[start : start + chance.choice((3, 20, 100, 1_000))]
        case 8:
            piece = bytes(data[at:end])
            data[at:end] = piece * chance.choice((2, 2, 3, 20, 300))
        case 9:
            size = chance.choice((1, 2, 4, 8))
            number = chance.choice(_NUMBERS) % (1 << 8 * size)
            data[at : at + size] = number.to_bytes(size, chance.choice(("little", "big")))
