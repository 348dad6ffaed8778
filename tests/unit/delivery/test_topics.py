"""Addresses of topics and Spark's options for them are read strictly, and a server that is away is told at once."""

import socket

import pytest

from weft.delivery.topics import LARGEST, check_answers, is_kafka, read_options, read_topics
from weft.errors import ConfigurationError


def test_an_address_names_servers_and_topics() -> None:
    topics = read_topics("kafka://one:9092,[::1]:9093/orders,re-funds_2.x,orders", {"maxOffsetsPerTrigger": "5"})

    assert (topics.servers, topics.names) == ("one:9092,[::1]:9093", ("orders", "re-funds_2.x"))
    assert str(topics) == "kafka://one:9092,[::1]:9093/orders,re-funds_2.x"
    assert topics.client_options == {"kafka.bootstrap.servers": "one:9092,[::1]:9093"}
    assert topics.reading_options["subscribe"] == "orders,re-funds_2.x"
    assert (topics.reading_options["startingOffsets"], topics.largest) == ("earliest", LARGEST)


def test_options_go_where_they_belong_and_secrets_are_not_shown() -> None:
    given = ["startingOffsets=latest", "kafka.sasl.jaas.config=user password='a=b';", "kafka.max.request.size=5000"]

    topics = read_topics("kafka://one:9092/a", read_options(given))

    assert topics.largest == 5000
    assert topics.reading_options["startingOffsets"] == "latest"
    assert topics.client_options["kafka.sasl.jaas.config"] == "user password='a=b';"
    assert "startingOffsets" not in topics.client_options
    assert "password" not in f"{topics} {topics!r}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kafka://one/a", "expected HOST:PORT, found 'one'"),
        ("kafka://one:9092", "expected kafka://HOST:PORT/TOPIC, found"),
        ("kafka://one:9092/a/b", "expected kafka://HOST:PORT/TOPIC, found"),
        ("kafka://one:9092/a b", "expected kafka://HOST:PORT/TOPIC, found"),
        ("kafka://one:9092/ä", "found 'ä'"),
        ("kafka://one:9092/..", r"found '\.\.'"),
        ("kafka://one:9092/a,,b", "found ''"),
        (f"kafka://one:9092/{'a' * 250}", "a topic of at most 249 letters"),
    ],
)
def test_what_is_no_address_is_refused_with_what_was_expected(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        read_topics(text)


@pytest.mark.parametrize("entry", ["startingOffset=latest", "max=1", "kafka.max.request.size=1MB", "startingOffsets"])
def test_an_option_that_spark_would_pass_over_is_refused(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="option"):
        read_options([entry])


def test_a_folder_is_no_topic() -> None:
    assert is_kafka("kafka://one:1/a")
    assert not is_kafka("kafka/orders")


def test_one_server_that_answers_is_enough_and_none_is_told_in_one_line() -> None:
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as opened:
        closed.bind(("127.0.0.1", 0))  # nobody listens there
        away, there = (f"127.0.0.1:{each.getsockname()[1]}" for each in (closed, opened))

        check_answers(read_topics(f"kafka://{away},{there}/a"))
        with pytest.raises(ConfigurationError, match=rf"kafka://{away}/a: no server of Kafka answers \({away}: .+\)$"):
            check_answers(read_topics(f"kafka://{away}/a"))
