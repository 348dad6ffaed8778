"""A folder with the parts of views as Spark writes them: versions beside each other, and a manifest that names one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq

from weft.durable import Seal, read_sealed, sync, write_sealed
from weft.errors import ConfigurationError
from weft.plans.write import write_xpath
from weft.spark.views_sums import PartSums, in_order, join_sums, sums_from_json
from weft.spark.views_worker import SUMS
from weft.views.parts import definition_of
from weft.views.planning import Recommendation
from weft.views.store.manifest import ViewEntry
from weft.views.workload import Workload, WorkloadQuery

_SEAL = Seal("spark-views", 1, "materialize the views again")
_MANIFEST, _VERSION = "manifest", "version-"


@dataclass(frozen=True, slots=True)
class PartFolder:
    """A part that is known; its rows are in a folder, or None if it is not stored.

    `nested` are the views that have nodes in it without a fragment of their own.
    """

    id: str
    signature: tuple[str, ...]
    definition: str
    nested: tuple[str, ...]
    folder: str | None
    bytes: int = 0  # on disk


@dataclass(frozen=True, slots=True)
class SparkManifest:
    """A version of what is stored of a table of documents: its views, and the parts that these are made of.

    `rejected` documents could not be read, and have no nodes here; `reasons` tells of the first of them.
    """

    number: int
    source: str
    views: tuple[ViewEntry, ...]
    parts: tuple[PartFolder, ...]
    documents: int
    rejected: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """What the stored parts take on disk."""
        return sum(part.bytes for part in self.parts)

    def required(self, view: ViewEntry) -> tuple[PartFolder, ...]:
        """The parts of a view."""
        return tuple(part for part in self.parts if part.id in view.requires)

    def stored_views(self) -> tuple[ViewEntry, ...]:
        """The views all of whose nodes are here."""
        return tuple(view for view in self.views if all(part.folder is not None for part in self.required(view)))


def read_folder(folder: Path) -> SparkManifest | None:
    """The version that counts; None if there is none yet."""
    try:
        found = json.loads(read_sealed(folder / _MANIFEST, _SEAL))
    except FileNotFoundError:
        return None
    views = tuple(
        ViewEntry(**{**each, "namespaces": tuple(map(tuple, each["namespaces"])), "requires": tuple(each["requires"])})
        for each in found.pop("views")
    )
    parts = tuple(
        PartFolder(**{**each, "signature": tuple(each["signature"]), "nested": tuple(each["nested"])})
        for each in found.pop("parts")
    )
    return SparkManifest(views=views, parts=parts, **{**found, "reasons": tuple(found["reasons"])})


def next_version(folder: Path) -> tuple[int, Path]:
    """The number and the folder of a version to write; what jobs left that have died is removed.

    The version that counts stays, and so does the one before it: someone may be reading it.
    """
    current = read_folder(folder)
    number = current.number if current else 0
    for path in folder.glob(f"{_VERSION}*"):
        if path.name not in (f"{_VERSION}{number}", f"{_VERSION}{number - 1}"):
            shutil.rmtree(path)
    return number + 1, folder / f"{_VERSION}{number + 1}"


def finish_version(
    folder: Path, number: int, source: str, workload: Workload, found: Recommendation | None
) -> SparkManifest:
    """Make the version that a job has written the one that counts, without what a recommendation's budget forbids."""
    written = folder / f"{_VERSION}{number}"
    sums = _take_sums(written)
    views = tuple(_view(each, sums) for each in workload.queries)
    parts = _parts(folder, written, sums, {query.name: query.text for query in workload.queries})
    if found is not None and sum(part.bytes for part in parts) > found.budget:
        parts = _within(folder, parts, found)
    manifest = SparkManifest(number, source, views, parts, sums.documents, sums.rejected, sums.reasons)
    sync(*(path for path in written.rglob("*")), written, folder)
    write_sealed(folder / _MANIFEST, _SEAL, json.dumps(asdict(manifest), indent=1, ensure_ascii=False) + "\n")
    return manifest


def _view(query: WorkloadQuery, sums: PartSums) -> ViewEntry:
    text, namespaces = write_xpath(query.selection)  # whichever notation it had
    required = sorted(sums.parts.required(query.name))
    return ViewEntry(query.name, text, tuple(sorted(namespaces.items())), query.frequency, tuple(required))


def _take_sums(written: Path) -> PartSums:
    """What the tasks of a job have counted; it is no part, so it is gone then."""
    place = written / f"part={SUMS}"
    lines = [line for file in place.glob("*.parquet") for line in pq.ParquetFile(file).read(["value"])["value"]]
    shutil.rmtree(place, ignore_errors=True)
    return in_order(join_sums(sums_from_json(line.as_py()) for line in lines))


def _parts(folder: Path, written: Path, sums: PartSums, texts: Mapping[str, str]) -> tuple[PartFolder, ...]:
    found = []
    for id, signature in {piece.part: piece.home for piece in sums.parts.pieces}.items():
        place = written / f"part={id}"
        files = list(place.glob("*.parquet"))
        nested = tuple(sorted(view for part, view in sums.nested if part == id))
        stored = str(place.relative_to(folder)) if files else None
        size = sum(file.stat().st_size for file in files)
        found.append(PartFolder(id, tuple(sorted(signature)), definition_of(signature, texts), nested, stored, size))
    return tuple(found)


def _within(folder: Path, parts: tuple[PartFolder, ...], found: Recommendation) -> tuple[PartFolder, ...]:
    """The best of the parts for the budget, now that it is known what they take; the others are removed."""
    kept = frozenset(found.among({part.id: part.bytes for part in parts if part.folder is not None}).choice.keys)
    for part in parts:
        if part.folder is not None and part.id not in kept:
            shutil.rmtree(folder / part.folder)
    return tuple(part if part.id in kept else replace(part, folder=None, bytes=0) for part in parts)


def existing(folder: Path) -> SparkManifest:
    """The version that counts; raises ConfigurationError if there is none."""
    manifest = read_folder(folder)
    if manifest is None:
        raise ConfigurationError(f"{folder}: expected views that materialize_views has written, found none")
    return manifest
