"""Commerce mode: what negotiations came to in money."""
