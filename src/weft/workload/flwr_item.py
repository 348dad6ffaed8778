"""The variables of a FLWR query in, the constructor of the item that it returns for each binding out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from weft.workload.flwr_paths import DrawnVariable, FlwrPaths
from weft.workload.flwr_shape import FlwrShape

# Among them a character that must be written as a reference, and braces, which must be doubled.
_CONSTANTS = (" and ", "; ", " &amp; ", " {{of}} ")


class ItemWriter:
    """Writes random items."""

    def __init__(self, paths: FlwrPaths, shape: FlwrShape, rng: Random) -> None:
        self._paths = paths
        self._shape = shape
        self._rng = rng

    def item(self, variables: Sequence[DrawnVariable]) -> str:
        """The return paths of the first variable, and what the shape adds somewhere between them."""
        returned: set[str] = set()
        while len(returned) < self._shape.return_paths:
            returned.add(self._paths.element(variables[0])[0])
        # Sorted, as the brokering paper does: queries that differ in this order alone share all the work.
        parts = [f"{{ {path} }}" for path in sorted(returned)]
        for part in self._additions(variables):
            parts.insert(self._rng.randrange(len(parts) + 1), part)
        attribute, copied = self._attributes(variables) if self._chance(self._shape.attributes) else ("", "")
        # XQuery wants attributes before all other content.
        return f"<item{attribute}>{copied}{''.join(parts)}</item>"

    def _additions(self, variables: Sequence[DrawnVariable]) -> Iterator[str]:
        for variable in variables[1:]:
            yield f"{{ {self._use(variable)} }}"
        if self._chance(self._shape.texts):
            text = self._paths.text(self._rng.choice(variables))
            yield from (f"{{ {text} }}",) if text else ()
            yield self._rng.choice(_CONSTANTS)
        if self._chance(self._shape.counts):
            # Two numbers in the same braces are told apart by a space.
            paths = [self._paths.node(variables[0]) for _ in range(self._rng.choice((1, 1, 2)))]
            yield f"{{ {', '.join(f'count({path})' for path in paths)} }}"

    def _use(self, variable: DrawnVariable) -> str:
        """The variable itself, elements below it, or how many it stands for."""
        draw = self._rng.random()
        if variable.several and draw < 0.3:
            return f"count({variable.name})"
        return self._paths.element(variable)[0] if draw > 0.6 and self._paths.has_elements(variable) else variable.name

    def _attributes(self, variables: Sequence[DrawnVariable]) -> tuple[str, str]:
        """An attribute made of values, and one copied: the only one, for no two may have the same name."""
        able = [(variable, each.path) for variable in variables for each in self._paths.attributes(variable)]
        kind = self._rng.choice(("made", "copied", "both")) if able else "made"
        variable, path = self._rng.choice(able) if kind != "made" else (variables[0], "")
        copied = f"{{ {variable.name}/{path} }}" if path else ""
        if kind == "copied":
            return "", copied
        name = "value" if path == "@key" else "key"
        node = self._paths.node(variables[0])
        value = self._rng.choice((f"{{ {node} }}", f"{{ count({node}) }}", f"no. {{ {node} }}"))
        return f' {name}="{value}"', copied

    def _chance(self, probability: float) -> bool:
        return probability > 0 and self._rng.random() < probability
