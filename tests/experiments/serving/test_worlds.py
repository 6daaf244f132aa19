"""Worlds of a server: shared, built elsewhere; seeds drawn and kept; several runs in one world."""

from __future__ import annotations

import pytest

from experiments.serving.settings import ServeSettings
from experiments.serving.worlds import SEED_FILE, Worlds, find_or_draw_seed, is_small


def test_agents_of_one_world_share_it():
    worlds, settings = Worlds(), ServeSettings(num_days=3)
    first = worlds.get(settings.spec("a", 0))
    assert worlds.get(settings.spec("b", 0)) is first
    assert worlds.get(settings.spec("a", 1)).digest != first.digest


def test_a_world_built_by_a_worker_is_the_same():
    spec, elsewhere = ServeSettings(num_days=3).spec("a", 0), Worlds(workers=1)
    try:
        assert elsewhere.get(spec).digest == spec.build_world().digest
    finally:
        elsewhere.close()


def test_a_seed_is_drawn_once_and_large(tmp_path):
    seed, path = find_or_draw_seed(tmp_path / "years")
    assert find_or_draw_seed(tmp_path / "years") == (seed, path)
    drawn = {find_or_draw_seed(tmp_path / str(place))[0] for place in range(20)}
    assert len(drawn) == 20
    assert max(drawn) > 2**58
    assert max(drawn) < 2**63


@pytest.mark.parametrize("text", ["", "seven", "-1", str(2**63), "\u0664"])
def test_a_file_without_a_seed_is_named(tmp_path, text):
    (tmp_path / SEED_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="name one with --seed"):
        find_or_draw_seed(tmp_path)


def test_what_is_small():
    assert is_small(777)
    assert is_small(2**40 - 1)
    assert not is_small(2**40)


def test_runs_are_repeats_within_worlds():
    settings = ServeSettings(world_seed=7, repeats=5)
    specs = [settings.spec("a", run) for run in range(11)]
    assert [(spec.world_seed, spec.repeat) for spec in specs[4:7]] == [(7, 4), (8, 0), (8, 1)]
    assert specs[10].world_seed == 9
    assert len({spec.agent_seed for spec in specs}) == 11
    assert settings.folder("a", 6).name == "world-8-days-365-repeat-1"
    assert settings.folder("a", 5).name == "world-8-days-365"
