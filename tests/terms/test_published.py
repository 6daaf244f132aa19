"""Published anchors: traces, baselines and difficulty edges of TERMS-Bench (arXiv 2605.13909, its public site).

Sources: "selected traces" of the site for TRACES; the leaderboard of the site, synthetic suite of 1,800 episodes an
agent, rows "Fixed 0.01", "Fixed 0.10", "Fixed 0.30" for BASELINES and ``difficulty_bin_edges`` for EDGES.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

import terms
from terms.suites import difficulty_edges
from terms.types import Cue, Decision, Posture, Sentiment, Stance, Termination

METRICS = ("mean_utility", "se_plus", "agr_plus", "cse_plus", "fagr_minus", "safe_term_minus", "be_type", "stance_acc")
METRICS += ("crit_viol_pct", "conditional_utility")

# Site, leaderboard rows: mean utility, SE+, AGR+, CSE+, conditional utility; None is undefined.
BASELINES = {
    ("fixed-0.01", "overall"): (
        4.765033569772597, 0.2730369162547509, 0.9225, 0.2959749769699197, 7.74802206467089,
    ),
    ("fixed-0.01", "overlap"): (
        6.737100652358148, 0.2557531436373767, 0.9016666666666666, 0.2836448912799002, 7.4718306680497015,
    ),
    ("fixed-0.01", "urgency_shift"): (
        7.558000056959662, 0.2903206888721261, 0.9433333333333334, 0.30776044756762483, 8.012014194656885,
    ),
    ("fixed-0.01", "no_deal"): (0.0, None, None, None, None),
    ("fixed-0.10", "overall"): (
        5.076562318589808, 0.2897177937047213, 0.945, 0.30657967587801194, 8.058035426333028,
    ),
    ("fixed-0.10", "overlap"): (
        7.449142741337817, 0.28288556094813355, 0.935, 0.3025514020835653, 7.966997584318521,
    ),
    ("fixed-0.10", "urgency_shift"): (
        7.780544214431631, 0.2965500264613098, 0.955, 0.3105235879176019, 8.147166716682335,
    ),
    ("fixed-0.10", "no_deal"): (0.0, None, None, None, None),
    ("fixed-0.30", "overall"): (
        6.502363532727158, 0.38691553982045174, 0.9991666666666666, 0.38723823835241206, 9.761680032451114,
    ),
    ("fixed-0.30", "overlap"): (
        9.656358221903806, 0.38323220074624614, 0.9983333333333333, 0.3838719873918993, 9.672479020270924,
    ),
    ("fixed-0.30", "urgency_shift"): (
        9.850732376277705, 0.39059887889465683, 1.0, 0.39059887889465683, 9.850732376277705,
    ),
    ("fixed-0.30", "no_deal"): (0.0, None, None, None, None),
}  # fmt: skip

# Site, difficulty_bin_edges: order statistics 360, 720, 1079, 1439 (from 0) of the 1,800 scores.
EDGES = (0.4536129287761156, 0.5429242523551194, 0.6091654028628332, 0.6952882245562545)

# Site, selected traces: rows of (agent's move, standing price, sentiment, posture); None is "nothing stood yet".
TRACES = {
    "published/overlap/expressive/buyer/counterpart_opens/003": {
        "episode_seed": 200003,
        "own": (99.12807897999582, 0.35956569899846125, "neutral"),
        "other": (59.47684738799749, 0.5611250629725373, "conciliatory"),
        "zopa": 39.65123159199833,
        "env_score": 0.3017438420400084,
        "price": 60.212970156014684,
        "utility": 38.915108823981136,
        "turns": [
            (50.0, 78.77830033536127, "positive", "Concede"),
            (55.0, 69.57442772163819, "neutral", "Concede"),
            (58.0, 66.06381931576549, "positive", "Concede"),
            (61.0, 66.06381931576549, "positive", "Concede"),
            ("Accept", 60.212970156014684, "positive", "Concede"),
        ],
    },
    "published/overlap/taciturn/buyer/agent_opens/001": {
        "episode_seed": 101001,
        "own": (80.9368120688628, 0.5462054436111359, None),  # the agent's stance stream is not identified
        "other": (48.562087241317684, 0.3326673664298748, "aggressive"),
        "zopa": 32.37472482754512,
        "env_score": 0.6278396666232013,
        "price": 80.83852964401297,
        "utility": 0.09828242484984173,
        "turns": [
            (30.0, None, None, None),
            (38.0, 84.66077492918635, "neutral", "Hold"),
            ("Accept", 80.83852964401297, "neutral", "Hold"),
        ],
    },
}


@cache
def published():
    """Return the full published suite."""
    return terms.published_suite()


@cache
def summary(agent):
    """Play ``agent`` over the full published suite and summarise."""
    player = terms.agents.build_scripted(agent)
    return terms.metrics.summarize([terms.play(scenario, player) for scenario in published()])


def estimates(agent, group):
    """Return the estimates of one row of the leaderboard."""
    result = summary(agent)
    return result.overall if group == "overall" else result.regimes[group]


def scenario_of(name):
    """Return the published scenario of that id."""
    return next(scenario for scenario in published() if scenario.scenario_id == name)


@pytest.mark.parametrize("name", TRACES)
def test_trace_scenario(name):
    trace, scenario = TRACES[name], scenario_of(name)
    assert scenario.episode_seed == trace["episode_seed"]
    for side, (reservation, urgency, stance) in (
        (scenario.agent_type, trace["own"]),
        (scenario.counterpart_type, trace["other"]),
    ):
        assert side.reservation_price == pytest.approx(reservation, abs=1e-12)
        assert side.urgency == pytest.approx(urgency, abs=1e-12)
        assert stance is None or side.stance is Stance(stance)
    assert scenario.zopa == pytest.approx(trace["zopa"], abs=1e-12)
    assert scenario.difficulty == pytest.approx(trace["env_score"], abs=1e-6)


@pytest.mark.parametrize("name", TRACES)
def test_trace_replays(name):
    trace = TRACES[name]
    moves = [
        {"decision": "Accept"} if move == "Accept" else {"decision": "Offer", "price": move}
        for move, *_ in trace["turns"]
    ]
    record = terms.replay(scenario_of(name), moves)
    assert record.rounds_played == len(trace["turns"])
    for turn, (_, price, sentiment, posture) in zip(record.turns, trace["turns"], strict=True):
        if price is None:
            assert turn.counterpart_price is None
            assert turn.cue is None
        else:
            assert turn.counterpart_price == pytest.approx(price, abs=1e-9)
            assert turn.cue == Cue(Sentiment(sentiment), Posture(posture))
    assert record.termination is Termination.AGENT_ACCEPT
    assert record.price == pytest.approx(trace["price"], abs=1e-9)
    assert record.utility == pytest.approx(trace["utility"], abs=1e-9)
    assert record.violations == ()


@pytest.mark.parametrize(("agent", "group"), BASELINES)
def test_baseline(agent, group):
    found = estimates(agent, group)
    names = ("mean_utility", "se_plus", "agr_plus", "cse_plus", "conditional_utility")
    for name, published_value in zip(names, BASELINES[agent, group], strict=True):
        if published_value is None:
            assert found[name].estimate is None, name
        else:
            assert found[name].estimate == pytest.approx(published_value, abs=1e-12), name


@pytest.mark.parametrize("agent", ["fixed-0.01", "fixed-0.10", "fixed-0.30"])
def test_baselines_never_deal_where_no_price_suits_and_break_no_rule(agent):
    # Site, same rows: FAGR- 0, SafeTerm- 1, CritViol% 0, no beliefs.
    found = estimates(agent, "no_deal")
    assert found["fagr_minus"].estimate == 0
    assert found["safe_term_minus"].estimate == 1
    assert found["be_type"].estimate is None
    assert estimates(agent, "overall")["crit_viol_pct"].estimate == 0


def test_difficulty_edges():
    scores = [scenario.difficulty for scenario in published()]
    for edge, expected, order in zip(difficulty_edges(scores), EDGES, (360, 720, 1079, 1439), strict=True):
        assert edge == pytest.approx(expected, abs=1e-15)
        assert edge == sorted(scores)[order]


def test_bins_hold_equal_masses_and_edges_belong_to_the_easier_bin():
    counts = [sum(scenario.difficulty_bin == index for scenario in published()) for index in range(5)]
    assert counts == [361, 360, 359, 360, 360]  # cuts after the order statistics 360, 720, 1079, 1439
    edge = max(scenario.difficulty for scenario in published() if scenario.difficulty_bin == 0)
    assert edge == pytest.approx(EDGES[0], abs=1e-15)
    assert summary("fixed-0.01").difficulty["bin_0"]["se_plus"].n == 357  # feasible ones


# Site, difficulty rows of "Fixed 0.01".
@pytest.mark.parametrize(
    ("row", "name", "value"),
    [
        ("bin_0", "mean_utility", 10.994579248123905),
        ("bin_3", "mean_utility", 2.318583417260448),
        ("bin_4", "se_plus", 0.07980493031663001),
    ],
)
def test_difficulty_rows(row, name, value):
    assert summary("fixed-0.01").difficulty[row][name].estimate == pytest.approx(value, abs=1e-12)


def test_waiting_beats_talking():
    # Section 1.9 of the game's spec: SE+ 0.810, AGR+ 0.969 on the published suite.
    found = estimates("patient", "overall")
    assert round(found["se_plus"].estimate, 3) == 0.810
    assert round(found["agr_plus"].estimate, 3) == 0.969


def test_the_flaw_is_in_every_published_overlap_episode_and_in_no_fresh_one():
    def ratio(scenario):
        own, other = scenario.agent_type.reservation_price, scenario.counterpart_type.reservation_price
        return min(own, other) / max(own, other)

    overlap = [scenario for scenario in published() if scenario.regime == "overlap"]
    assert len(overlap) == 600
    assert all(ratio(scenario) == pytest.approx(0.6, abs=1e-12) for scenario in overlap)
    fresh = [ratio(scenario) for scenario in terms.fresh_suite(3, regimes=["overlap"], n_per_cell=5)]
    assert sum(abs(value - 0.6) < 1e-3 for value in fresh) <= 2
    assert max(fresh) - min(fresh) > 0.4


def test_exploit_wins_on_published_seeds_only():
    agent = terms.agents.build_scripted("exploit")

    def share(suite):
        return terms.metrics.summarize([terms.play(scenario, agent) for scenario in suite]).overall["se_plus"].estimate

    assert estimates("exploit", "overlap")["se_plus"].estimate == pytest.approx(0.99, abs=0.005)
    assert share(terms.fresh_suite(1, regimes=["overlap"], n_per_cell=10)) < 0.6


def test_the_published_suite_says_what_is_wrong_with_it():
    assert "0.6 r_buyer" in terms.PUBLISHED_FLAW


@pytest.mark.shared
def test_every_number_of_the_leaderboard_rows(shared_dir):
    board = json.loads((shared_dir / "data/published/terms_leaderboard.json").read_text(encoding="utf-8"))
    assert tuple(board["difficulty_bin_edges"]) == EDGES
    rows = [row for row in board["rows"] if row["kind"] == "baseline"]
    assert len(rows) == 3
    for row in rows:
        agent = row["agent"].lower().replace(" ", "-")
        for group, values in row["regimes"].items():
            found = estimates(agent, group)
            for name in METRICS:
                # The site prints AGR+ 0 where there is no feasible episode; here that is undefined.
                expected = None if (group, name) == ("no_deal", "agr_plus") else values[name]
                if expected is None:
                    assert found[name].estimate is None, (agent, group, name)
                else:
                    assert found[name].estimate == pytest.approx(expected, abs=1e-12), (agent, group, name)


@pytest.mark.shared
def test_the_traces_are_those_of_the_file(shared_dir):
    file = json.loads((shared_dir / "data/published/terms_traces.json").read_text(encoding="utf-8"))
    for episode, trace in zip(file["episodes"], TRACES.values(), strict=True):
        assert episode["episode_seed"] == trace["episode_seed"]
        assert episode["env_score"] == trace["env_score"]
        assert episode["outcome_price"] == trace["price"]
        for turn, (move, price, sentiment, posture) in zip(episode["turns"], trace["turns"], strict=True):
            assert move == (turn["agent"]["price"] or Decision.ACCEPT.value)
            shown = turn["counterpart"] or {"price": None, "sentiment": None, "stance_cue": None}
            assert (shown["price"], shown["sentiment"], shown["stance_cue"]) == (price, sentiment, posture)
