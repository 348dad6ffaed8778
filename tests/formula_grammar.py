"""Seeds in, random XPath over all that is worked out node by node out: functions, arithmetic, paths that go any way.

The queries are XPath 1.0, and so the same for lxml. Of what libxml2 does otherwise than the standard says nothing is
drawn: numbers with many digits written as texts, and what follows an attribute.
"""

from __future__ import annotations

from random import Random

from strategies import CLOSE, TAGS, TEXTS, Open, Token, written_document

#: libxml2 reads `2E` as a number too, and functions cut exponents.
_TEXTS = tuple(text for text in TEXTS if "e" not in text.lower())
_TAGS = tuple(tag for tag in TAGS if not any("e0" in attribute for attribute in tag.attributes))
_NAMES = ("a", "a", "b", "b", "c", "*")
_ATTRIBUTES = ("@x", "@x", "@y", "@*", "@d")
_ACROSS = (
    *("following-sibling::", "preceding-sibling::", "following-sibling::", "preceding-sibling::"),
    *("ancestor::", "parent::", "ancestor-or-self::", "following::", "preceding::", "descendant-or-self::", "self::"),
)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_STRINGS = ("'1'", "'2'", "'foo'", "'fo'", "''", "' '", "'o'", "'1 2'", '"a"', "'FOO'")
_NUMBERS = ("0", "1", "2", "3", "3.5", "-1", "0.5", "10")


def random_document(random: Random, size: int = 25) -> bytes:
    """A small document; texts are not split by comments, which `node()` finds elsewhere and not here."""
    tokens: list[Token] = []
    for _ in range(random.randrange(size)):
        kind = random.randrange(10)
        tokens.append(random.choice(_TAGS) if kind < 5 else CLOSE if kind < 8 else random.choice(_TEXTS))
    return written_document(random.choice((Open("a"), Open("r"), *_TAGS[:4])), tokens)


