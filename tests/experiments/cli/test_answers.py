"""The oracle from the command line: what a suite is worth, where an agent loses, one talk explained."""

import io
import json
from typing import NamedTuple

import numpy as np
import pytest

from experiments.cli import decompose, explain, oracle, seating, train_oracle
from experiments.engine import oracle_work
from experiments.engine.run import load_run, run_task
from experiments.episodes.folder import PARQUET, SUMMARY
from experiments.episodes.suite_task import EPISODES
from oracle import shipped
from oracle.fitted import TrainingSettings
from oracle.interventions import BayesOptimal
from oracle.prior import Grid, Knowledge
from oracle.solution_cache import to_bytes
from oracle.tables import SuiteValue
from terms import catalog_suite
from terms.agents import build_scripted
from tests.experiments.folders import REPOSITORY, TINY

SMALL = ("--suite", "fresh", "--seed", "3", "--episodes-per-cell", "1", "--regime", "overlap", "--family", "candid")
CERTIFIED = (
    "lower", "upper", "width", "a part of it", "policy", "first_value", "inner_maximum", "rounding",
    "real_lower", "real_upper", "real_width", "bayes", "told",
)  # fmt: skip
COARSE = BayesOptimal(grid=Grid(2.0, 5))
QUICK = TrainingSettings(num_paths=90, hidden=4, steps=3, num_nodes=4, offer_step=5.0, grid=Grid(4.0, 3), tolerance=9.0)


