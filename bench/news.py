"""The workload of the filtering experiment: news documents of about 70 elements and 4 KB, and paths of depth 6."""

from __future__ import annotations

from collections.abc import Iterator

from weft.workload import generate_documents, generate_queries, shipped

WORDS = 8  # the same for documents and queries, or no value predicate would ever hold


def news_documents(number: int, seed: int = 1) -> Iterator[bytes]:
    """Documents that differ, made one by one."""
    return generate_documents(shipped("news"), number=number, elements=70, words=WORDS, seed=seed)


def news_queries(number: int, *, predicates: bool, seed: int = 2) -> list[str]:
    """Distinct queries: paths alone, or paths with a value predicate and a nested path; fewer are a prefix of more."""
    tests = int(predicates)
    return generate_queries(
        shipped("news"),
        number=number,
        depth=6,
        descendant=0.2,
        wildcard=0.2,
        predicates=tests,
        nested=tests,
        words=WORDS,
        seed=seed,
    )
