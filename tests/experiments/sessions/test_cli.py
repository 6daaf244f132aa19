"""The commands about money, scripted and with language models against the fault server."""

from __future__ import annotations

import json

import pytest

from experiments.engine.folder import RunError
from experiments.engine.run import load_run
from experiments.episodes.folder import SUMMARY, run_money
from experiments.episodes.money_metrics import MONEY_METRICS
from experiments.episodes.suite_task import EPISODES
from experiments.fault_server import FaultPlan, FaultServer
from experiments.llm import pacing
from experiments.llm.calls import MODEL_CALLS, read_calls
from experiments.llm.client import ChatClient
from experiments.sessions.session_task import SESSIONS
from terms.metrics import METRICS

VERIFIED = "verified: every line of the log played again, every number and every file derived again\n"
TWO = ("--episodes-per-cell", 1, "--regime", "overlap", "--regime", "no_deal", "--family", "candid")
SHORT = ("--sessions", 2, "--periods", 4)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Try again at once: what is under test is what happens, not when."""
    monkeypatch.setattr(pacing, "_FIRST_WAIT_S", 0.001)


@pytest.fixture
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture
def sent(monkeypatch):
    """Return the list of conversations sent to a model."""
    conversations, complete = [], ChatClient.complete

    def listen(self, messages, **rest):
        conversations.append(messages)
        return complete(self, messages, **rest)

    monkeypatch.setattr(ChatClient, "complete", listen)
    return conversations


class TestCommerce:
    def test_json_holds_every_metric_of_money_and_of_the_game(self, terms):
        code, printed, err = terms("diagnose", "--money", "--episodes-per-cell", 2, "--agent", "fixed-0.30", "--json")
        assert code == 0, err
        found = json.loads(printed)
        assert found["num_episodes"] == 144
        assert set(found["overall"]) == {metric.name for metric in METRICS}
        assert set(found["money"]["overall"]) == {metric.name for metric in MONEY_METRICS}
        assert set(found["money"]["perspectives"]) == {"merchant", "vendor"}
        assert len(found["money"]["lot_sizes"]) == 5
        assert found["money"]["overall"]["regret_rate"]["estimate"] == pytest.approx(0.498, abs=0.05)

    def test_the_table_shows_the_published_figure_beside_it(self, terms):
        code, printed, _ = terms(
            "diagnose", "--money", "--episodes-per-cell", 2, "--agent", "fixed-0.10", "--out", "run"
        )
        assert code == 0
        assert "regret rate" in printed
        assert "published regret rate (144 episodes): 0.573" in printed
        assert terms("verify", "run")[0] == 0

    def test_catalogue_items_in_money(self, terms, tmp_path):
        rows = ["name,category,reference_price,low_price,high_price", "kettle,home,30,20,45", "lamp,home,80,60,120"]
        (tmp_path / "items.csv").write_text("\n".join(rows))
        code, printed, err = terms(
            "diagnose", "--money", "--agent", "patient", "--suite", "catalog:items.csv", *TWO, "--json"
        )
        assert code == 0, err
        found = json.loads(printed)
        assert found["money"]["overall"]["regret_rate"]["n"] == 4
        assert found["suite"].startswith("catalog-0")

    def test_the_honest_optimum_names_the_values_it_played_with(self, terms):
        assert terms("diagnose", "--money", "--agent", "bayes", *TWO, "--out", "run")[0] == 0
        pinned = load_run(EPISODES, "run").header.settings["fitted_values"]
        assert set(pinned) == {"candid overlap", "candid no_deal"}
        assert terms("verify", "run")[0] == 0

    def test_runs_with_and_without_money_are_kept_apart(self, terms):
        terms("diagnose", "--agent", "patient", *TWO, "--out", "plain")
        code, _, err = terms("diagnose", "--money", "--agent", "patient", *TWO, "--out", "plain")
        assert code == 2
        assert "plain holds another run" in err
        with pytest.raises(ValueError, match="was played without money; use `terms diagnose --money`"):
            run_money(load_run(EPISODES, "plain").header, ())

    def test_a_model_sees_its_money_and_is_scored_in_it(self, terms, server, sent):
        args = ("diagnose", "--money", "--agent", "openai:bot", "--base-url", server.url, *TWO, "--out", "run")
        code, printed, err = terms(*args, "--json")
        assert code == 0, err
        assert json.loads(printed)["money"]["overall"]["mean_profit"]["n"] == 8
        assert all('"profit_of_a_deal": "lot_size * (' in messages[-1]["content"] for messages in sent)
        assert all("# Money" in messages[0]["content"] for messages in sent)
        assert not any("bankroll" in messages[0]["content"] for messages in sent)
        assert not any("is worth nothing" in messages[0]["content"] for messages in sent), "some talks pay 2.38 without"
        assert terms("verify", "run")[0] == 0


class TestBankroll:
    def test_json_holds_every_metric_with_n_and_interval(self, terms):
        code, printed, err = terms("bankroll", "--agent", "recall", "--memory-premium", *SHORT, "--json")
        assert code == 0, err
        found = json.loads(printed)
        assert set(found["metrics"]) == {
            "terminal_balance", "survival_rate", "mean_period_profit", "periods_survived", "median_time_to_ruin",
            "max_drawdown", "lower_tail_mean", "memory_premium", "memoryless_terminal_balance", "se_plus",
            "regret_rate", "deal_profit", "agreement_rate", "walkaway_correctness", "rounds",
        }  # fmt: skip
        assert all(set(entry) == {"estimate", "low", "high", "n", "sessions"} for entry in found["metrics"].values())
        assert found["sessions"] == {"finished": 2, "ruined": 0, "lost": 0, "open": 0}

    def test_the_honest_optimum_names_the_values_it_played_with(self, terms):
        assert terms("bankroll", "--agent", "bayes", "--sessions", 1, "--periods", 2, "--out", "run")[0] == 0
        pinned = load_run(SESSIONS, "run").header.settings["fitted_values"]
        assert {"candid overlap", "adversarial urgency_shift", "taciturn no_deal"} <= set(pinned)
        assert terms("verify", "run")[0] == 0

    def test_the_command_of_the_brief(self, terms):
        args = ("bankroll", "--agent", "patient", "--supplier-mode", "pool", "--sessions", 4, "--periods", 50)
        code, printed, err = terms(*args)
        assert code == 0, err
        assert "published terminal balances (pool, 4 sessions of 50): 21.41 to 442.77" in printed
        folder = printed.rpartition("run folder: ")[2].splitlines()[0]
        assert terms("verify", folder)[1] == VERIFIED
        assert "200 periods were already in" in terms(*args)[2]

    @pytest.mark.parametrize("mode", ["iid", "pool", "persistent"])
    @pytest.mark.parametrize("perspective", ["merchant", "vendor"])
    def test_every_mode(self, terms, mode, perspective):
        args = ("--supplier-mode", mode, "--config", f"chain.perspective={perspective}", "--out", "run")
        code, _, err = terms("bankroll", "--agent", "fixed-0.30", *SHORT, *args)
        assert code == 0, err
        assert terms("verify", "run")[0] == 0

    def test_a_tampered_run_fails(self, terms):
        terms("bankroll", "--agent", "patient", *SHORT, "--out", "run")
        summary = load_run(SESSIONS, "run").folder / SUMMARY
        summary.write_text(summary.read_text().replace("1", "2", 1))
        code, out, err = terms("verify", "run")
        assert (code, out, err) == (1, "", "FAILED summary.json is not what the log gives\n")

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--agent", "nobody"), "agent='nobody'"),
            (("--agent", "patient", "--supplier-mode", "crowd"), "--supplier-mode"),
            (("--agent", "patient", "--sessions", 0), "--sessions"),
            (("--agent", "patient", "--initial-cash", "1.005"), "initial_cash='1.005'; whole cents"),
            (("--agent", "patient", "--initial-cash", "-5"), "initial_cash='-5'; it must be at least 0"),
            (
                ("--agent", "patient", "--initial-cash", "1e300"),
                "initial_cash='1e300'; it must be at least 0, at most 1",
            ),
            (("--agent", "patient", "--initial-cash", "1e999999999"), "initial_cash='1e999999999'"),
            (("--agent", "patient", "--initial-cash", "much"), "initial_cash='much' is not an amount"),
        ],
    )
    def test_bad_input_is_named(self, terms, arguments, says):
        code, out, err = terms("bankroll", *arguments)
        assert (code, out) == (2, "")
        assert says in err


class TestModels:
    @pytest.fixture
    def bankroll(self, terms, server):
        def run(out, *options, model="bot"):
            agent = ("--agent", f"openai:{model}", "--base-url", server.url)
            return terms("bankroll", *agent, *SHORT, "--out", out, *options)

        return run

    def test_plays_is_verified_without_it_and_costs_what_the_server_billed(self, terms, bankroll, server):
        code, printed, err = bankroll("run", "--json")
        assert code == 0, err
        assert json.loads(printed)["periods"]["played"] == 8
        asked = len(server.ledger)
        assert terms("verify", "run")[0] == 0
        assert len(server.ledger) == asked
        facts = json.loads(terms("cost", "run", "--json")[1])
        assert facts["spending"]["settled_microusd"] == sum(bill.microusd for bill in server.ledger) > 0
        assert facts["usd_per_episode"]["n"] == 8
        assert facts["replies"]["ok"]["n"] == asked

    def test_a_run_that_is_done_asks_nothing(self, bankroll, server):
        bankroll("run")
        asked = len(server.ledger)
        code, _, err = bankroll("run")
        assert (code, "8 periods were already in run" in err) == (0, True)
        assert len(server.ledger) == asked

    def test_a_budget_stops_in_the_middle_of_a_session_and_a_higher_one_goes_on(self, terms, bankroll, server):
        bankroll("whole", "--workers", "1")
        whole = sum(bill.microusd for bill in server.ledger)
        code, out, err = bankroll("run", "--workers", "1", "--budget-usd", f"{whole / 2e6:.6f}")
        assert (code, out) == (4, "")
        assert "higher --budget-usd" in err
        kept = [len(session.periods) for session in load_run(SESSIONS, "run").sessions]
        assert 0 < sum(kept) < 8
        assert bankroll("run", "--workers", "2", "--budget-usd", "5")[0] == 0
        assert sum(bill.microusd for bill in server.ledger) == 2 * whole, "nothing is paid twice"
        first, second = (load_run(SESSIONS, name).sessions for name in ("whole", "run"))
        assert first == second
        assert terms("verify", "run")[0] == 0

    def test_both_arms_ask_for_themselves(self, bankroll, server):
        code, printed, err = bankroll("run", "--memory-premium", "--json")
        assert code == 0, err
        assert json.loads(printed)["metrics"]["memory_premium"]["estimate"] == 0, "the bot has no memory"
        calls = {row.call_id for row in read_calls(load_run(SESSIONS, "run").folder / MODEL_CALLS)}
        assert len(calls) == len(server.ledger)

    def test_a_provider_that_is_down_loses_sessions_and_ruins_none(self, bankroll):
        code, printed, err = bankroll("run", "--json", model="bot/fault:server_error_503")
        assert code == 3
        assert "2 of 2 sessions were lost to the provider and excluded" in err
        found = json.loads(printed)
        assert found["sessions"] == {"finished": 0, "ruined": 0, "lost": 2, "open": 0}
        assert found["metrics"]["terminal_balance"]["n"] == 0

    def test_an_outage_costs_sessions_and_the_same_command_gets_them_back(self, terms):
        """Some replies are empty or fenced all along; an outage in the middle loses what is being played.

        The script overrides the plan, so the seed must put none of the plan's faults on the first ten requests.
        """
        with FaultServer(FaultPlan({"empty": 0.1, "fenced": 0.1}, seed=7)) as server:
            args = ("bankroll", "--agent", "openai:bot", "--base-url", server.url, *SHORT, "--workers", 1)
            assert terms(*args, "--out", "calm")[0] == 0
            server.script(["ok"] * 10 + ["server_error_503"] * 6)
            code, _, err = terms(*args, "--out", "run")
            assert (code, "1 of 2 sessions were lost" in err) == (0, True), err
            assert sorted(session.end for session in load_run(SESSIONS, "run").sessions) == ["finished", "lost"]
            assert terms("verify", "run")[0] == 0
            assert terms(*args, "--out", "run")[0] == 0
        assert load_run(SESSIONS, "run").sessions == load_run(SESSIONS, "calm").sessions
        assert terms("verify", "run")[0] == 0

    def test_it_is_told_the_ledger_once_and_the_rules_always(self, bankroll, sent):
        bankroll("run", "--supplier-mode", "persistent", "--workers", "1")
        assert all("What counts is your cash at the end" in messages[0]["content"] for messages in sent)
        last = [messages for messages in sent if '"period": 4' in messages[-1]["content"]]
        opening, later = last[0][-1]["content"], last[-1][-1]["content"]
        assert "period 3 with supplier 1" in opening
        assert opening.count("you believed r_hat ") == 3, "its own stated beliefs are carried over"
        assert "period 3" not in later
        assert '"cash"' in later


class TestOrder:
    @pytest.fixture
    def folders(self, terms):
        for agent in ("patient", "conceder", "fixed-0.01"):
            terms("diagnose", "--money", "--agent", agent, "--episodes-per-cell", 1, "--out", f"c-{agent}")
            terms("bankroll", "--agent", agent, "--sessions", 6, "--periods", 20, "--out", f"b-{agent}")
        return [f"{kind}-{agent}" for kind in "cb" for agent in ("patient", "conceder", "fixed-0.01")]

    def test_three_orders_side_by_side(self, terms, folders):
        code, printed, err = terms("order", *folders, "--json")
        assert code == 0, err
        found = json.loads(printed)
        assert found["columns"] == ["se_plus", "regret_rate", "terminal_balance"]
        for column in found["columns"]:
            assert sorted(row[column]["rank"] for row in found["agents"].values()) == [1, 2, 3]
        code, printed, _ = terms("order", *folders)
        assert code == 0
        assert "1. " in printed

    def test_other_scenarios_and_doubles_are_refused(self, terms, folders):
        terms("diagnose", "--money", "--agent", "patient", "--episodes-per-cell", 1, "--seed", 8, "--out", "other")
        assert "runs are on different suites" in terms("order", *folders, "other")[2]
        assert "agent='patient' twice in bankroll" in terms("order", *folders, "b-patient")[2]
        terms("diagnose", "--agent", "patient", *TWO, "--out", "plain")
        assert "was played without money" in terms("order", "plain")[2]

    def test_ties_are_not_told_as_facts(self, terms, folders):
        found = json.loads(terms("order", *folders, "--json")[1])
        significant = {
            column: {frozenset((d["first"], d["second"])) for d in pairs["differences"] if d["verdict"] == "different"}
            for column, pairs in found["paired"].items()
        }
        assert {len(pairs["differences"]) for pairs in found["paired"].values()} == {3}
        printed = terms("order", *folders)[1]
        for column, pairs in found["paired"].items():
            shown = ", ".join(f"{name} ({pairs['letters'][name]})" for name in pairs["ranking"])
            assert f"{column}: {shown}; those that share a letter are not told apart" in printed
        for line in found["differences"]:
            upper, lower = line.split(" is ahead of ")[0], line.split(" is ahead of ")[1].split(" by ")[0]
            for column in (name for name in found["columns"] if name in line.partition(" (may be chance")[0]):
                doubted = column in line.partition(" (may be chance")[2]
                assert doubted == (frozenset((upper, lower)) not in significant[column]), line

    def test_other_rules_are_refused(self, terms):
        terms("bankroll", "--agent", "patient", *SHORT, "--out", "a")
        terms("bankroll", "--agent", "conceder", *SHORT, "--initial-cash", 50, "--out", "b")
        code, out, err = terms("order", "a", "b")
        assert (code, out, "runs are on different chains or rules" in err) == (2, "", True)


class TestUnfinished:
    @pytest.fixture
    def halves(self, terms):
        """Two runs of agents that are often ruined, one of them killed early: ruins alone have a result."""
        for agent in ("fixed-0.01", "patient"):
            terms("bankroll", "--agent", agent, "--sessions", 4, "--periods", 20, "--out", agent)
        log = load_run(SESSIONS, "fixed-0.01").folder / "periods.jsonl"
        log.write_bytes(log.read_bytes()[:-9])

    def test_they_are_not_ranked(self, terms, halves):
        for command in ("order", "compare"):
            code, out, err = terms(command, "fixed-0.01", "patient")
            assert (code, out) == (2, "")
            assert "fixed-0.01 has 1 of 4 sessions unfinished; resume it by giving its command again" in err

    def test_a_report_says_what_is_missing(self, terms, halves):
        code, _, err = terms("report", "fixed-0.01", "patient", "--out", "r.html")
        assert code == 0
        assert "note: fixed-0.01 ends in" in err
        assert "note: fixed-0.01 has 1 of 4 sessions unfinished and not scored" in err

    def test_what_the_provider_lost_and_what_is_invalid_is_said(self, terms, server):
        model = ("--agent", "openai:bot/fault:server_error_503", "--base-url", server.url)
        terms("bankroll", *model, *SHORT, "--out", "down")
        terms("bankroll", "--agent", "patient", *SHORT, "--out", "patient")
        for command, expected in (("order", 0), ("compare", 2)):  # there is nothing of `down` to compare
            code, _, err = terms(command, "down", "patient")
            assert code == expected, err
            assert "INVALID: down: nothing was scored" in err
            assert "note: down has 2 of 2 sessions lost to the provider and excluded" in err


class TestCompare:
    def test_sessions_are_paired_on_the_same_chains(self, terms):
        for agent in ("patient", "fixed-0.01", "conceder"):
            terms("bankroll", "--agent", agent, "--sessions", 8, "--periods", 20, "--out", agent)
        code, printed, err = terms("compare", "patient", "fixed-0.01", "conceder", "--json")
        assert code == 0, err
        found = json.loads(printed)
        assert (found["metric"], found["groups"][0][0]) == ("terminal_balance", "patient")
        assert found["groups"][-1] == ["fixed-0.01"]
        assert {d["n"] for d in found["differences"]} == {8}
        code, printed, _ = terms("compare", "patient", "fixed-0.01", "--metric", "max_drawdown")
        assert code == 0
        assert "max_drawdown on pool-merchant-0-8x20" in printed

    def test_what_cannot_be_compared_is_named(self, terms):
        terms("bankroll", "--agent", "patient", *SHORT, "--out", "a")
        terms("bankroll", "--agent", "conceder", *SHORT, "--seed", 3, "--out", "b")
        terms("bankroll", "--agent", "conceder", *SHORT, "--initial-cash", 50, "--out", "c")
        for other in ("b", "c"):
            assert "runs are on different chains" in terms("compare", "a", other)[2]
        assert "agent='patient' twice" in terms("compare", "a", "a")[2]
        assert "runs has 1 agent; a comparison needs at least 2" in terms("compare", "a")[2]
        assert (
            "metric='se_plus', allowed for sessions are terminal_balance"
            in terms("compare", "a", "b", "--metric", "se_plus")[2]
        )

    def test_other_games_are_refused_though_the_draws_are_the_same(self, terms, tmp_path):
        (tmp_path / "game.json").write_text('{"chain": {"game": {"acceptance": {"alpha": 1.0}}}}')
        (tmp_path / "plain.json").write_text('{"acceptance": {"alpha": 1.0}}')
        (tmp_path / "thin.json").write_text('{"game": {"acceptance": {"alpha": 1.0}}}')
        runs = {
            "bankroll": (SHORT, "game.json", "different chains or rules"),
            "diagnose": (TWO, "plain.json", "different settings of game"),
            "diagnose --money": (TWO, "thin.json", "different settings of game"),
        }
        for line, (size, changed, says) in runs.items():
            command, *more = line.split()
            terms(command, *more, "--agent", "patient", *size, "--out", f"{line}-a")
            assert (
                terms(command, *more, "--agent", "conceder", *size, "--config", changed, "--out", f"{line}-b")[0] == 0
            )
            code, out, err = terms("compare", f"{line}-a", f"{line}-b")
            assert (code, out, says in err) == (2, "", True), err
            code, _, err = terms("report", f"{line}-a", f"{line}-b", "--out", "r.html")
            assert (code, says in err) == (2, True), err

    def test_options_that_sessions_have_no_use_for_are_refused(self, terms):
        for agent in ("patient", "conceder"):
            terms("bankroll", "--agent", agent, *SHORT, "--out", agent)
        code, _, err = terms("compare", "patient", "conceder", "--separation")
        assert (code, "leave it out for sessions" in err) == (2, True)
        code, _, err = terms("report", "patient", "--beliefs")
        assert (code, "--out is its option" in err) == (2, True)

    def test_profits_of_commerce_runs(self, terms):
        for agent in ("patient", "fixed-0.01"):
            terms("diagnose", "--money", "--episodes-per-cell", 2, "--agent", agent, "--out", agent)
        code, printed, err = terms("compare", "patient", "fixed-0.01", "--metric", "profit", "--json")
        assert code == 0, err
        found = json.loads(printed)
        assert found["groups"] == [["patient"], ["fixed-0.01"]]
        assert found["differences"][0]["n"] == 144


class TestConfig:
    def test_costs_and_laws_can_be_changed(self, terms, tmp_path):
        changes = {"bankroll": {"period_cost_cents": 0, "round_cost_cents": 0}, "chain": {"families": ["candid"]}}
        (tmp_path / "free.json").write_text(json.dumps(changes))
        code, _, err = terms("bankroll", "--agent", "patient", *SHORT, "--config", "free.json", "--out", "run")
        assert code == 0, err
        run = load_run(SESSIONS, "run")
        assert run.header.spec.bankroll.horizon == 4, "what the file leaves out is as the options say"
        assert {period.cost_cents for session in run.sessions for period in session.periods} == {0}
        assert terms("verify", "run")[0] == 0

    @pytest.mark.parametrize(
        ("option", "settings", "says"),
        [
            (("--periods", 4), {"bankroll": {"horizon": 6}}, "--periods and --config disagree: bankroll.horizon is 4"),
            (("--sessions", 4), {"bankroll": {"num_sessions": 6}}, "--sessions and --config disagree"),
            (("--seed", 0), {"chain": {"seed": 6}}, "--seed and --config disagree"),
            (("--initial-cash", 100), {"bankroll": {"initial_cents": 5}}, "--initial-cash and --config disagree"),
            (("--memory-premium",), {"with_memoryless": False}, "--memory-premium and --config disagree"),
        ],
    )
    def test_an_option_that_the_file_contradicts_is_refused(self, terms, tmp_path, option, settings, says):
        (tmp_path / "other.json").write_text(json.dumps(settings))
        code, out, err = terms("bankroll", "--agent", "patient", *option, "--config", "other.json", "--out", "run")
        assert (code, out, says in err) == (2, "", True), err
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("command", ["bankroll", "diagnose"])
    def test_a_file_that_is_not_there_and_a_folder_that_is_a_file_are_named(self, terms, tmp_path, command):
        (tmp_path / "file").write_text("")
        err = terms(command, "--agent", "patient", "--config", "nowhere.json")[2]
        assert "config='nowhere.json' cannot be read" in err
        for name in ("file", "file/below"):
            code, _, err = terms(command, "--agent", "patient", "--out", name)
            assert (code, f"--out='{name}': " in err, "is a file, needed is a folder" in err) == (2, True, True), err

    def test_margins_of_single_negotiations_can_be_changed(self, terms, tmp_path):
        (tmp_path / "thin.json").write_text('{"economics": {"margin_share": 0.0}, "game": {"horizon": 6}}')
        code, _, err = terms("diagnose", "--money", "--agent", "patient", *TWO, "--config", "thin.json", "--out", "run")
        assert code == 0, err
        suite = load_run(EPISODES, "run").header.spec
        assert (suite.economics.margin_share, suite.game.horizon) == (0.0, 6)

    def test_a_wrong_setting_is_named(self, terms, tmp_path):
        (tmp_path / "bad.json").write_text('{"bankroll": {"horizn": 3}}')
        code, _, err = terms("bankroll", "--agent", "patient", *SHORT, "--config", "bad.json")
        assert code == 2
        assert "bankroll.horizn" in err


def test_a_folder_of_the_other_mode_is_named(terms):
    terms("bankroll", "--agent", "patient", *SHORT, "--out", "sessions")
    terms("diagnose", "--money", "--agent", "patient", *TWO, "--out", "episodes")
    with pytest.raises(RunError, match="sessions holds a run of mode 'bankroll', needed is 'episodes'"):
        load_run(EPISODES, "sessions")
    code, _, err = terms("compare", "sessions", "episodes")
    assert (code, "episodes holds a run of mode 'episodes', needed is 'bankroll'" in err) == (2, True)
