"""Sources: what holds the XML, how fast it answers, and whether it has changed."""
