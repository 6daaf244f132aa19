"""Compiled loops of the oracle: the only place that knows numba. One module per independent group of kernels."""
