"""Eight bytes of a document in, those of them at which a run may stop out; `byte_words.pxd` has the same in C.

A stop is the high bit of its byte in the word. Behind the first stop there may be bits of bytes that are none.
"""

_ONES = 0x0101010101010101
_HIGH_BITS = 0x80 * _ONES


def eight_at(s: bytes, p: int) -> int:
    """Eight bytes as one number, the first the lowest."""
    return int.from_bytes(s[p : p + 8], "little")


def copy_eight(into: memoryview, at: int, s: bytes, p: int) -> None:
    """Write eight bytes that stand at a place behind others."""
    into[at : at + 8] = s[p : p + 8]


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


def value_stops(eight: int, quote: int) -> int:
    """What may end a run of an attribute's value: its quote, `<`, `&`, or less than a blank."""
    found = bytes_below(eight, 32) | equal_bytes(eight, 60) | equal_bytes(eight, 38)
    return (found | equal_bytes(eight, quote)) & _HIGH_BITS


def name_stops(eight: int) -> int:
    """What ends a name: white space or less, `/`, and `=` or `>` with what stands beside them in ASCII, `<` and `?`."""
    found = bytes_below(eight, 33) | equal_bytes(eight, 47)
    return (found | equal_bytes(eight & (0xFC * _ONES), 60)) & _HIGH_BITS
