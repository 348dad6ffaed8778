"""Links of a network as DataFrames: folders of Parquet, which the next server reads as a stream."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from weft.network.links import BatchFolder

#: Files are read however long a server was away.
_FOR_EVER = "36500d"


@dataclass(frozen=True, slots=True)
class FolderLink:
    """A `NetworkLink` between servers that share a file system."""

    spark: SparkSession
    folder: BatchFolder
    schema: str
    max_files: int

    def read(self) -> DataFrame:
        """The documents as a stream."""
        self.folder.folder.mkdir(parents=True, exist_ok=True)
        reader = self.spark.readStream.schema(self.schema).option("maxFileAge", _FOR_EVER)
        return reader.option("maxFilesPerTrigger", self.max_files).parquet(self.folder.pattern)

    def write(self, batch: int, documents: DataFrame) -> None:
        """Send the documents of a batch, unless they were sent before."""
        if not self.folder.has(batch):
            documents.write.parquet(str(self.folder.stage(batch).absolute()))
            self.folder.publish(batch)
