"""Random documents and queries for measuring and testing: a DTD in, a workload out."""

from weft.workload.documents import generate_documents
from weft.workload.flwr import generate_flwr
from weft.workload.queries import generate_queries
from weft.workload.shipped import SHIPPED, shipped
from weft.workload.values import value_text

__all__ = ["SHIPPED", "generate_documents", "generate_flwr", "generate_queries", "shipped", "value_text"]
