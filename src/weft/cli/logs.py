"""What is logged in, lines on standard error out: for people, or as JSON for machines."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

LogFormat = Literal["text", "json"]
#: What a command tells of its own work: shown unless somebody says otherwise, as it stands.
TOLD = "weft.told"
_STANDARD = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}


class Lines(logging.Handler):
    """A line for each record, on what is standard error just then."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; whoever reads it may be gone."""
        try:
            print(self.format(record), file=sys.stderr, flush=True)  # typer.echo would write past a progress bar
        except Exception:
            self.handleError(record)


class TextLine(logging.Formatter):
    """What a command tells as it stands, all else with its level and where it comes from."""

    def format(self, record: logging.LogRecord) -> str:
        """One record."""
        text = super().format(record)
        return text if record.name == TOLD else f"{record.levelname.lower()} {record.name}: {text}"


class JsonLine(logging.Formatter):
    """One object a line: time, level, logger, message, and whatever else the record has."""

    def format(self, record: logging.LogRecord) -> str:
        """One record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"time": moment, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        told |= {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def set_up_logging(verbose: bool, form: LogFormat) -> None:
    """Send what `weft` logs to standard error: warnings, and with `verbose` all; what commands tell in any case."""
    root = logging.getLogger("weft")
    for handler in [each for each in root.handlers if isinstance(each, Lines)]:
        root.removeHandler(handler)  # of an earlier command in this process
    lines = Lines()
    lines.setFormatter(JsonLine() if form == "json" else TextLine())
    root.addHandler(lines)
    root.setLevel(logging.DEBUG if verbose else logging.WARNING)
    root.propagate = False
    logging.getLogger(TOLD).setLevel(logging.INFO)


def tell(text: str, **more: object) -> None:
    """Tell people, or machines, what a command does; `more` are fields of the JSON."""
    if logging.getLogger("weft").handlers:
        logging.getLogger(TOLD).info("%s", text, extra=more)
    else:  # what is wrong with the settings themselves
        print(text, file=sys.stderr, flush=True)
