"""Views that a Spark job has stored in, answers to queries out: DataFrames over Parquet, without the documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import array_contains, col
from pyspark.sql.pandas.types import from_arrow_schema

from weft.errors import ConfigurationError, WeftError
from weft.spark.paths import local_path
from weft.spark.views_folder import PartFolder, SparkManifest, existing
from weft.spark.views_worker import AROUND, CompensateWorker, extract_nested, nullable
from weft.views.answering import Rewriting, StoredView, ViewIndex, find_rewriting
from weft.views.answering.rewriting import CompensatedRows, MergedRows, RowsPlan, ViewRows
from weft.views.nodes import REFERENCE, SCHEMA
from weft.views.notation import parse_query
from weft.views.parts import PART_SCHEMA
from weft.views.store.manifest import ViewEntry

_NODES = from_arrow_schema(nullable(SCHEMA))
_ROWS = from_arrow_schema(nullable(PART_SCHEMA))
_SPECIAL, _ESCAPED = re.compile(r"[\[\]{}*?\\]"), r"\\\g<0>"  # what Spark reads as a pattern
_HOW = {"intersect": "left_semi", "except": "left_anti"}


class UnansweredError(WeftError):
    """A query that the stored views do not answer."""

    def __init__(self, query: str, views: tuple[str, ...]) -> None:
        self.query, self.views = query, views
        super().__init__(query, views)

    def __str__(self) -> str:
        known = f"the stored views {', '.join(self.views)}" if self.views else "stored views, of which there are none"
        return f"{self.query}: expected {known} to answer it, found no way; ask the documents, with select_nodes"


def views(spark: SparkSession, folder: str | Path) -> SparkViews:
    """The views that `materialize_views` has stored in a folder, as they are now."""
    place = local_path(str(folder))
    return SparkViews(spark, place, existing(place))


class SparkViews:
    """One version of stored views. It stays readable until a job begins to write the second version after it."""

    def __init__(self, spark: SparkSession, folder: Path, manifest: SparkManifest) -> None:
        self._spark, self._folder, self.manifest = spark, folder, manifest

    def answer(self, query: str, namespaces: Mapping[str, str] | None = None) -> DataFrame:
        """The nodes that a query selects, as `select_nodes` gives them; raises UnansweredError if views do not tell."""
        rewriting = self.rewriting(query, namespaces)
        if rewriting is None:
            raise UnansweredError(query, tuple(view.name for view in self.manifest.stored_views()))
        return self._rows(rewriting.plan)

    def rewriting(self, query: str, namespaces: Mapping[str, str] | None = None) -> Rewriting | None:
        """How views answer a query (`show()` tells it); None if they do not."""
        return find_rewriting(parse_query(query, namespaces), self._index)

    def files(self, name: str) -> list[str]:
        """The Parquet files of a view, as patterns for any reader. Its rows are those whose `views` name it."""
        return [str(self._folder / str(part.folder) / "*.parquet") for part in self.manifest.required(self._view(name))]

    @cached_property
    def _index(self) -> ViewIndex:
        return ViewIndex([StoredView(view.name, view.selection) for view in self.manifest.stored_views()])

    def _view(self, name: str) -> ViewEntry:
        stored = {view.name: view for view in self.manifest.stored_views()}
        if name not in stored:
            raise ConfigurationError(f"expected a stored view ({', '.join(stored) or 'there is none'}), found {name!r}")
        return stored[name]

    # -- rows

    def _rows(self, plan: RowsPlan) -> DataFrame:
        match plan:
            case ViewRows(view):
                return self._of_view(view)
            case MergedRows("union", parts):
                return reduce(DataFrame.unionByName, map(self._rows, parts)).dropDuplicates(REFERENCE)
            case MergedRows(operator, (first, *others)):
                kept = self._rows(first)
                for other in others:
                    kept = kept.join(self._rows(other).select(*REFERENCE), REFERENCE, _HOW[operator])
                return kept
            case CompensatedRows(inner, compensation):
                made = self._rows(inner).mapInArrow(CompensateWorker(compensation), _NODES)
                return made.dropDuplicates(REFERENCE) if compensation.links else made
        raise AssertionError(f"expected a plan of rows, found {plan}")

    def _of_view(self, name: str) -> DataFrame:
        """A view's rows: those with a fragment as they are stored, nested ones with what is extracted for them."""
        required = self.manifest.required(self._view(name))
        rows = self._read(required)
        whole = rows.where(col("inside").isNull() & array_contains("views", name)).select(*SCHEMA.names)
        around = [part for part in required if name in part.nested]
        return whole.unionByName(self._nested(around, name)) if around else whole

    def _nested(self, parts: list[PartFolder], name: str) -> DataFrame:
        length, fragment = AROUND
        rows = self._read(parts)
        nested = rows.where(col("inside").isNotNull() & array_contains("views", name))
        around = rows.where(col("inside").isNull()).select(
            "document",
            "version",
            col("offset").alias("inside"),
            col("length").alias(length),
            col("fragment").alias(fragment),
        )
        return nested.join(around, ["document", "version", "inside"]).mapInArrow(extract_nested, _NODES)

    def _read(self, parts: tuple[PartFolder, ...] | list[PartFolder]) -> DataFrame:
        folders = [f"file:{_SPECIAL.sub(_ESCAPED, str(self._folder / str(part.folder)))}" for part in parts]
        if not folders:
            return self._spark.createDataFrame([], _ROWS)
        return self._spark.read.schema(_ROWS).parquet(*folders)
