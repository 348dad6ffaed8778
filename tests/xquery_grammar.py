"""Random queries over the whole grammar of expressions, and small documents that they are about; the same for a seed.

Where XQuery leaves open what comes out they ask for nothing: what is read as a number is one, groups are ordered.
"""

from __future__ import annotations

from random import Random

from xquery_oracle import Asked

_TEXTS = ("t", "u", "10", "2", "gold ring", "a&amp;b", " x  y ")
_NUMBERS = ("1", "2", "2.5", "10", "-3", "0")
_STEPS = (
    "/a", "/a", "/b", "/b", "/c", "/*", "//b", "//c", "//*", "/a[1]", "/b[last()]", "/*[2]", "/a[@x > 1]",
    '/c[. = "t"]', "/*[position() < 3]", "/..", "/following-sibling::*", "/preceding-sibling::*[1]", "/ancestor::a",
    "/self::a", "/descendant::c", "/a[b]", "/*[not(c)]", '/b[@y = "t" or c]', "/(a | b)", "/ancestor-or-self::*[@x]",
    "/descendant-or-self::b", "/*[@x][1]", "/following::b[1]", "/preceding::*[2]", "//a[1]", "/*[count(*) > 1]",
)  # fmt: skip
_FROM_BELOW = ("/..", "/ancestor::a", "/ancestor-or-self::*[@x]")
_PROLOG = """declare variable $k := 2;
declare function local:twice($n as xs:decimal?) as xs:decimal? { 2 * $n };
declare function local:label($e as node()?, $s as xs:string) as xs:string { concat(name($e), $s) };
declare function local:all($e as element()*) { for $one in $e return <one>{ $one/@x, string($one) }</one> };
"""


def documents(seed: int, number: int) -> list[str]:
    """So many documents of elements in each other; `x` is a number, `y` a text."""
    random = Random(seed)
    return [_element(random, "a", 0) for _ in range(number)]


def _element(random: Random, name: str, depth: int) -> str:
    attributes = f' x="{random.choice(_NUMBERS)}"' if random.random() < 0.6 else ""
    attributes += f' y="{random.choice(_TEXTS)}"' if random.random() < 0.4 else ""
    content = []
    for _ in range(random.randint(0, 4) if depth < 4 else 0):
        if random.random() < 0.25:
            content.append(random.choice(_TEXTS))
        else:
            content.append(_element(random, random.choice("abbc"), depth + 1))
    if depth and not content and random.random() < 0.6:
        content.append(random.choice(_TEXTS))
    return f"<{name}{attributes}>{''.join(content)}</{name}>"


def queries(seed: int, number: int) -> dict[int, Asked]:
    """So many queries, by number."""
    random = Random(seed)
    return {each: _Query(random).asked() for each in range(number)}


