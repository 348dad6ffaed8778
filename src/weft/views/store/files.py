"""Tables in, Parquet files of a store out, and back, checked: a file's name has the checksum of its content."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.views.store.manifest import FileEntry

_ENCODED = ["source", "document", "version", "path.list.element", "views.list.element"]  # few values, many times
_ADVICE = "materialize the views that need it again; all others can be read"


def encoded(table: pa.Table) -> pa.Buffer:
    """The content of a file with this table.

    Without statistics and Arrow's own schema, which nobody needs who reads all of it: they are half of a small file.
    """
    sink = pa.BufferOutputStream()
    options = {"use_dictionary": _ENCODED, "write_statistics": False, "store_schema": False}
    pq.write_table(table, sink, compression="zstd", **options)
    return sink.getvalue()


def write_file(folder: Path, name: str, table: pa.Table) -> FileEntry:
    """Write a table; when this returns it is on the disk as a whole."""
    content = encoded(table)
    checksum = xxh3_128_hexdigest(content)
    entry = FileEntry(f"{quote(name, safe='')}-{checksum}.parquet", content.size, table.num_rows, checksum)
    write_atomically(folder / entry.name, [content])
    return entry


def read_file(folder: Path, entry: FileEntry, schema: pa.Schema) -> pa.Table:
    """The table of a file; raises ConfigurationError, with its name and what to do, if it is not as it was written."""
    file = folder / entry.name
    try:
        with pa.OSFile(str(file)) as opened:
            content = opened.read_buffer()
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror or error}; {_ADVICE}") from None
    if content.size != entry.bytes or xxh3_128_hexdigest(content) != entry.checksum:
        raise ConfigurationError(f"{file}: damaged: its checksum does not fit its content; {_ADVICE}")
    return pq.ParquetFile(pa.BufferReader(content)).read().cast(schema)


def read_column(folder: Path, entry: FileEntry, name: str) -> pa.ChunkedArray:
    """One column of a file, without a look at the others: only what cannot be read at all is found to be damaged."""
    file = folder / entry.name
    try:
        return pq.ParquetFile(file, memory_map=True).read([name])[name]
    except (OSError, pa.ArrowInvalid) as error:
        raise ConfigurationError(f"{file}: damaged: {error}; {_ADVICE}") from None
