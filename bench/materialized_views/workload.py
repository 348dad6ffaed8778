"""Five sources of given sizes, and workloads over them whose answers overlap little or much; all drawn by a seed.

A source `s1` is `<s1><a>…</a>…</s1>`: records `a` with children `b` to `f`, each with an attribute `k`, some with
children `g` and `h`. Queries are those of the paper's introduction and their like.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal
from xml.sax.saxutils import escape

from weft.documents.document import Document
from weft.views.workload import Workload, make_query, workload_of

SOURCES = ("s1", "s2", "s3", "s4", "s5")
Overlap = Literal["few", "many"]
_CHILDREN = "bcdef"
_WORDS = ("weft", "warp", "loom", "shuttle", "heddle", "selvage", "twill", "satin", "yarn", "bobbin")
#: What the queries of a source are made of.
_FEW = ("/{s}/a/b", "/{s}/a/c[g]", "/{s}/a/d/h", "/{s}/a/e[@k = '{k}']", "/{s}/a/f", "/{s}/a/c[h]")
_MANY = (
    "/{s}/a/*",
    "/{s}/a/b",
    "/{s}/a/b ∪ /{s}/a/c",
    "/{s}/a/{{b}}",
    "/{s}/a/{{c,d}}",
    "/{s}/a/*[g]",
    "/{s}/a/b[h] ∪ /{s}/a/d",
    "/{s}/a/*/g",
    "/{s}/a/*[@k = '{k}'] − /{s}/a/e",
    "/{s}/a[b]",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Documents by the name of their source, and what is asked of them."""

    documents: dict[str, Document]
    workload: Workload


def make_setting(seed: int, overlap: Overlap, sizes: tuple[int, ...] = (60_000,) * 5, queries: int = 20) -> Setting:
    """Sources of about so many bytes each, and so many queries at most with frequencies that add up to 1."""
    random = Random(f"{seed} {overlap}")
    documents = {
        source: Document(make_source(random, source, size), id=f"{source}.xml")
        for source, size in zip(SOURCES, sizes, strict=True)
    }
    return Setting(documents, make_workload(random, overlap, queries))


def make_source(random: Random, name: str, size: int) -> str:
    """A document of about so many bytes with this root element."""
    written, parts = 0, [f"<{name}>"]
    while written < size:
        parts.append(_record(random))
        written += len(parts[-1])
    return "".join([*parts, f"</{name}>"])


def _record(random: Random) -> str:
    children = []
    for label in random.choices(_CHILDREN, k=random.randint(1, 6)):
        inner = "".join(f"<{each}>{_text(random, 3)}</{each}>" for each in "gh" if random.random() < 0.3)
        long = 2 + int(random.paretovariate(1.5))
        children.append(f'<{label} k="{random.randint(0, 4)}">{_text(random, min(long, 60))}{inner}</{label}>')
    return f"<a>{''.join(children)}</a>"


def _text(random: Random, words: int) -> str:
    return escape(" ".join(random.choices(_WORDS, k=words)))


def make_workload(random: Random, overlap: Overlap, queries: int) -> Workload:
    """Queries over one source each, now and then over two; a few are asked often."""
    forms = _FEW if overlap == "few" else _MANY
    made = []
    for rank in range(queries):
        source = SOURCES[rank % len(SOURCES)]
        text = random.choice(forms).format(s=source, k=random.randint(0, 4))
        if random.random() < 0.1:
            other = random.choice([each for each in SOURCES if each != source])
            text += f" ∪ /{other}/a/b"
        made.append(make_query(text, 1 / (1 + random.randrange(queries))))
    return workload_of(made).normalized()
