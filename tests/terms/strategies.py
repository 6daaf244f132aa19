"""Hypothesis strategies: any legal scenario, and any finite list of moves."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from terms import Accept, GameConfig, Offer, Reject
from terms.types import Family, Opener, Role, Stance
from tests.terms.builders import make_scenario, seeded_noise

shares = st.floats(0, 1)


@st.composite
def scenarios(draw, config=None):
    """Any episode on the bounds of ``config``, feasible or not, with any family, stance, noise, role and opener."""
    base = config or GameConfig()
    settings = base.model_copy(
        update={"horizon": draw(st.integers(1, 12)), "final_offer_answered": draw(st.booleans())}
    )
    width = settings.price_max - settings.price_min
    noise = seeded_noise(draw(st.integers(0, 10_000)), settings.horizon)
    if draw(st.booleans()):  # hostile noise: many standard deviations, and draws at the ends of the unit interval
        factor = draw(st.floats(0, 40))
        noise = noise._replace(
            opening_noise=noise.opening_noise * factor,
            responses=tuple(answer._replace(price=answer.price * factor) for answer in noise.responses),
        )
    return make_scenario(
        own=settings.price_min + width * draw(shares),
        other=settings.price_min + width * draw(shares),
        role=draw(st.sampled_from(Role)),
        opener=draw(st.sampled_from(Opener)),
        family=draw(st.sampled_from(Family)),
        stance=draw(st.sampled_from(Stance)),
        urgencies=(draw(shares), draw(shares)),
        harshness=draw(shares),
        noise=noise,
        config=settings,
    )


def feasible(scenario):
    """Swap the reservations where no price suits both sides."""
    if scenario.zopa > 0:
        return scenario
    return replace(
        scenario,
        agent_type=replace(scenario.agent_type, reservation_price=scenario.counterpart_type.reservation_price),
        counterpart_type=replace(scenario.counterpart_type, reservation_price=scenario.agent_type.reservation_price),
    )


moves = st.lists(
    st.one_of(st.floats(-60, 110).map(Offer), st.just(Accept()), st.just(Reject())), max_size=12
)  # offers past the bounds included
offers = st.lists(st.floats(-50, 50).map(Offer), max_size=12)
