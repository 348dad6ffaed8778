"""Documents in, what Weft's scan and a bare expat take for them out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median
from xml.parsers import expat

from bench.measure import timed
from weft import Document
from weft.documents.build import read


@dataclass(frozen=True, slots=True)
class ScanTiming:
    """Microseconds a document, medians of slices that both took in turn."""

    document_bytes: float
    weft_us: float
    expat_us: float

    @property
    def mb_per_second(self) -> float:
        """How many MB a second the scan reads."""
        return self.document_bytes / self.weft_us

    @property
    def vs_expat(self) -> float:
        """How many times as fast as expat the scan is."""
        return self.expat_us / self.weft_us


def measure_scan(warm_up: list[bytes], slices: list[list[bytes]]) -> ScanTiming:
    """Time both on every slice; a slice is a batch of the scan."""
    read(as_batch(warm_up))
    weft, bare = [], []
    for documents in slices:
        weft.append(scan_seconds(documents) / len(documents))
        bare.append(timed(parse_bare, documents)[0] / len(documents))
    size = mean(len(document) for documents in slices for document in documents)
    return ScanTiming(size, 1e6 * median(weft), 1e6 * median(bare))


def scan_seconds(documents: list[bytes]) -> float:
    """The processor time of the scan alone: from bytes to the columns of all nodes."""
    return timed(read, as_batch(documents))[0]


def as_batch(documents: list[bytes]) -> list[Document]:
    """The documents as the scan takes them."""
    return [Document(data, "", "") for data in documents]


def parse_bare(documents: list[bytes]) -> None:
    """expat without handlers, so that nothing comes back but that they are well-formed."""
    for document in documents:
        expat.ParserCreate().Parse(document, True)
