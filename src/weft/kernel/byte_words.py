"""Eight or sixteen bytes of a document in, those of them at which a run may stop out; `byte_words.pxd` has it in C.

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


def copy_sixteen(into: memoryview, at: int, s: bytes, p: int) -> None:
    """Write sixteen bytes likewise."""
    into[at : at + 16] = s[p : p + 16]


def copy_stretch(into: memoryview, at: int, s: bytes, p: int, end: int) -> int:
    """Write all bytes between two places behind others; where they end there."""
    into[at : at + end - p] = s[p:end]
    return at + end - p


def text_run_at(s: bytes, p: int) -> int:
    """How many of sixteen bytes come before the first that may end a run of text; 16 if none may."""
    for size in (0, 8):
        stops = text_stops(eight_at(s, p + size))
        if stops:
            return size + first_stop(stops)
    return 16


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