class FormulaGrammar:
    """Draws queries; `depth` is how deep expressions may still nest."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def one(self, *some: str) -> str:
        """One of these."""
        return self.random.choice(some)

    def chance(self, number: int) -> bool:
        """Whether something happens, once in so many times."""
        return not self.random.randrange(number)

    def query(self) -> str:
        """A path from the document."""
        kind = self.random.randrange(8)
        if kind < 4:
            return f"//{self.one(*_NAMES)}[{self.condition(3)}]{self._behind()}"
        if kind < 5:
            return f"({self.selection(2)})[{self.position(2)}]{self._behind()}"
        if kind < 6:
            return f"({self.selection(2)} | {self.selection(2)})[{self.position(2)}]"
        return self.selection(3)

    def _behind(self) -> str:
        return self.one("", "", "", "/..", f"/{self.step(1)}", "/@x", "//text()", f"[{self.position(1)}]")

    def selection(self, depth: int) -> str:
        """An absolute path that may go any way."""
        start = self.one("//", "//", "/", "/*/")
        steps = [self.step(depth)]
        for _ in range(self.random.randrange(3)):
            steps.append(self.step(depth))
        path = start + steps[0] + "".join(self.one("/", "/", "//") + step for step in steps[1:])
        return path + self.one("", "", "", "/@x", "/text()", "/..", "/@*[. = 1]")

    def step(self, depth: int) -> str:
        """A step along any axis, perhaps with predicates."""
        axis = self.one("", "", "", *_ACROSS)
        test = self.one(*_NAMES) if not self.chance(12) or not axis else self.one("node()", "text()")
        step = axis + test
        while depth > 0 and self.chance(3):
            step += f"[{self.position(depth - 1) if self.chance(2) else self.condition(depth - 1)}]"
        return step

    def position(self, depth: int) -> str:
        """What stands in brackets and is about positions."""
        return self.one(
            *("1", "2", "last()", "position() mod 2 = 1", "last() - 1", "position() > 1", "position() != last()"),
            *(self.number(depth), f"position() = {self.number(depth)}", f"position() < 3 and {self.condition(depth)}"),
        )

    def path(self, depth: int) -> str:
        """A path from the node."""
        kind = self.random.randrange(10)
        if kind < 2 or depth <= 0:
            return self.one(*_NAMES, *_ATTRIBUTES, ".", "text()", "..", ".//b", "../@x")
        if kind < 3:
            return f"({self.path(depth - 1)})[{self.position(depth - 1)}]"
        if kind < 4:
            return f"({self.path(depth - 1)} | {self.path(depth - 1)})"
        start = self.one("", "", ".//", "./", "/*/", "//")
        more = self.one("", "", f"/{self.step(depth - 1)}", "/@x", "/..")
        return f"{start}{self.step(depth - 1)}{more}"

    def text(self, depth: int) -> str:
        """A text, or what becomes one."""
        if depth <= 0:
            return self.one(*_STRINGS, self.path(0), self.path(0))
        inner = depth - 1
        return self.one(
            f"normalize-space({self.text(inner)})",
            "normalize-space()",
            f"string({self.any(inner)})",
            "string()",
            f"concat({self.text(inner)}, {self.text(inner)})",
            f"concat({self.text(inner)}, '-', {self.text(inner)})",
            f"substring({self.text(inner)}, {self.number(inner)})",
            f"substring({self.text(inner)}, {self.number(inner)}, {self.number(inner)})",
            f"substring-before({self.text(inner)}, {self.text(inner)})",
            f"substring-after({self.text(inner)}, {self.text(inner)})",
            f"translate({self.text(inner)}, 'ofx1', 'OF')",
            f"translate({self.text(inner)}, {self.text(inner)}, {self.text(inner)})",
            self.one(f"name({self.path(inner)})", "name()", f"local-name({self.path(inner)})", "local-name()"),
            f"namespace-uri({self.path(inner)})",
            self.path(inner),
            self.one(*_STRINGS),
        )

    def number(self, depth: int) -> str:
        """A number, or what becomes one."""
        if depth <= 0:
            return self.one(*_NUMBERS, self.path(0))
        inner = depth - 1
        return self.one(
            f"count({self.path(inner)})",
            f"sum({self.path(inner)})",
            f"string-length({self.text(inner)})",
            "string-length()",
            f"number({self.any(inner)})",
            "number()",
            f"floor({self.number(inner)})",
            f"ceiling({self.number(inner)})",
            f"round({self.number(inner)})",
            f"({self.number(inner)} + {self.number(inner)})",
            f"({self.number(inner)} - {self.number(inner)})",
            f"{self.number(inner)} * {self.number(inner)}",
            f"({self.number(inner)} div {self.number(inner)})",
            f"({self.number(inner)} mod {self.number(inner)})",
            f"-{self.number(inner)}",
            self.path(inner),
            self.one(*_NUMBERS),
        )

    def any(self, depth: int) -> str:
        """An expression of any type."""
        return self.one(self.text(depth), self.number(depth), self.path(depth), f"boolean({self.condition(depth)})")

    def condition(self, depth: int) -> str:
        """A condition."""
        inner = depth - 1
        if depth <= 0:
            return self.one(self.path(0), f"{self.path(0)} {self.one(*_COMPARISONS)} {self.one(*_STRINGS, *_NUMBERS)}")
        kind = self.random.randrange(12)
        if kind < 2:
            return f"{self.text(inner)} {self.one(*_COMPARISONS)} {self.one(*_STRINGS)}"
        if kind < 4:
            return f"{self.number(inner)} {self.one(*_COMPARISONS)} {self.one(*_NUMBERS)}"
        if kind < 6:
            return f"{self.path(inner)} {self.one(*_COMPARISONS)} {self.path(inner)}"
        if kind < 7:
            return f"{self.any(inner)} {self.one(*_COMPARISONS)} {self.any(inner)}"
        if kind < 8:
            return f"{self.one('contains', 'starts-with')}({self.text(inner)}, {self.text(inner)})"
        if kind < 9:
            return f"not({self.condition(inner)})"
        if kind < 11:
            return f"({self.condition(inner)}) {self.one('and', 'or')} ({self.condition(inner)})"
        return self.path(inner)
