"""What makes delivery durable, free of Spark."""
