"""Statistics over plain arrays."""
