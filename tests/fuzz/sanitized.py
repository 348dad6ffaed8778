"""The compiled modules with AddressSanitizer and UndefinedBehaviorSanitizer, built and loaded instead of the others."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from fuzz.case import ROOT

FOLDER = ROOT / "build" / "asan"
_COMPILER = os.environ.get("CC", "gcc")
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
_FLAGS = (*_SANITIZE, "-g", "-O1", "-shared", "-fPIC")


def build() -> dict[str, str] | None:
    """The environment that a process with them needs; None where there is no compiler that can build them."""
    library = _library("libasan.so")
    if library is None:
        return None
    for source in sorted((ROOT / "src").glob("weft/**/*.c")):
        built = FOLDER / source.relative_to(ROOT / "src").with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
        built.parent.mkdir(parents=True, exist_ok=True)
        include = f"-I{sysconfig.get_paths()['include']}"
        subprocess.run([_COMPILER, *_FLAGS, include, str(source), "-o", str(built)], check=True)
    options = "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:quarantine_size_mb=32"
    return {
        **os.environ,
        "LD_PRELOAD": library,
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "WEFT_SANITIZED": str(FOLDER),
    }


def load() -> int:
    """Load them in a process of that environment, before anything of Weft; how many there are."""
    folder = os.environ.get("WEFT_SANITIZED")
    paths = sorted(Path(folder).glob("weft/**/*.so")) if folder else []
    for path in paths:
        name = ".".join(path.relative_to(FOLDER).with_name(path.name.split(".")[0]).parts)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return len(paths)


def _library(name: str) -> str | None:
    try:
        asked = subprocess.run([_COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    path = asked.stdout.strip()
    return path if Path(path).is_absolute() else None
