"""Every constant of the game, validated once at the border.

Sources: TERMS-Bench (arXiv 2605.13909), eqs. 5-9 and Tables 3-6. Tuples indexed by stance are ordered
(conciliatory, neutral, aggressive). Prices are in units of the episode; ``R = p_max - p_min``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from terms.hints import did_you_mean
from terms.types import Channel, Family, Regime

ByStance = tuple[float, float, float]
Probability = Annotated[float, Field(ge=0, le=1)]


#: Beyond it floats no longer hold a cent, and squares of prices soon overflow.
PRICE_LIMIT = 1e12


class Frozen(BaseModel):
    """Immutable settings that refuse unknown keys and non-finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        """Name the closest setting when a key is unknown; the library's own message does not."""
        for key in data if isinstance(data, Mapping) else ():
            if key not in cls.model_fields:
                hint = did_you_mean(key, cls.model_fields)
                raise ValueError(f"unknown key {str(key)!r}, allowed are {', '.join(cls.model_fields)}{hint}")
        return data


class Uniform(Frozen):
    """Bounds of a uniform law; ``low == high`` is a constant."""

    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low={self.low} exceeds high={self.high}; low must not exceed high")
        return self


class Beta(Frozen):
    """Shape parameters of a Beta law on [0, 1]."""

    a: float = Field(gt=0)
    b: float = Field(gt=0)


def _require_sum_of_one(field: str, probs: ByStance) -> None:
    if abs(sum(probs) - 1.0) > 1e-9:
        raise ValueError(f"{field}={probs} sums to {sum(probs)}; it must sum to 1")


class FamilyConfig(Frozen):
    """What sets one counterpart family apart (Tables 3-4)."""

    rho: ByStance
    xi: ByStance
    lambda2: ByStance
    noise_share: float = Field(ge=0, description="price noise sigma_p as a share of R")
    channel: Channel
    stance_prior: tuple[Probability, Probability, Probability] = (0.3, 0.4, 0.3)

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        _require_sum_of_one("stance_prior", self.stance_prior)
        return self


class AcceptanceConfig(Frozen):
    """Acceptance logit ``g = alpha D + beta kappa - gamma (1 - sqrt(k/K)) + rho Speed + xi Rigidity`` (eqs. 5-6)."""

    alpha: float = 6.0
    beta: float = 1.0
    gamma: float = 2.0


class WalkConfig(Frozen):
    """Walk-away hazard ``sigmoid(phi_0 + phi_Delta max(0, -D) + phi_T tau)`` from round ``ceil(K * grace)`` (eq. 7)."""

    phi_0: float = -4.5
    phi_delta: float = 30.0
    phi_t: float = 1.5
    grace: Probability = 0.5


class ConcessionConfig(Frozen):
    """Concession rate ``lambda`` (eq. 8) and the history features that move it."""

    lambda_0: float = 0.12
    lambda_1: float = 0.28
    lambda_3: float = 0.10
    lambda_4: float = 0.10
    rigidity_threshold: float = Field(0.10, ge=0)
    window: int = Field(3, ge=1, description="how many of the agent's latest price differences count")


class OpeningConfig(Frozen):
    """The counterpart's first price: ``r_B +- d0 phi S + eps0`` with ``phi`` clipped."""

    harshness: Uniform = Uniform(low=0.20, high=0.80)
    urgency_weight: float = 0.30
    stance_weight: float = 0.15
    phi_bounds: Uniform = Uniform(low=0.5, high=1.5)
    noise_share: float = Field(0.02, ge=0, description="standard deviation of eps0 as a share of R")


class CueConfig(Frozen):
    """Posture logits and the sentiment score, per channel."""

    posture_bias: tuple[ByStance, ByStance, ByStance] = ((1.0, 0.0, -1.0), (0.0, 0.5, 0.0), (-1.0, 0.0, 1.0))
    concede_slope: float = 2.0
    concede_reference: float = 0.10
    pressure_slope: float = 2.0
    pressure_reference: float = 0.80
    sentiment_mean: ByStance = (1.0, 0.0, -1.0)
    sentiment_sd: float = Field(0.75, ge=0)
    sentiment_threshold: float = Field(0.5, ge=0)
    noisy_sd: float = Field(2.0, ge=0)
    noisy_temperature: float = Field(2.5, gt=0)


