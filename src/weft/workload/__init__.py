"""Random documents and queries for measuring and testing: a DTD in, a workload out."""

from weft.workload.documents import generate_documents
from weft.workload.queries import generate_queries
from weft.workload.shipped import SHIPPED, shipped
from weft.workload.values import value_text

__all__ = ["SHIPPED", "generate_documents", "generate_queries", "shipped", "value_text"]
