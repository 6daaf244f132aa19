r"""What chance brought a year in money: demand and returns beside what they were expected to be.

A day's sale of a SKU with expected demand ``R`` and ``k`` units on the shelf is :math:`\min(q, k)` with
:math:`q = \lfloor R \rfloor + 1\{u < frac(R)\}`, so before ``u`` is drawn

.. math:: E[\min(q, k)] = (1 - frac(R)) \min(\lfloor R \rfloor, k) + frac(R) \min(\lfloor R \rfloor + 1, k);

of an order of ``n`` units that is shipped at return rate ``\rho``, :math:`n \rho` are expected back. Each difference of
realised and expected units is multiplied by a value ``v`` of a unit that is known before its draw. Whatever ``v`` is,
the sum over the year is then a martingale: it has mean zero for every merchant that does not know the draws, and final
assets less this windfall have the mean of the final assets. A good ``v`` makes them vary less. For a sale it is a
share of the price less commission of what is expected to stay sold, less freight: the goods are paid for by then, but
what is sold by chance today is in part missing tomorrow. For a return it is the price less commission and less the
average cost of the goods, which come back; it is taken away.
"""

from __future__ import annotations

import numpy as np

from commerce.types import FloatArray, IntArray

_SHARE = 0.6
"""Part of a sale's worth that is not made up for later; any share leaves the mean as it is."""


def expected_sales(demand: FloatArray, there: IntArray) -> FloatArray:
    """Return the expected units sold of each SKU, of which ``there`` units can be sold."""
    whole = np.floor(demand)
    chance = demand - whole
    return np.asarray((1 - chance) * np.minimum(whole, there) + chance * np.minimum(whole + 1, there))


def windfall_fen(realised: IntArray, expected: FloatArray, value_fen: FloatArray) -> float:
    """Return the value of the units beyond those expected."""
    return float(((realised - expected) * value_fen).sum())


def sale_value(income_fen: FloatArray, return_rate: FloatArray, freight_fen: IntArray) -> FloatArray:
    """Return what the sale of one more unit is worth, by its price less commission."""
    return np.asarray(_SHARE * ((1 - return_rate) * income_fen - freight_fen))
