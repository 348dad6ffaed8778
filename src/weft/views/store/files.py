"""Tables in, Parquet files of a store out, and back, checked: a file's name has the checksum of its content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.views.store.manifest import FileEntry

_ENCODED = [
    "source",
    "document",
    "version",
    "part",
    "path.list.element",
    "views.list.element",
]  # few values, many times
_RISING = ["region", "offset", "written"]  # numbers that mostly rise: what they rise by is small
_ALONE = 1 << 20  # bytes of a file that one thread reads in the time it takes to wake others
_ADVICE = "materialize the views that need it again; all others can be read"


class DamagedFileError(ConfigurationError):
    """A file of a store that is not as it was written: which, how, and what to do."""


def encoded(table: pa.Table) -> pa.Buffer:
    """The content of a file with this table.

    Without statistics and Arrow's own schema, which nobody needs who reads all of it: they are half of a small file.
    """
    return _encoded([table], table.schema)


def _encoded(groups: Sequence[pa.Table], schema: pa.Schema) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    rising = {name: "DELTA_BINARY_PACKED" for name in _RISING if name in schema.names}
    options = {"use_dictionary": _ENCODED, "write_statistics": False, "store_schema": False}
    with pq.ParquetWriter(sink, schema, compression="zstd", column_encoding=rising, **options) as writer:
        for table in groups:
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
    return sink.getvalue()


def write_file(folder: Path, name: str, groups: Sequence[pa.Table]) -> FileEntry:
    """Write tables, each as a row group; they are on the disk when they were synced (see weft.durable.sync_files)."""
    content = _encoded(groups, groups[0].schema)
    checksum = xxh3_128_hexdigest(content)
    rows = sum(each.num_rows for each in groups)
    entry = FileEntry(f"{quote(name, safe='')}-{checksum}.parquet", content.size, rows, checksum)
    write_atomically(folder / entry.name, [content], is_synced=False)
    return entry


def read_file(folder: Path, entry: FileEntry, schema: pa.Schema) -> pa.Table:
    """The table of a file, or that of the entry's row group.

    Raises DamagedFileError, with the file's name and what to do, if it is not as it was written.
    """
    file = folder / entry.name
    try:
        with pa.OSFile(str(file)) as opened:
            content = opened.read_buffer()
    except OSError as error:
        raise DamagedFileError(f"{file}: cannot be read: {error.strerror or error}; {_ADVICE}") from None
    if content.size != entry.bytes or xxh3_128_hexdigest(content) != entry.checksum:
        raise DamagedFileError(f"{file}: damaged: its checksum does not fit its content; {_ADVICE}")
    opened_file, is_large = pq.ParquetFile(pa.BufferReader(content)), content.size > _ALONE
    if entry.group is not None:
        return opened_file.read_row_group(entry.group, use_threads=is_large).cast(schema)
    return opened_file.read(use_threads=is_large).cast(schema)


def read_columns(folder: Path, entry: FileEntry, names: Sequence[str]) -> pa.Table:
    """Some columns of a file, without a look at the others: only what cannot be read at all is found to be damaged."""
    file = folder / entry.name
    try:
        return pq.ParquetFile(file, memory_map=True).read(list(names))
    except (OSError, pa.ArrowInvalid) as error:
        raise DamagedFileError(f"{file}: damaged: {error}; {_ADVICE}") from None
