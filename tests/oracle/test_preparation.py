"""Fitted values are had before anybody plays, each once."""

from oracle import preparation
from oracle.interventions import told_family, told_for_efficiency
from oracle.preparation import fit_missing, is_at_hand, needed_knowledge
from terms import GameConfig, fresh_suite


def test_needs_are_told_apart_by_what_is_told():
    suite = fresh_suite(3, ["overlap", "no_deal"], ["candid", "taciturn"], 2)
    assert len(needed_knowledge(suite)) == 4
    assert len(needed_knowledge(suite, told_family)) == 2
    tilted = needed_knowledge(suite, told_for_efficiency)
    assert sorted(each.objective for each in tilted) == ["se", "se", "utility", "utility"]


def test_only_what_is_missing_is_fitted_and_progress_counts_it(monkeypatch, tmp_path):
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path))
    short = GameConfig(horizon=4)
    needed = needed_knowledge(fresh_suite(3, ["overlap", "no_deal"], ["candid", "taciturn"], 1, config=short))
    assert [is_at_hand(knowledge) for knowledge in needed] == [False, False, True, True]
    fitted, told = [], []
    monkeypatch.setattr(preparation, "values_for", fitted.append)
    fit_missing(needed, lambda done, total: told.append((done, total)))
    assert fitted == needed[:2]
    assert told == [(1, 2), (2, 2)]


def test_a_torn_file_is_not_at_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path))
    (knowledge,) = needed_knowledge(fresh_suite(3, ["overlap"], ["candid"], 1, config=GameConfig(horizon=4)))
    key = preparation.values_key(knowledge, preparation.settings_for(knowledge))
    (tmp_path / f"{key}.npz").write_bytes(b"torn")
    assert not is_at_hand(knowledge)