class _Query:
    """One query while it is written: the variables of single nodes, of sequences and of numbers that are bound."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._singles: list[str] = []
        self._several: list[str] = []
        self._numbers: list[str] = []
        self._next = 0

    def asked(self) -> Asked:
        """The whole query."""
        kind = self._random.randrange(7)
        if kind < 3:
            clauses = self.clauses(2)
            flwr = f"{clauses} return {self.item(2)}"
            body = flwr if kind == 0 else f"<r>{{ {flwr} }}</r>"
            return Asked(_PROLOG, body, f"exists({clauses} return 1)")
        if kind == 3:
            path, clauses = self.path(), self.clauses(1)
            more = f"{clauses} return {self.item(1)}"
            body = f'<r n="{{ count({path}) }}">{{ {more} }}<e>text</e>{{ {path} }}</r>'
            return Asked(_PROLOG, body, f"exists({path}) or exists({clauses} return 1)")
        if kind == 4:
            condition, path = self.condition(2), self.path()
            body = f"if ({condition}) then <y>{{ {path} }}</y> else <n/>"
            return Asked(_PROLOG, body, f"if ({condition}) then exists({path}) else true()")
        if kind == 5:
            path = self.path()
            body = f"{self.choose('count', 'string-join', 'sum')}({path}{'/@x' if self._one_in(2) else ''})"
            found = body[body.index("(") + 1 : -1]
            body = body if body.startswith("str") else f"count({found})"
            return Asked(_PROLOG, body, f"exists({found})")
        name, clauses = self.name(), self.clauses(2)
        inner = self.item(1)
        body = f"let ${name} := {clauses} return {inner} return <r>{{ ${name} }}{{ count(${name}) }}</r>"
        return Asked(_PROLOG, body, f"exists({clauses} return {inner})")

    # -- parts

    def choose(self, *options: str) -> str:
        """One of these."""
        return self._random.choice(options)

    def _one_in(self, number: int) -> bool:
        return self._random.randrange(number) == 0

    def name(self) -> str:
        """A name for a variable that is new."""
        self._next += 1
        return f"v{self._next}"

    def path(self, least: int = 1) -> str:
        """A path that leads to elements."""
        start = self._random.choice(["/a", "//b", "/a", "//a", *self._singles * 3, *self._several * 2])
        steps = [self._random.choice(_STEPS) for _ in range(self._random.randint(0 if start[0] == "/" else least, 2))]
        for at, step in enumerate(steps[1:], 1):  # Saxon gives nodes twice that lie below two such nodes in each other
            if step.startswith("//") and steps[at - 1] in _FROM_BELOW:
                steps[at] = step[1:]
        return start + "".join(steps)

    def single(self) -> str:
        """A path to one node at most."""
        if self._singles and not self._one_in(3):
            return self._random.choice(self._singles) + self.choose(
                "", "/@x", "/@y", "/@x", "/b[1]", "/*[last()]", "/.."
            )
        return f"({self.path()}{self.choose('', '/@y', '/text()')})[{self.choose('1', '2', 'last()')}]"

    def numeric(self) -> str:
        """An attribute that is a number, or nothing."""
        single = self._random.choice(self._singles) if self._singles and not self._one_in(3) else f"({self.path()})[1]"
        return f"{single}/@x"

    def number(self, depth: int) -> str:
        """A number, or nothing."""
        if depth and self._one_in(2):
            one, other = self.number(depth - 1), self.number(depth - 1)
            return self.choose(
                f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"({one} div 4)", f"({one} mod 3)",
                f"floor({one})", f"round({one})", f"abs({one})", f"-{one}", f"max(({one}, {other}))",
                f"ceiling({one})", f"min(({one}, {other}, 3))",
                f"local:twice({self.choose('1.5', '$k', self.numeric())})",
            )  # fmt: skip
        path = self.path()
        return self.choose(
            str(self._random.randint(0, 4)), "2.5", "1e1", f"count({path})", f"sum({path}/@x)", f"avg({path}/@x)",
            f"max({path}/@x)", f"number({self.numeric()})", f"string-length(string({self.single()}))", "$k",
            f"xs:decimal({self.numeric()})", *self._numbers * 3,
        )  # fmt: skip

    def text(self, depth: int) -> str:
        """A string."""
        if depth and self._one_in(2):
            one, other = self.text(depth - 1), self.text(depth - 1)
            return self.choose(
                f"concat({one}, {other})", f"upper-case({one})", f"substring({one}, 2)", f"substring({one}, 0, 3)",
                f"normalize-space({one})", f'substring-before({one}, "1")', f'substring-after({one}, "t")',
                f'translate({one}, "tu1", "TU")', f"({one} || {other})", f'replace({one}, "[tu]", "<$0>")',
                f"lower-case({one})", f'string-join(tokenize({one}, "\\s+"), "-")',
                f"local:label({self.single()}, {one})", f"(if ({self.condition(0)}) then {one} else {other})",
            )  # fmt: skip
        single = self.single()
        return self.choose(
            f"string({single})", f"string({single})", f"name({single})", '"t"', '"gold &amp; x"',
            f'string-join({self.path()}/@y, ",")', f"local-name({single})", f"string(count({self.path()}))",
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        """A truth value."""
        path, other = self.path(), self.path()
        if depth and self._one_in(3):
            one, two = self.condition(depth - 1), self.condition(depth - 1)
            some, inner = self.choose("some", "every"), self.name()
            return self.choose(
                f"({one} and {two})", f"({one} or {two})", f"not({one})",
                f"(if ({one}) then {two} else exists({path}))",
                f"({some} ${inner} in {path} satisfies ${inner}/@y = {other}/@y)",
                f"({some} ${inner} in {path}, $z in ${inner}/* satisfies $z << ${inner})",
            )  # fmt: skip
        operator, single = self.choose("=", "!=", "<", "<=", ">", ">="), self.single()
        return self.choose(
            f'{path} {operator} "{self.choose("t", "2", "u")}"', f"{path}/@y = {other}/@y",
            f"{path} {operator} {other}",
            f"{path}/@x {operator} {self._random.randint(0, 3)}", f"exists({path})", f"empty({path})", path,
            f"{self.number(1)} {operator} {self.number(0)}", f"contains({self.text(1)}, \"t\")",
            f'starts-with({self.text(0)}, "t")', f"{self.text(0)} eq {self.text(0)}", f"{path}/@x = (1, 2.5)",
            f"count({path}) gt {self._random.randint(0, 3)}", f"({path})[1] is ({other})[1]",
            f"({path})[1] << ({other})[1]", f"deep-equal(({path})[1], ({other})[1])", f'{path} = ("t", "10")',
            f"{single} castable as xs:integer", f"{single} instance of element(a)?",
            f'matches({self.text(0)}, "^[a-t]+$")',
            f"boolean({path})",
        )  # fmt: skip

    # -- clauses

    def clauses(self, depth: int) -> str:
        """The clauses of a FLWR expression; its variables are bound from here on."""
        name = self.name()
        text = f"for ${name}"
        source = self.path()
        if self._one_in(3):
            place = self.name()
            text += f" at ${place}"
            self._numbers.append(f"${place}")
        text += f" in {source}"
        self._singles.append(f"${name}")
        for _ in range(self._random.randint(0, depth)):
            text += self._random.choice((self._let, self._join, self._where))()
        if self._one_in(5):
            return text + self._grouped()
        if self._one_in(3):
            text += self._order()
        return text

    def _let(self) -> str:
        name = self.name()
        if self._one_in(3):
            value = self.number(1)
            self._numbers.append(f"${name}")
            return f" let ${name} := {value}"
        value = self.path()
        self._several.append(f"${name}")
        return f" let ${name} := {value}"

    def _join(self) -> str:
        name = self.name()
        outer = self._random.choice(self._singles)
        source = self.path()
        self._singles.append(f"${name}")
        condition = self.choose(
            f"${name}/@y = {outer}/@y", f"{outer}/@y = ${name}/*/@y", f"{outer}/@x < 2 * ${name}/@x",
            f"{outer}/@x = ${name}/@x + 0", f"number(${name}/@x) >= {outer}/@x", f"${name} << {outer}",
        )  # fmt: skip
        return f" for ${name} in {source} where {condition}"

    def _where(self) -> str:
        return f" where {self.condition(1)}"

    def _order(self) -> str:
        single = self._random.choice(self._singles)
        key = self.choose(
            f"{single}/@y", f"number({single}/@x)", f"count({single}/*)", f"string({single})", f"{single}/@x"
        )
        behind = self.choose(
            "", " descending", " empty greatest", " descending empty least", " ascending empty greatest"
        )
        return f" order by {key}{behind}, {self._random.choice(self._singles)}/@y"

    def _grouped(self) -> str:
        key, single = self.name(), self._random.choice(self._singles)
        text = f" group by ${key} := string({single}/@y) order by ${key}"
        self._several += self._singles
        self._singles, self._numbers = [], []
        return text

    # -- what is returned

    def item(self, depth: int) -> str:
        """An element, or something else of which messages are made."""
        if self._one_in(4):
            return self.choose(
                self.text(1), self.number(1), f"string(boolean({self.condition(1)}))", self.path(0), "$k"
            )
        if self._one_in(5):
            name = f'element {{ concat("e", {self._random.randint(1, 3)}) }}'
            return f"{name} {{ attribute n {{ {self.number(1)} }}, {self.content(depth)} }}"
        attributes = f' n="{{ {self.number(1)} }}"' if self._one_in(2) else ""
        attributes += f' t="-{{ {self.text(1)} }}&lt;{{ {self.path()} }}"' if self._one_in(4) else ""
        first = f"{{ {self._random.choice(self._singles)}/@y }}" if self._singles and self._one_in(3) else ""
        between = self.choose("", " text ", "<!-- c -->", "<![CDATA[<x>]]>", "&#65;", "<?pi x?>")
        return f"<i{attributes}>{first}{{ {self.content(depth)} }}{between}{{ {self.content(depth - 1)} }}</i>"

    def content(self, depth: int) -> str:
        """What stands in an element, without attributes."""
        path = self.path(0)
        if depth <= 0:
            return self.choose(path, f"{path}/text()", self.text(0), self.number(0), f"count({path})", "()")
        kind = self._random.randrange(12)
        if kind < 2:
            singles, several, numbers = list(self._singles), list(self._several), list(self._numbers)
            text = f"{self.clauses(1)} return {self.item(depth - 1)}"
            self._singles, self._several, self._numbers = singles, several, numbers
            return text
        if kind == 2:
            return f"if ({self.condition(1)}) then {self.content(depth - 1)} else {self.content(depth - 1)}"
        if kind == 3:
            return f"({self.content(depth - 1)}, {self.content(depth - 1)})"
        return self.choose(
            path, f"{path} ! string(.)", f"({path} | {self.path()})", f"({path} except {self.path()})",
            f"({path} intersect {self.path()})", f"subsequence({path}, 2, 2)", f"reverse({path})", f"data({path}/@x)",
            f"for $w in distinct-values({path}/@y) order by $w return $w", f"text {{ {self.text(1)} }}",
            f"(1 to {self._random.randint(0, 3)}) ! (. * 2)", f"local:all({path})", f"{path}/@x/string()",
            f"{path}/local:label(., \"!\")", f"<j>{{ {path} }}</j>/*/name()", self.number(1), f"tail({path})",
            f"switch ({self.text(0)}) case \"t\" return 1 case \"\" return <none/> default return 3",
            f"({path})[{self._random.randint(1, 3)}]", f"{path}/(if (@x) then string(@x) else \"-\")",
        )  # fmt: skip
