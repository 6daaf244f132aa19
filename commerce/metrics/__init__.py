"""Metrics of one year (specification, section 4.5). Where the published code errs, the formula here is right.

The published ship-speed channel of returns is zero by construction because the speed factor is in every layer; here the
layers are natural ``r0``, defect ``r1 - r0``, price ``r2 - r1`` and speed ``r3 - r2``.
"""

from commerce.metrics.bargaining import two_sided_p
from commerce.metrics.measure import Measure
from commerce.metrics.operations import tool_mix
from commerce.metrics.statement import statement
from commerce.metrics.statement_rows import STATEMENT, Statement
from commerce.metrics.year_metrics import year_metrics

__all__ = ["STATEMENT", "Measure", "Statement", "statement", "tool_mix", "two_sided_p", "year_metrics"]
