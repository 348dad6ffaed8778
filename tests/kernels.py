"""Other builds of the compiled stages, to be loaded instead: as Python, with sanitizers, with bounds checked."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "weft" / "kernel"
SANITIZED, CHECKED = ROOT / "build" / "sanitized", ROOT / "build" / "checked"
_FOLDER, _ENDING = "WEFT_KERNEL", "WEFT_KERNEL_ENDING"  # where a process finds the stages, and how their names end
_COMPILER = os.environ.get("CC", "gcc")
_SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g"
_OPTIONS = "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:quarantine_size_mb=32"


class KernelFinder:
    """Finds the modules of `weft.kernel` in a folder; what is not there is found as ever."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._folder, self._ending = folder, ending

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        room, _, module = name.rpartition(".")
        path = self._folder / f"{module}{self._ending}"
        return importlib.util.spec_from_file_location(name, path) if room == "weft.kernel" and path.exists() else None


def load() -> bool:
    """In a process with another build, before anything of Weft: find its stages there; whether there is one."""
    if (folder := os.environ.get(_FOLDER)) is None:
        return False
    assert "weft" not in sys.modules
    sys.meta_path.insert(0, KernelFinder(Path(folder), os.environ[_ENDING]))
    return True


def as_python() -> dict[str, str]:
    """The environment of a process in which all that is Python runs as it stands."""
    return {**os.environ, _FOLDER: str(SOURCE), _ENDING: ".py"}


def sanitized() -> dict[str, str] | None:
    """The same with AddressSanitizer and UndefinedBehaviorSanitizer; None where no compiler can build it."""
    if (library := _library("libasan.so")) is None:
        return None
    environment = _built(SANITIZED, {"CC": _COMPILER, "CFLAGS": _SANITIZE, "LDFLAGS": _SANITIZE})
    asan = {"LD_PRELOAD": library, "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": _OPTIONS}
    return {**environment, **asan, "UBSAN_OPTIONS": "print_stacktrace=1"}


def checked() -> dict[str, str]:
    """The same with the bounds of all arrays checked."""
    return _built(CHECKED, {"WEFT_CHECKED": "1"})


def _built(folder: Path, settings: dict[str, str]) -> dict[str, str]:
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "build_ext",
        "--build-lib",
        str(folder),
        "--build-temp",
        f"{folder}-made",
    ]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=True, stdout=subprocess.DEVNULL)
    ending = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return {**os.environ, _FOLDER: str(folder / "weft" / "kernel"), _ENDING: ending}


def _library(name: str) -> str | None:
    try:
        asked = subprocess.run([_COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    path = asked.stdout.strip()
    return path if Path(path).is_absolute() else None
