"""A network of servers: documents enter at sources and reach every subscription that wants them, with their headers."""
