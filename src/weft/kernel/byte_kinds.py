"""The bytes of markup, what each may be a part of, and several as one number; `byte_kinds.pxd` has the same in C."""

#: What a byte may be, as bits: the first of a name, part of a name, white space; what ends a run of an attribute's
#: value, a run of text; what no document may have. Bytes above 127 are parts of names here: who keeps names knows more.
START, NAME, SPACE, VALUE, TEXT, NEVER = 1, 2, 4, 8, 16, 32
NUL, TAB, NEWLINE, RETURN, BLANK, BANG, QUOTE, HASH, AMPERSAND = 0, 9, 10, 13, 32, 33, 34, 35, 38
APOSTROPHE, HYPHEN = 39, 45
SLASH, COLON, SEMICOLON, LESS, EQUALS, GREATER, QUESTION, OPENING, CLOSING = 47, 58, 59, 60, 61, 62, 63, 91, 93
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KINDS = (
    (START | NAME, _LETTERS + b"_:" + bytes(range(128, 256))),
    (NAME, b"0123456789-."),
    (SPACE, b" \t\n\r"),
    (VALUE, b"<&\"'" + bytes(range(32))),
    (TEXT, b"<&]" + bytes(set(range(32)) - set(b"\t\n"))),
    (NEVER, bytes(set(range(32)) - set(b"\t\n\r"))),
)


def kinds_of_bytes() -> bytes:
    """For each byte what it may be."""
    return bytes(sum(kind for kind, those in _KINDS if byte in those) for byte in range(256))


def word(s: bytes, p: int, size: int) -> int:
    """So many bytes as one number, at most eight; in C in the machine's own order."""
    return int.from_bytes(s[p : p + size], "little")
