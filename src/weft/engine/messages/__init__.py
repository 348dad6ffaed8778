"""What holds for a batch to messages."""