class PriorConfig(Frozen):
    """Laws of the hidden and private quantities, shares of R where they are prices (section 1.1)."""

    zopa_share: Uniform = Uniform(low=0.10, high=0.40)
    midpoint_share: Uniform = Uniform(low=0.20, high=0.80)
    gap_share: Uniform = Uniform(low=0.05, high=0.30)
    urgency: Beta = Beta(a=2, b=2)
    urgency_shift: Beta = Beta(a=4, b=2)
    urgency_shift_reverse: Beta = Beta(a=2, b=4)
    agent_urgency: Beta = Beta(a=2, b=2)
    agent_stance: tuple[Probability, Probability, Probability] = (0.3, 0.4, 0.3)

    def counterpart_urgency(self, regime: Regime) -> Beta:
        """Urgency law of the counterpart in ``regime``."""
        if regime is Regime.URGENCY_SHIFT:
            return self.urgency_shift
        if regime is Regime.URGENCY_SHIFT_REVERSE:
            return self.urgency_shift_reverse
        return self.urgency

    @model_validator(mode="after")
    def _inside_bounds(self) -> Self:
        half = self.zopa_share.high / 2
        if self.midpoint_share.low < half or self.midpoint_share.high > 1 - half:
            raise ValueError(
                f"midpoint_share [{self.midpoint_share.low}, {self.midpoint_share.high}] with zopa_share.high="
                f"{self.zopa_share.high} puts a reservation outside the bounds; allowed is [{half}, {1 - half}]"
            )
        if not 0 <= self.gap_share.low <= self.gap_share.high < 1 or self.zopa_share.low < 0:
            raise ValueError(
                f"gap_share [{self.gap_share.low}, {self.gap_share.high}] must lie in [0, 1) and "
                f"zopa_share.low={self.zopa_share.low} must not be negative"
            )
        _require_sum_of_one("agent_stance", self.agent_stance)
        return self


def _families() -> dict[Family, FamilyConfig]:
    instrumental = {
        "rho": (0.0, -0.25, -0.75),
        "xi": (0.40, 0.0, -0.50),
        "lambda2": (0.30, 0.50, 1.00),
        "noise_share": 0.01,
    }
    reactive = {
        "rho": (0.0, -0.75, -1.50),
        "xi": (0.40, 0.0, -0.75),
        "lambda2": (0.45, 0.90, 1.80),
        "noise_share": 0.03,
    }
    moderate = {
        "rho": (0.0, -0.50, -1.10),
        "xi": (0.35, 0.0, -0.60),
        "lambda2": (0.35, 0.70, 1.40),
        "noise_share": 0.08,
    }
    hardball = {
        "rho": (-0.25, -1.25, -2.25),
        "xi": (0.0, -0.50, -1.20),
        "lambda2": (0.60, 1.40, 2.60),
        "noise_share": 0.01,
    }
    return {
        Family.CANDID: FamilyConfig.model_validate({**instrumental, "channel": Channel.INFORMATIVE}),
        Family.TACITURN: FamilyConfig.model_validate({**instrumental, "channel": Channel.COLLAPSED}),
        Family.EXPRESSIVE: FamilyConfig.model_validate({**reactive, "channel": Channel.INFORMATIVE}),
        Family.STRATEGIC: FamilyConfig.model_validate({**reactive, "channel": Channel.COLLAPSED}),
        Family.STOCHASTIC: FamilyConfig.model_validate({**moderate, "channel": Channel.NOISY}),
        Family.ADVERSARIAL: FamilyConfig.model_validate(
            {**hardball, "channel": Channel.PRESSURING, "stance_prior": (0.05, 0.15, 0.80)}
        ),
    }


class GameConfig(Frozen):
    """The whole game. Defaults are the benchmark as released; every key reaches some output."""

    horizon: int = Field(10, ge=1, description="K, rounds of an episode")
    price_min: float = Field(0.0, ge=-PRICE_LIMIT, le=PRICE_LIMIT)
    price_max: float = Field(100.0, ge=-PRICE_LIMIT, le=PRICE_LIMIT)
    final_offer_answered: bool = Field(
        False,
        description="whether the agent's offer in round K is answered; the released runs say no, the paper says yes",
    )
    show_cues: bool = Field(True, description="whether the agent sees sentiment and posture")
    show_messages: bool = Field(True, description="whether the agent sees the counterpart's words")
    history_window: int = Field(6, ge=0, description="past rounds shown in an observation")
    acceptance: AcceptanceConfig = AcceptanceConfig()
    walk: WalkConfig = WalkConfig()
    concession: ConcessionConfig = ConcessionConfig()
    opening: OpeningConfig = OpeningConfig()
    cues: CueConfig = CueConfig()
    prior: PriorConfig = PriorConfig()
    families: dict[Family, FamilyConfig] = Field(default_factory=_families)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.price_min >= self.price_max:
            raise ValueError(f"price_min={self.price_min} must be below price_max={self.price_max}")
        missing = [family.value for family in Family if family not in self.families]
        if missing:
            raise ValueError(f"families lacks {missing}; every family needs an entry")
        return self