class Answer(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def rule_of_thumb(monkeypatch):
    """Let the rule of thumb be the reference: what is under test is the command, and fitted values take minutes."""
    for module in (decompose, explain, oracle):
        monkeypatch.setattr(module, "prepared_bayes_optimal", lambda scenarios, objective="utility": COARSE)


@pytest.fixture
def ask(terms):
    """Return a function that runs ``terms`` and names what came out."""
    return lambda *args: Answer(*terms(*args))


def test_a_suite_is_worth_what_lies_between_its_bounds(ask):
    result = ask("oracle", *SMALL, "--json")
    rows = {(row["label"], row["quantity"]): row for row in json.loads(result.stdout)["rows"]}
    lower, upper = (rows["all", name]["estimate"] for name in ("lower", "upper"))
    assert lower < rows["all", "oracle_share"]["estimate"] < upper <= 1
    assert rows["all", "se_lower"]["estimate"] < rows["all", "oracle_se_plus"]["estimate"]
    assert rows["all", "oracle_se_plus"]["estimate"] < rows["all", "se_upper"]["estimate"] <= 1
    assert rows["all", "width"]["estimate"] == pytest.approx(upper - lower)
    shown = ask("oracle", *SMALL).stdout
    assert "family candid" in shown
    assert "proven bounds: not computed" in shown


def test_certified_bounds_are_shown_on_request(ask, monkeypatch):
    rows = [SuiteValue("certificate", "overlap candid agent_opens", name, 0.5, None, None, 7) for name in CERTIFIED]
    monkeypatch.setattr(oracle_work, "certificates", lambda scenarios, **asked: rows if asked["num_dual"] == 7 else [])
    found = json.loads(ask("oracle", *SMALL, "--certify", "7", "--json").stdout)
    assert found["tick"] == 4
    assert [row["quantity"] for row in found["rows"] if row["slice"] == "certificate"] == list(CERTIFIED)
    shown = ask("oracle", *SMALL, "--certify", "7").stdout
    assert "offers at any price, in any order" in shown
    assert "ticks of 4 % of R" in shown
    assert "a part of it" in shown
    assert shown.count("overlap candid agent_opens") == 3
    assert json.loads(ask("oracle", *SMALL, "--json").stdout)["tick"] is None
    assert "none, as no deal can be made" in ask("oracle", *SMALL, "--certify", "6").stdout


def test_parts_add_up_in_every_slice_and_the_file_is_what_json_prints(ask, tmp_path):
    file = tmp_path / "parts.json"
    result = ask("decompose", "--agent", "faulty-belief", *SMALL, "--episodes-per-cell", "2", "--json", "--out", file)
    found = json.loads(result.stdout)
    assert json.loads(file.read_text()) == found
    for label in ("all", "overlap", "candid"):
        part = {row["part"]: row["estimate"] for row in found["rows"] if row["label"] == label}
        total = part["execution"] + part["inference"] + part["uncertainty"] + part["control"]
        assert total == pytest.approx(part["gap"], abs=1e-12)
    assert found["required_episodes"]["gap"]["estimate"] > 0
    assert found["diagnosis"]["fault"] in ("none", "execution", "control", "inference")


def test_a_decomposition_is_told_as_a_table(ask):
    shown = ask("decompose", "--agent", "patient", *SMALL).stdout
    assert "where the oracle earns" in shown
    assert "nothing stands out to be mended" in shown


def test_a_run_is_decomposed_as_it_was_diagnosed(ask, tmp_path):
    assert ask("diagnose", "--agent", "fixed-0.30", *SMALL, "--out", "one").exit_code == 0
    by_run, by_name = ask("decompose", "one", "--json"), ask("decompose", "--agent", "fixed-0.30", *SMALL, "--json")
    assert by_run.stdout == by_name.stdout
    assert json.loads(by_run.stdout)["num_episodes"] == 4
    for asked, says in (
        (("one", "--agent", "patient"), "not both"),
        ((), "needed is the folder of a run, or --agent"),
        (("one", "--seed", "4"), "leave out what names a suite"),
        (("one", "--budget-usd", "2"), "not a language model"),
        (("two",), "not a run folder"),
    ):
        refused = ask("decompose", *asked)
        assert (refused.exit_code, says in refused.stderr) == (2, True), refused.stderr


def test_a_gap_is_measured_against_whom_one_says_and_the_half_width_is_ones_own(ask):
    wide = ("decompose", "--agent", "patient", *SMALL, "--half-width", "4", "--json")
    by_oracle, by_clairvoyant = (
        json.loads(ask(*wide, "--reference", name).stdout) for name in ("oracle", "clairvoyant")
    )
    gaps = [
        next(row["estimate"] for row in found["rows"] if (row["part"], row["label"]) == ("gap", "all"))
        for found in (by_oracle, by_clairvoyant)
    ]
    assert gaps[0] < gaps[1]  # who knows the type earns more than who must infer it
    assert by_oracle["half_width"] == 4.0
    refused = ask("decompose", "--agent", "patient", *SMALL, "--half-width", "nan")
    assert refused.exit_code == 2


def test_an_episode_is_found_by_number_and_by_id(ask, tmp_path):
    run_task(EPISODES, build_scripted("patient"), TINY, tmp_path / "run")
    first = load_run(EPISODES, tmp_path / "run").records[0].scenario_id
    by_number, by_id = (json.loads(ask("explain", tmp_path / "run", each, "--json").stdout) for each in ("1", first))
    assert by_number == by_id
    costs = sum(move["hindsight_cost"] for move in by_id["moves"])
    assert by_id["clairvoyant_value"] - by_id["utility"] == pytest.approx(costs - by_id["luck"])
    assert "Loss came from" in ask("explain", tmp_path / "run", "1").stdout


def test_an_unknown_episode_is_refused_with_what_there_is(ask, tmp_path):
    run_task(EPISODES, build_scripted("patient"), TINY, tmp_path / "run")
    result = ask("explain", tmp_path / "run", "999")
    assert result.exit_code == 2
    assert "has numbers 1 to" in result.stderr


@pytest.mark.parametrize("name", ["clairvoyant", "faulty-execution"])
def test_workers_do_not_change_a_byte_and_the_run_is_verified(ask, tmp_path, name):
    for workers in ("1", "2"):
        ask("diagnose", "--agent", name, *SMALL, "--workers", workers, "--out", tmp_path / workers)
    for file in (PARQUET, SUMMARY):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
    assert ask("verify", tmp_path / "1").exit_code == 0


def test_only_values_that_exist_are_trained(ask):
    result = ask("train-oracle", "--family", "candid", "--prior", "no_deal")
    assert result.exit_code == 2
    assert "prior='no_deal', allowed are candid" in result.stderr


def test_values_fitted_anew_are_the_ones_that_are_checked(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "SETTINGS", QUICK)
    args = ("--family", "strategic", "--prior", "overlap", "--out", tmp_path, "--episodes-per-cell", "1")
    checks = json.loads(ask("train-oracle", *args, "--json").stdout)
    (file,) = tmp_path.glob("*.npz")
    fitted = shipped.read_values(file, "strategic", "overlap")
    assert {check["residual"] for check in checks} == {float(np.nanmax(fitted.rmse))}
    assert [(check["n"], check["n_feasible"]) for check in checks] == [(2, 2)] * 4
    earned = [(check["has_cues"], check["utility_share"]) for check in checks]
    assert [has_cues for has_cues, _ in earned] == [True, True, False, False]
    assert [share for _, share in earned[:2]] == [share for _, share in earned[2:]]  # its cues tell nothing
    assert "strategic overlap agent_opens no cues" in " ".join(ask("train-oracle", *args).stdout.split())


def test_a_run_of_the_honest_optimum_names_the_values_it_was_played_with(ask, tmp_path, monkeypatch):
    args = ("diagnose", "--agent", "bayes", *SMALL[:-3], "no_deal", *SMALL[-2:], "--out", tmp_path / "run")
    assert ask(*args).exit_code == 0
    pinned = load_run(EPISODES, tmp_path / "run").header.settings["fitted_values"]
    values = shipped.values_for(Knowledge.of(["no_deal"], ["candid"]))
    assert pinned == {"candid no_deal": shipped.values_digest(values)}
    assert ask("verify", tmp_path / "run").exit_code == 0
    monkeypatch.setattr(shipped, "values_digest", lambda values: "f" * 64)
    other = ask(*args)
    assert (other.exit_code, "fitted_values.candid no_deal" in other.stderr) == (2, True)


def test_on_a_catalogue_the_optimum_plays_and_is_the_reference(ask, tmp_path):
    (tmp_path / "items.csv").write_text("name,reference_price,low_price,high_price\nKettle,45,30,64\nFan,70,50,80\n")
    suite = ("--suite", f"catalog:{tmp_path / 'items.csv'}", *SMALL[2:])
    scenarios = catalog_suite(tmp_path / "items.csv", ["overlap"], ["candid"], 1)
    reference = seating.prepared_bayes_optimal(scenarios)
    assert reference.knowledge(scenarios[0]).frame != (0.0, 100.0)
    assert json.loads(ask("decompose", "--agent", "patient", *suite, "--json").stdout)["rows"]
    assert ask("diagnose", "--agent", "bayes", *suite, "--out", tmp_path / "run").exit_code == 0
    pinned = load_run(EPISODES, tmp_path / "run").header.settings["fitted_values"]
    assert list(pinned) == ["candid catalogue"]


class TestReferenceRun:
    @pytest.fixture
    def reference(self, ask, tmp_path):
        ask("diagnose", "--agent", "clairvoyant", *SMALL, "--out", tmp_path / "reference")
        return tmp_path / "reference"

    def test_percent_of_the_oracle_is_se_plus_over_its_se_plus(self, ask, reference, tmp_path):
        args = ("diagnose", "--agent", "patient", *SMALL, "--out", tmp_path / "own", "--reference-run", reference)
        found = json.loads(ask(*args, "--json").stdout)["overall"]
        best = json.loads((reference / SUMMARY).read_text())["metrics"]["overall"]
        for part in ("se", "cse"):
            ratio = found[f"{part}_plus"]["estimate"] / best[f"{part}_plus"]["estimate"]
            assert found[f"pct_oracle_{part}"]["estimate"] == pytest.approx(ratio)
        assert "%Oracle" in ask(*args).stdout
        assert "pct_oracle" not in (tmp_path / "own" / SUMMARY).read_text()
        assert ask("verify", tmp_path / "own").exit_code == 0

    def test_only_a_reference_on_the_same_episodes_will_do(self, ask, reference, tmp_path):
        other = ask(
            "diagnose", "--agent", "patient", "--seed", "9", "--episodes-per-cell", "1", "--reference-run", reference
        )
        assert (other.exit_code, "not on the episodes of" in other.stderr) == (2, True)
        ask("diagnose", "--agent", "patient", *SMALL, "--out", tmp_path / "own")
        weak = ask("diagnose", "--agent", "linear", *SMALL, "--reference-run", tmp_path / "own")
        assert (weak.exit_code, "allowed are bayes" in weak.stderr) == (2, True)


def test_a_fitted_file_is_compared_with_the_shipped_one(tmp_path):
    shipped = next((REPOSITORY / "oracle" / "data").glob("*.npz"))
    with np.load(io.BytesIO(shipped.read_bytes().partition(b"\n")[2])) as archive:
        arrays = {name: archive[name] for name in archive.files}
    key = str(arrays.pop("key"))
    arrays["b3"] = arrays["b3"] + np.float32(0.25)
    (tmp_path / shipped.name).write_bytes(to_bytes(key, arrays))
    assert train_oracle._difference_to_shipped(shipped) == "0"
    assert float(train_oracle._difference_to_shipped(tmp_path / shipped.name)) == pytest.approx(0.25, abs=1e-5)
