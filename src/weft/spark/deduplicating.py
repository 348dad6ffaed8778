"""Records of messages in, each message once out: exactly-once of at-least-once, for `DataFrame.transform`."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql.functions import coalesce, col, concat_ws, filter, lit, try_element_at

from weft.documents.moment import SECOND, Span, span
from weft.errors import ConfigurationError
from weft.spark.record_headers import RECORD_HEADERS
from weft.spark.records import MESSAGE_ID

DAY = 86_400
_ID = "_weft_message_id"


def deduplicate(
    within: Span = DAY, *, headers: str = "headers", timestamp: str = "timestamp"
) -> Callable[[DataFrame], DataFrame]:
    """Keep of several records with one `weft-message-id` the first: `frame.transform(deduplicate())`.

    The frame is Kafka's, read with `includeHeaders`. A record without this header is told from others by its topic,
    partition and offset. In a stream ids are remembered until the records are `within` seconds (or a `timedelta`)
    further by their `timestamp`: a run that was killed sends a batch again when it is started again, so this is how
    long it may be down.
    """
    seconds = span(within, "within") // SECOND

    def transform(frame: DataFrame) -> DataFrame:
        for name in (headers, "topic", "partition", "offset"):
            if name not in frame.columns:
                advice = "read Kafka with .option('includeHeaders', 'true')"
                raise ConfigurationError(f"expected a column {name!r}, found {', '.join(frame.columns)}; {advice}")
        own = filter(col(headers).cast(RECORD_HEADERS), lambda each: each["key"] == lit(MESSAGE_ID))
        place = concat_ws("/", "topic", "partition", "offset")
        known = frame.withColumn(_ID, coalesce(try_element_at(own, lit(-1))["value"].cast("string"), place))
        if not frame.isStreaming:
            return known.dropDuplicates([_ID]).drop(_ID)
        late = known.withWatermark(timestamp, f"{seconds} seconds")
        return late.dropDuplicatesWithinWatermark([_ID]).drop(_ID)

    return transform
