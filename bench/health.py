"""Large documents: health records of about 2,200 elements and 100 KB, and paths of depth 6 in them."""

from __future__ import annotations

from collections.abc import Iterator

from weft.workload import generate_documents, generate_queries, shipped

_WORDS = 8  # the same for documents and queries, or no value predicate would ever hold
_REPEATS = {"encounter": 20, "panel": 20, "observation": 12, "medication": 20, "problem": 12, "*": 4}


def health_documents(number: int, seed: int = 1) -> Iterator[bytes]:
    """Documents that differ, made one by one."""
    return generate_documents(
        shipped("health"), number=number, depth=9, elements=2_200, repeats=_REPEATS, words=_WORDS, seed=seed
    )


def health_queries(number: int, *, predicates: bool, seed: int = 2) -> list[str]:
    """Distinct queries: paths alone, or paths with a value predicate and a nested path; fewer are a prefix of more."""
    tests = int(predicates)
    return generate_queries(
        shipped("health"),
        number=number,
        depth=6,
        descendant=0.2,
        wildcard=0.2,
        predicates=tests,
        nested=tests,
        words=_WORDS,
        seed=seed,
    )
