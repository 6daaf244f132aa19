"""Sessions with cash and ruin: the ruin-aware optimum, what caution and memory are worth, and where an agent loses."""
