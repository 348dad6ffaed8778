"""Whether views answer a query, and by which compensation."""

from weft.views.answering.apply import apply
from weft.views.answering.find import find_rewriting
from weft.views.answering.index import ViewIndex
from weft.views.answering.rewriting import Compensation, Rewriting, StoredView

__all__ = ["Compensation", "Rewriting", "StoredView", "ViewIndex", "apply", "find_rewriting"]
