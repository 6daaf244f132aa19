"""What a solver raises when its answer cannot be relied on."""

from __future__ import annotations


class ConvergenceError(RuntimeError):
    """A solver ended with a residual above its tolerance; nothing it returned may be used."""

    def __init__(self, what: str, residual: float, tolerance: float) -> None:
        super().__init__(f"{what} did not converge: residual {residual:.4g} exceeds the tolerance {tolerance:.4g}")
        self.residual = residual
        self.tolerance = tolerance
