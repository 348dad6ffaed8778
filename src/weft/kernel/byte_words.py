"""Some bytes of a document in, how many of them come before a run may stop out; `byte_words.pxd` has it in C.

A stop in a word of eight is the high bit of its byte. Behind the first stop there may be bits of bytes that are none.
"""

from collections.abc import Callable

_ONES = 0x0101010101010101
_HIGH_BITS = 0x80 * _ONES


def eight_at(s: bytes, p: int) -> int:
    """Eight bytes as one number, the first the lowest."""
    return int.from_bytes(s[p : p + 8], "little")


def copy_sixteen(into: memoryview, at: int, s: bytes, p: int) -> None:
    """Write sixteen bytes likewise."""
    into[at : at + 16] = s[p : p + 16]


def copy_sixty_four(into: memoryview, at: int, s: bytes, p: int) -> None:
    """Write sixty-four bytes likewise."""
    into[at : at + 64] = s[p : p + 64]


def copy_stretch(into: memoryview, at: int, s: bytes, p: int, end: int) -> int:
    """Write all bytes between two places behind others; where they end there."""
    into[at : at + end - p] = s[p:end]
    return at + end - p


def _run(s: bytes, p: int, most: int, is_stop: Callable[[int], bool]) -> int:
    return next((at for at in range(most) if is_stop(s[p + at])), most)


def text_run_at(s: bytes, p: int) -> int:
    """How many of sixteen bytes come before the first that may end a run of text; 16 if none may."""
    return _run(s, p, 16, lambda byte: byte < 32 or byte in b"<&]")


def long_text_run_at(s: bytes, p: int) -> int:
    """How many of sixty-four."""
    return _run(s, p, 64, lambda byte: byte < 32 or byte in b"<&]")


def value_run_at(s: bytes, p: int, quote: int) -> int:
    """How many of sixteen bytes come before what may end a run of an attribute's value: its quote, or `<` or `&`."""
    return _run(s, p, 16, lambda byte: byte < 32 or byte in b"<&" or byte == quote)


def name_run_at(s: bytes, p: int) -> int:
    """How many of sixteen bytes come before what ends a name: white space, `/`, and `=` or `>` with what is beside."""
    return _run(s, p, 16, lambda byte: byte <= 32 or byte in b"/<=>?")


def first_stop(stops: int) -> int:
    """How many bytes come before the first stop."""
    return ((stops & -stops).bit_length() - 1) // 8


def equal_bytes(eight: int, byte: int) -> int:
    """The bytes that are equal to one: each is 0 when it is compared, and a borrow sets its high bit."""
    other = eight ^ (_ONES * byte)
    return (other - _ONES) & ~other


def bytes_below(eight: int, byte: int) -> int:
    """The bytes that are less than one, which is below 128."""
    return (eight - _ONES * byte) & ~eight


def text_stops(eight: int) -> int:
    """What may end a run of text: `<`, `&`, `]`, or less than a blank."""
    found = bytes_below(eight, 32) | equal_bytes(eight, 60) | equal_bytes(eight, 38)
    return (found | equal_bytes(eight, 93)) & _HIGH_BITS
