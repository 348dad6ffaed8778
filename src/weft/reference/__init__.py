"""Second ways to every answer, as the papers describe them: to compare and to check, never the default."""
