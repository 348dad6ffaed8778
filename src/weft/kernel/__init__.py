"""The compiled stages: the scan of documents, label paths, headers, and regions. `pip install` builds them."""

from importlib.machinery import EXTENSION_SUFFIXES

try:
    from weft.kernel.headers import fold, fold_all, known_values, unfold
    from weft.kernel.offsets import find_attribute, find_text, place_nodes, plain_values
    from weft.kernel.regions import cut
    from weft.kernel.scanner import Scanner
    from weft.kernel.walk import follow, follow_paths
except ImportError as error:
    raise ImportError(
        f"Weft's compiled core is missing ({error}): install Weft again with a C compiler (gcc or clang) on the machine"
    ) from error

#: What the stages are compiled for, as `weft --version` tells it.
BUILT_FOR = EXTENSION_SUFFIXES[0].strip(".").rpartition(".")[0]

__all__ = [
    "BUILT_FOR",
    "Scanner",
    "cut",
    "find_attribute",
    "find_text",
    "fold",
    "fold_all",
    "follow",
    "follow_paths",
    "known_values",
    "place_nodes",
    "plain_values",
    "unfold",
]
