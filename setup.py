"""What is compiled; all else is in pyproject.toml. WEFT_CHECKED=1 checks the bounds of arrays: slower, for tests."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, CompileError, ExecError, PlatformError

HEADERS = ["src/weft/kernel/markup.h", "src/weft/kernel/numbers.h"]  # of C
STAGES = ("headers", "offsets", "regions", "walk")
# Python that runs as it stands, and is compiled all the same; what is beside it as .pxd tells the types.
CYTHON = (
    "arrays",
    "tables",
    "automaton",
    "subscribers",
    "classes",
    "told_classes",
    "path_steps",
    "paths",
    "plan_tables",
    "part_tables",
    "probe_tables",
    "plan_lists",
    "memo",
    "batch_columns",
    "stretches",
    "piece_writer",
    "row_heap",
    "ways",
    "values",
    "counting",
    "holding",
    "measuring",
    "text_probing",
    "probing",
    "path_labels",
    "sifting",
    "evaluator",
    "characters",
    "written_names",
    "name_paths",
    "scan_columns",
    "scan_state",
    "tag_scanner",
    "text_scanner",
    "plain_scanner",
    "scanner",
)
SHARED = "shared"  # what Cython would else put into each of them
CORES = os.cpu_count() or 1
CHECKED = os.environ.get("WEFT_CHECKED") == "1"
# No module says any of these in a first line of its own: that would count more, and nothing there would be checked.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "nonecheck": False,
}


class BuildStages(build_ext):
    """Says in one line what is missing where a stage cannot be compiled."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (CCompilerError, CompileError, ExecError, PlatformError) as error:
            raise SystemExit(
                f"weft: {ext.name} cannot be compiled ({error}): install a C compiler and Python's headers, "
                "for example gcc and python3-dev"
            ) from None


setup(
    ext_modules=[Extension(f"weft.kernel.{name}", [f"src/weft/kernel/{name}.c"], depends=HEADERS) for name in STAGES]
    + cythonize(
        [
            Extension(f"weft.kernel.{name}", [f"src/weft/kernel/{name}{ending}"], extra_compile_args=["-O3"])
            for name, ending in (*((name, ".py") for name in CYTHON), (SHARED, ".c"))
        ],
        nthreads=CORES,
        shared_utility_qualified_name=f"weft.kernel.{SHARED}",
        build_dir=f"build/cython{'-checked' if CHECKED else ''}",
        compiler_directives=DIRECTIVES,
    ),
    cmdclass={"build_ext": BuildStages},
    options={"build_ext": {"parallel": CORES}},
)
