"""What is compiled; all else is in pyproject.toml."""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, CompileError, ExecError, PlatformError

STAGES = ("plain", "walk")


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
    ext_modules=[Extension(f"weft.kernel.{name}", [f"src/weft/kernel/{name}.c"]) for name in STAGES],
    cmdclass={"build_ext": BuildStages},
)
