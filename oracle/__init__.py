"""The answers: posterior, dynamic programs, bounds and the decomposition of an agent's loss."""
