"""The query server: sources of XML, materialized views of them, and answers from either."""
