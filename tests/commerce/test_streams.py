"""Keyed randomness: scalar and vector agree, streams are separate, and no process can change them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.streams import generator, keyed_integer, keyed_uniform, keyed_uniforms, stream_key, stream_keys

NAMES = st.text("abc|0", max_size=4)


@given(st.integers(0, 2**62), NAMES, NAMES, st.integers(0, 5000))
def test_scalar_is_the_twin_of_the_vector(seed, purpose, entity, index):
    keys = stream_keys(seed, purpose, (entity,))
    assert keys[0] == stream_key(seed, purpose, entity)
    assert keyed_uniform(seed, purpose, entity, index=index) == keyed_uniforms(keys, 0, index)[0]


def test_splitmix64_reference_values():
    """The finaliser is splitmix64: seed 0 gives 0xe220a8397b1dcdaf, then 0x6e789e6aa1b965f4 (Vigna's reference)."""
    zero = np.zeros(1, dtype=np.uint64)
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert [keyed_uniforms(zero, day)[0] for day in (0, 1)] == [(x >> 11) * 2.0**-53 for x in expected]


def test_parts_of_a_key_are_separated():
    assert stream_key(1, "a", "bc") != stream_key(1, "ab", "c")
    assert stream_key(11, "a") != stream_key(1, "1a")


def test_neighbouring_seeds_and_days_are_uncorrelated():
    names = tuple(str(i) for i in range(4000))
    draws = [keyed_uniforms(stream_keys(seed, "demand", names), day) for seed in (1, 2) for day in (0, 1)]
    correlations = np.corrcoef(draws)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(4000)  # four standard errors
    counts = np.histogram(np.concatenate(draws), bins=20, range=(0, 1))[0]
    assert ((counts - 800) ** 2 / 800).sum() < 50  # chi-square with 19 degrees of freedom, p = 1e-4


@given(st.integers(-5, 5), st.integers(0, 9), st.floats(0, 1, exclude_max=True))
def test_integers_stay_inside(low, span, uniform):
    assert low <= keyed_integer(low, low + span, uniform) <= low + span


def test_generators_are_streams_of_their_own():
    assert generator(1, "a").random() == generator(1, "a").random()
    assert generator(1, "a").random() != generator(1, "b").random()


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_a_process_changes_nothing(hash_seed):
    code = "from commerce.streams import keyed_uniform; print(keyed_uniform(7, 'demand', 'sku', 3))"
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert float(out.stdout) == keyed_uniform(7, "demand", "sku", 3)
