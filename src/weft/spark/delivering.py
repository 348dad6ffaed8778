"""Subscriptions in all languages in, a function for `DataFrame.transform` out: what users call to get messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame

from weft.delivery.job import AHEAD, LATENESS
from weft.delivery.output import REJECTED, as_mode
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import Span
from weft.documents.schema import Schema
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.optimizer.adapting import Retrieval
from weft.spark.admitted import Admitting, admitting
from weft.spark.clashes import without_clashes
from weft.spark.compiled import Compiled, Subscriptions
from weft.spark.joins import join
from weft.spark.joins_plans import CompiledJoins
from weft.spark.reloading import Reloaded, reloading
from weft.spark.transform import Transform, added_names, as_compiled, deliver_single


# Long: half of it says what the options mean.
def deliver(
    subscriptions: Subscriptions | Compiled,
    column: str = "value",
    *,
    keys: Sequence[str] | None = None,
    id: str | Sequence[str] = "document",
    stream: str = "stream",
    timestamp: str | None = None,
    mode: str = "PERMISSIVE",
    columnNameOfCorruptRecord: str = REJECTED,
    rowTag: str | None = None,
    ignoreNamespace: bool = False,
    namespaces: Mapping[str, str] | None = None,
    version: int = 1,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    headers: Configurations = (),
    header: str = "header",
    optimizer: Retrieval = "greedy",
    prefix: str | None = None,
    schema: str | Path | Schema | None = None,
    lateness: Span = LATENESS,
    ahead: Span = AHEAD,
    reload: bool | str | Path = False,
) -> Transform:
    """Make messages of documents: `frame.transform(deliver("subscriptions.jsonl"))`, in batch or streaming.

    `column` has the documents as string or binary; null is no document. All other columns are passed through, or
    only `keys`. Each message is a row: `subscription`, `destination`, `message`, `position` (a subscription that
    selects several nodes of a document has a message for each, numbered from 1) and `version`, the number given here.
    If the frame has a column named by `stream`, it says which stream a document is of. Subscriptions with columns have
    a row for each node: `message` is JSON then, and the struct `columns` has the typed values. Columns passed through
    that are called like one of these get the `prefix`; without one they are refused.

    `subscriptions` is a file or folder, or a sequence of subscriptions or query texts. What is wrong with them raises
    ConfigurationError here, on the driver. XSCL among them is for `join`, which also gives `documents` and `timestamp`:
    it needs the columns `id` and `timestamp` (as `join` has them, with `lateness` and `ahead`), or an error tells which
    subscriptions these are.

    `id` and `timestamp` may be paths to where documents have their id and their time (`"//MsgId"`, `"//CreDtTm"`): the
    columns `document` and `timestamp` are written from there; a document without them is rejected. So is one that is
    not valid by a `schema`, a file of XML Schema.

    A document that cannot be read is, by `mode`: with PERMISSIVE a row of its own, whose column `rejected` (or the
    name given as `columnNameOfCorruptRecord`) has error, line, column and source while the message is null (see
    `messages` and `rejected`); left out with DROPMALFORMED; the end of the job with FAILFAST. With `rowTag` each
    element of that name is a document, and a column `row` tells where in its document it starts;
    `ignoreNamespace` compares local names only, in all queries, and `namespaces` says what their prefixes mean.

    With `reload` the file of subscriptions is looked at before each micro-batch of a stream, and a new version answers
    from then on; one that is wrong is told in the workers' log, and the old one goes on. A batch that runs again has
    the version that it had: versions are kept in `_weft/versions` beside the file, or in the folder given. The column
    `version` tells which it was. The file and this folder must be where all workers see them.

    `headers` are configurations of views, or a file of them. If the frame has a binary column named by `header` (see
    `with_headers`), a document is parsed only where its header does not tell that nobody wants it. `optimizer` is that
    of `weft.Broker`: each worker chooses by the documents that it gets.
    """
    compiled = as_compiled(subscriptions, ignoreNamespace, limits, dtd, version, headers, optimizer, namespaces)
    admit = admitting(compiled.rules, column, id, stream, timestamp, schema, limits, namespaces, ignoreNamespace)
    if rowTag is not None and (admit.rules or admit.schema is not None):
        raise ConfigurationError("rowTag: expected no paths to ids and times, and no schema, with it")
    as_mode(mode)
    single, joining = compiled.without_joins(), None
    if compiled.joins is not None:
        whole = replace(compiled, rules=())  # they are kept before
        joining = join(
            whole, column, id=admit.id, stream=stream, timestamp=admit.timestamp, lateness=lateness, ahead=ahead
        )

    again = None
    if reload is not False:
        if compiled.joins is not None:
            raise ConfigurationError(f"reload: expected no XSCL, found {compiled.joins.told}")
        how = Reloaded(Path(), Path(), ignoreNamespace, limits, dtd, headers, optimizer, dict(namespaces or {}))
        again = reloading(subscriptions, reload, how)

    def transform(frame: DataFrame) -> DataFrame:
        frame = admit(frame)
        if compiled.joins is not None:
            _check_joins(frame, compiled.joins, admit, rowTag)
        passed = [name for name in frame.columns if name != column] if keys is None else keys
        added = added_names(single, columnNameOfCorruptRecord, rowTag)
        renamed, names = without_clashes(frame, passed, added, prefix)
        work = deliver_single(
            single,
            column,
            keys=None if keys is None else [names.get(key, key) for key in keys],
            id=names.get(admit.id, admit.id) if isinstance(admit.id, str) else "",
            stream=names.get(stream, stream),
            mode=mode,
            columnNameOfCorruptRecord=columnNameOfCorruptRecord,
            rowTag=rowTag,
            header=header,
            reload=again,
        )
        made = renamed.transform(work)
        return made if joining is None else made.unionByName(frame.transform(joining), allowMissingColumns=True)

    return transform


def _check_joins(frame: DataFrame, joins: CompiledJoins, admit: Admitting, row_tag: str | None) -> None:
    """Raise ConfigurationError, with the subscriptions, where a frame does not have what XSCL needs."""
    needed = [*([admit.id] if isinstance(admit.id, str) else admit.id), admit.timestamp]
    missing = [name for name in needed if name not in frame.columns]
    if missing or row_tag is not None:
        lacking = f"no column {missing[0]!r}" if missing else "a rowTag"
        advice = "say where documents have their id and timestamp, or leave these subscriptions out"
        raise ConfigurationError(f"XSCL joins documents by id and timestamp, found {lacking}: {joins.told}; {advice}")
