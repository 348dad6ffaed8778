"""When documents are joined, when windows close, and when documents go."""
