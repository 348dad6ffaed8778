"""`weft` as a process of its own: arguments in, exit code and output out; and what the broker would deliver."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft import Broker, Document

Row = tuple[str, str, int, str]  # document, subscription, position, message
_PROGRESS = re.compile(r"^weft: (?:compiling|starting Spark|Spark \S+ is there|streaming).*\n", re.MULTILINE)
_PATIENCE = 300  # seconds; a machine may be busy


def weft(*arguments: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(_command(*arguments), capture_output=True, text=True, timeout=_PATIENCE, check=False, env=env)


def start_weft(*arguments: object, stderr: Path, stdout: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, which all that it starts belongs to."""
    with stderr.open("wb") as errors, (stdout or Path(os.devnull)).open("wb") as output:
        return subprocess.Popen(_command(*arguments), stdout=output, stderr=errors, start_new_session=True)


def without_progress(stderr: str) -> str:
    """What a run says beside what it does just then: nothing, if all goes well."""
    return _PROGRESS.sub("", stderr)


def _command(*arguments: object) -> list[str]:
    program = Path(sys.executable).with_name("weft")  # by its path: the tests may empty PATH
    return [sys.executable, str(program), *map(str, arguments)]


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """End a command, Spark's JVM and all workers at once, as a power failure would.

    By session, not by process group: Spark's daemon of workers makes a group of its own.
    """
    while running := list(alive(process.pid)):
        for number in running:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
    process.wait()


def peak_memory(session: int) -> dict[str, int]:
    """For each process of a session, by its number and command, the most bytes that it ever had in memory."""
    peaks = {}
    for number in alive(session):
        try:
            status = Path(f"/proc/{number}/status").read_text()
            command = Path(f"/proc/{number}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            peaks[f"{number} {' '.join([Path(command[0]).name, *command[1:4]])}"] = int(found[1]) * 1024
    return peaks


def alive(session: int) -> Iterator[int]:
    """The processes of a session."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_session) == session and state not in "ZX":
            yield int(folder.name)


def embedded(queries: Mapping[str, str], documents: Mapping[str, bytes]) -> list[Row]:
    """What the broker delivers in one process."""
    broker = Broker()
    for name, query in queries.items():
        broker.subscribe(query, id=name)
    return sorted(
        (message.document, message.subscription, position, text)
        for message in broker.publish([Document(data, name) for name, data in documents.items()])
        for position, text in enumerate(message.nodes, start=1)
    )
