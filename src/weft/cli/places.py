"""The options that say where documents are and where messages go: folders or topics in, checked places out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.delivery.topics import KAFKA, Topics, checked_topic, is_kafka, read_options, read_topics
from weft.errors import ConfigurationError

From = Annotated[
    str,
    typer.Option(
        "--documents",
        "--from",
        metavar="PATH|kafka://HOST:PORT/TOPIC",
        help="A folder of *.xml, *.gz, *.zip and *.tar at any depth, or one file; or topics of Kafka.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where DIR/messages and DIR/rejected are written, and Spark's log."),
]
To = Annotated[
    str | None,
    typer.Option(metavar="DIR|kafka://HOST:PORT/TOPIC", help="The same; or the topic that messages are sent to."),
]
DeadLetters = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="With --to kafka://…: where rejected documents go; else TOPIC.rejected."),
]
KafkaOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="An option of Spark's for Kafka: startingOffsets, kafka.…. Repeatable."
    ),
]
Jars = Annotated[
    str | None,
    typer.Option(metavar="FILES", help="Jars for Spark, with commas: its connector for Kafka is not fetched then."),
]
ViewsOfRecords = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Configurations of views: records with their headers are parsed only if needed."),
]

LinkPlace = Annotated[
    str | None,
    typer.Option(metavar="kafka://HOST:PORT/NAME", help="Each link is a topic NAME.FROM.TO; else a folder in DIR."),
]


@dataclass(frozen=True, slots=True)
class JobPlaces:
    """Where a job reads and writes."""

    documents: Path | Topics
    output: Path  # of messages, or beside the target: how far a stream is, Spark's log
    target: Topics | None
    dead_letters: str | None


def read_places(
    documents: str, output: Path | None, to: str | None, dead_letters: str | None, options: list[str] | None
) -> JobPlaces:
    """What the options say, together."""
    given = read_options(options or ())
    source = read_topics(documents, given) if is_kafka(documents) else Path(documents)
    target = _target(to, given) if to is not None and is_kafka(to) else None
    if to is not None and target is None:
        if output is not None and output != Path(to):
            raise ConfigurationError(f"--to: expected {KAFKA}… beside --output, found {to!r}")
        output = Path(to)
    if options and target is None and not isinstance(source, Topics):
        raise ConfigurationError(f"--option: expected --from or --to with {KAFKA}…")
    if dead_letters is not None:
        if target is None:
            raise ConfigurationError(f"--dead-letters: expected --to with {KAFKA}…; in a folder they are in rejected/")
        checked_topic(dead_letters)
    if output is None:
        if target is None:
            raise ConfigurationError(f"expected --output DIR, or --to {KAFKA}HOST:PORT/TOPIC")
        output = Path(f"weft-{target.names[0]}")
        typer.echo(f"weft: how far it is, and Spark's log, are in {output}", err=True)
    return JobPlaces(source, output, target, dead_letters)


def _target(text: str, options: dict[str, str]) -> Topics:
    target = read_topics(text, options)
    if len(target.names) != 1:
        raise ConfigurationError(f"--to: expected one topic, found {', '.join(target.names)}")
    return target


def read_links(links: str | None, options: list[str] | None) -> Topics | None:
    """The topics of a network's links, if they are no folders."""
    if links is None:
        if options:
            raise ConfigurationError(f"--option: expected --links {KAFKA}…")
        return None
    found = read_topics(links, read_options(options or ()))
    if len(found.names) != 1:
        raise ConfigurationError(f"--links: expected one name, found {', '.join(found.names)}")
    return found
