"""What servers reported in, a file out, and back: so that views can be chosen again somewhere else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.headers.selection.feedback import Feedback


def write_feedback(feedback: Feedback, path: str | Path, now: float) -> None:
    """Write what was reported until now, as JSON."""
    write_atomically(Path(path), json.dumps(feedback.as_json(now), ensure_ascii=False) + "\n")


def read_feedback(paths: Iterable[str | Path]) -> tuple[Feedback, float]:
    """The reports of several files together, and when the latest was written."""
    found, latest = Feedback(), 0.0
    for path in map(Path, paths):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            found.merge(Feedback.from_json(record))
            latest = max(latest, float(record["now"]))
        except OSError as error:
            raise ConfigurationError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(
                f"{path}: expected what servers reported of headers, found something else"
            ) from None
    return found, latest
