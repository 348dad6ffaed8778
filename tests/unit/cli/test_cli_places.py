"""Where a job reads and writes: folders and topics in any combination, and one line for what does not go together."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli import app
from weft.cli.places import read_links, read_places
from weft.delivery.topics import Topics
from weft.errors import ConfigurationError

FROM, TO = "kafka://one:9092/orders,refunds", "kafka://one:9092/alerts"


def test_folders_are_folders_and_topics_topics() -> None:
    folders = read_places("inbox", Path("out"), None, None, None)
    topics = read_places(FROM, Path("out"), TO, "dead", ["maxOffsetsPerTrigger=5"])

    assert (folders.documents, folders.output, folders.target) == (Path("inbox"), Path("out"), None)
    assert read_places("inbox", None, "out", None, None) == folders
    assert isinstance(topics.documents, Topics)
    assert topics.documents.names == ("orders", "refunds")
    assert topics.documents.reading_options["maxOffsetsPerTrigger"] == "5"
    assert topics.target is not None
    assert (topics.target.names, topics.dead_letters) == (("alerts",), "dead")


def test_without_an_output_it_is_named_after_the_topic_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_places(FROM, None, TO, None, None).output == Path("weft-alerts")
    assert "weft-alerts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("inbox", None, None, None, None), "expected --output DIR, or --to kafka://HOST:PORT/TOPIC"),
        (("inbox", Path("out"), "other", None, None), "--to: expected kafka://… beside --output, found 'other'"),
        (("inbox", Path("out"), FROM, None, None), "--to: expected one topic, found orders, refunds"),
        (("inbox", Path("out"), None, "dead", None), "--dead-letters: expected --to with kafka://"),
        (("inbox", Path("out"), TO, "d/d", None), "found 'd/d'"),
        (("inbox", Path("out"), None, None, ["kafka.a=b"]), "--option: expected --from or --to with kafka://"),
    ],
)
def test_what_does_not_go_together_is_told(
    given: tuple[str, Path | None, str | None, str | None, list[str] | None], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        read_places(*given)


def test_links_have_one_name() -> None:
    links = read_links("kafka://one:9092/net", ["failOnDataLoss=false"])

    assert links is not None
    assert links.names == ("net",)
    assert read_links(None, None) is None
    with pytest.raises(ConfigurationError, match="--links: expected one name, found a, b"):
        read_links("kafka://one:9092/a,b", None)
    with pytest.raises(ConfigurationError, match="--option: expected --links"):
        read_links(None, ["kafka.a=b"])


def test_the_command_tells_it_in_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "--subscriptions", str(tmp_path), "--from", "kafka://one/a", "--to", TO])

    assert done.exit_code == 2
    assert done.output == "weft: kafka://one/a: expected HOST:PORT, found 'one'\n"
