"""What examples/make_inbox.py writes: a module and its pool for each kind of document."""
