"""A folder of jars in, a Kafka broker on loopback out (KRaft: no ZooKeeper), as long as standard input is open.

    python tools/kafka/broker.py .cache/kafka [PORT]

It writes its address as one line when it answers. `stop` and `start`, one a line on standard input, take it away and
bring it back where it was; the end of standard input ends it, so that it never outlives who started it.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

_PATIENCE = 120  # seconds until it answers
_SMALL = ("-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={logs}
num.partitions=2
auto.create.topics.enable=false
message.max.bytes=33554432
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
"""


class Broker:
    """One broker with its own folder; ended by its process's id."""

    def __init__(self, jars: Path, folder: Path, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self._classes, self._folder = f"{jars.absolute()}/broker/*", folder
        self._settings = folder / "server.properties"
        self._settings.write_text(_SETTINGS.format(port=port, control=free_port(), logs=folder / "logs"))
        self._java("kafka.tools.StorageTool", "format", "-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c").wait()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """It answers when this returns."""
        self._process = self._java("kafka.Kafka")
        host, _, port = self.address.partition(":")
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise RuntimeError(f"the broker did not start: see {self._folder / 'log'}") from None
                time.sleep(0.05)

    def stop(self) -> None:
        """It is gone, as in a power failure; what it has written stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _java(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = ["java", *_SMALL, "-cp", self._classes, *arguments, str(self._settings)]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        number: int = opened.getsockname()[1]
        return number


def main() -> None:
    """Run until standard input ends."""
    jars = Path(sys.argv[1])
    with TemporaryDirectory(prefix="weft-kafka-", ignore_cleanup_errors=True) as folder:
        broker = Broker(jars, Path(folder), int(sys.argv[2]) if len(sys.argv) > 2 else free_port())
        try:
            broker.start()
            print(broker.address, flush=True)
            for line in sys.stdin:
                if line.strip() in ("stop", "start"):
                    (broker.stop if line.strip() == "stop" else broker.start)()
                    print(line.strip(), flush=True)
        except KeyboardInterrupt:
            pass
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
