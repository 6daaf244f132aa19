from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from experiments.engine.header import code_versions, header_type, make_header
from experiments.episodes.config import SuiteKind, SuiteSpec
from experiments.episodes.suite_task import EPISODES
from terms import PUBLISHED_FLAW, GameConfig
from terms.types import Family, Regime

ITEMS = "name,reference_price,low_price,high_price\nKettle,45,30,64\n"


@pytest.mark.parametrize("text", ["", "fress", "published:x", "fresh:1", "catalog", "catalog:", "FRESH"])
def test_an_unknown_suite_is_refused_and_the_allowed_ones_named(text):
    with pytest.raises(ValueError, match=f"suite={text!r}, allowed are published, fresh, catalog:PATH"):
        SuiteSpec.parse(text)


def test_the_published_suite_takes_no_seed():
    with pytest.raises(ValueError, match="the published suite has its own seeds"):
        SuiteSpec.parse("published", seed=0)


def test_unknown_names_are_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"regimes has 'overlp'.*did you mean 'overlap'"):
        SuiteSpec.parse("fresh", regimes=["overlp"])
    with pytest.raises(ValueError, match=r"families has 'canded'.*did you mean 'candid'"):
        SuiteSpec.parse("fresh", families=["canded"])


@pytest.mark.parametrize("field", ["n_per_cell", "sample"])
def test_no_episodes_is_refused(field):
    with pytest.raises(ValidationError, match=field):
        SuiteSpec.parse("fresh", **{field: 0})


def test_a_path_belongs_to_a_catalogue_alone():
    with pytest.raises(ValidationError, match="needs a path and no other has one"):
        SuiteSpec(kind=SuiteKind.FRESH, path="x.csv")
    with pytest.raises(ValidationError, match="needs a path and no other has one"):
        SuiteSpec(kind=SuiteKind.CATALOG)
    with pytest.raises(ValidationError, match="unknown key 'episodes'"):
        SuiteSpec.model_validate({"kind": "fresh", "episodes": 3})


def test_a_path_with_spaces_and_colons_is_kept(tmp_path, monkeypatch):
    folder = tmp_path / "Ünter: wegs"
    folder.mkdir()
    (folder / "items.csv").write_text(ITEMS)
    monkeypatch.chdir(folder)
    spec = SuiteSpec.parse("catalog:../Ünter: wegs/items.csv", n_per_cell=1)
    assert spec.path == str(folder / "items.csv")
    assert {scenario.product.name for scenario in spec.build()} == {"Kettle"}
    assert spec.data_digest() != SuiteSpec.parse("fresh").data_digest()


def test_a_catalogue_that_changes_is_read_again(tmp_path):
    items = tmp_path / "items.csv"
    spec = SuiteSpec.parse(f"catalog:{items}", n_per_cell=1)
    for name in ("Kettle", "Toaster oven"):
        items.write_text(ITEMS.replace("Kettle", name))
        assert {scenario.product.name for scenario in spec.build()} == {name}


def test_labels_tell_what_was_played():
    assert SuiteSpec.parse("fresh", seed=7).label == "fresh-7-n25"
    assert SuiteSpec.parse("published").label == "published-n25"
    assert SuiteSpec.parse("fresh", sample=3).label == "fresh-0-sample3"
    assert SuiteSpec.parse("published").notices == (PUBLISHED_FLAW,)
    assert SuiteSpec.parse("fresh").notices == ()


@settings(deadline=None, max_examples=10)
@given(sample=st.integers(1, 80), seed=st.integers(0, 2**63))
def test_a_sample_is_part_of_its_suite_and_always_the_same(sample, seed):
    spec = SuiteSpec.parse("fresh", seed=seed, n_per_cell=1, sample=sample)
    picked = spec.build()
    whole = [scenario.scenario_id for scenario in SuiteSpec.parse("fresh", seed=seed, n_per_cell=1).build()]
    ids = [scenario.scenario_id for scenario in picked]
    assert len(ids) == min(sample, 72)
    assert ids == [scenario_id for scenario_id in whole if scenario_id in set(ids)]
    assert SuiteSpec.model_validate_json(spec.model_dump_json()).build() == picked


def test_the_digest_covers_every_setting_that_shapes_the_world():
    specs = {
        "plain": SuiteSpec.parse("fresh", n_per_cell=1),
        "seed": SuiteSpec.parse("fresh", seed=1, n_per_cell=1),
        "more": SuiteSpec.parse("fresh", n_per_cell=2),
        "regime": SuiteSpec.parse("fresh", n_per_cell=1, regimes=["overlap"]),
        "family": SuiteSpec.parse("fresh", n_per_cell=1, families=["candid"]),
        "sample": SuiteSpec.parse("fresh", n_per_cell=1, sample=71),
        "bounds": SuiteSpec.parse("fresh", n_per_cell=1, game=GameConfig(price_max=101.0)),
    }
    assert len({spec.digest() for spec in specs.values()}) == len(specs)
    assert specs["plain"].digest() == SuiteSpec.parse("fresh", n_per_cell=1, seed=0).digest()


def test_the_header_pins_agent_suite_code_and_survives_json():
    spec = SuiteSpec.parse("fresh", n_per_cell=1, regimes=["overlap"], families=["candid"])
    header = make_header("episodes", "patient", spec, EPISODES.digests(spec), {"gap": 0.3})
    assert header.spec.num_episodes == 4
    assert header.spec.regimes == (Regime.OVERLAP,)
    assert header.spec.families == (Family.CANDID,)
    assert set(code_versions()) == {"terms-commerce", "python", "platform", "numpy", "scipy", "pyarrow"}
    assert header_type(SuiteSpec).model_validate(header.model_dump(mode="json")) == header


def test_a_catalogue_with_other_columns_is_mapped_and_keeps_its_mapping(tmp_path):
    items = tmp_path / "items.csv"
    items.write_text("Titel;Preis\nLampe;50\n", encoding="utf-8")
    spec = SuiteSpec.parse(
        f"catalog:{items}", n_per_cell=1, columns="name=Titel,price=Preis,low_price=80%,high_price=2%"
    )
    assert SuiteSpec.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValueError, match=r"no usable row; dropped: .'no price spread': 1"):
        spec.build()
    wide = spec.model_copy(update={"columns": {**spec.columns, "high_price": "120%"}})
    assert (wide.build()[0].product.low_price, wide.build()[0].product.high_price) == (40, 60)
    assert wide.notices == ()  # nothing was dropped
    with pytest.raises(ValueError, match="only a catalogue suite has columns"):
        SuiteSpec.parse("fresh", columns="name=Titel")
