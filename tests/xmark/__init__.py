"""XMark: its twenty queries, as published, and small documents with the structure of its auction sites."""
