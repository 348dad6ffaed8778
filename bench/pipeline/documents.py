"""Numbers of documents in, generated news on disk out: as Parquet for frames, as single files for a stream."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.news import news_documents

_PARTS = 8  # of a set, each made by one task
_SEED = 100  # the first of those that no other experiment has


def write_sets(folder: Path, sizes: Mapping[str, int]) -> None:
    """A folder for each set, of so many documents at least; no two sets share a document. All cores work."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        made = []
        for at, (name, number) in enumerate(sizes.items()):
            (folder / name).mkdir(parents=True)
            for part in range(_PARTS):
                path, seed = folder / name / f"{part}.parquet", _SEED + at * _PARTS + part
                made.append(pool.submit(_write_part, path, -(-number // _PARTS), seed))
        for each in made:
            each.result()


def _write_part(path: Path, number: int, seed: int) -> None:
    documents = pa.array(list(news_documents(number, seed)), pa.binary())
    pq.write_table(pa.table({"value": documents}), path, compression="none")


def read_set(folder: Path) -> list[bytes]:
    """The documents of a set."""
    documents: list[bytes] = pq.read_table(folder).column("value").to_pylist()
    return documents


def count_set(folder: Path) -> int:
    """How many documents a set has, without reading them."""
    return sum(pq.read_metadata(path).num_rows for path in folder.iterdir())


def write_files(folder: Path, documents: Iterable[bytes], prefix: str) -> None:
    """Each document as a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(documents):
        (folder / f"{prefix}-{number:06d}.xml").write_bytes(document)
