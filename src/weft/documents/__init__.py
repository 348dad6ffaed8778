"""Bytes to node table and back: documents, limits, the scan, fragments, DTDs."""

from weft.documents.build import read
from weft.documents.document import Document, Limits, as_documents
from weft.documents.dtd import Dtd
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable

__all__ = ["Document", "Dtd", "Fragments", "Limits", "NodeTable", "as_documents", "read"]
