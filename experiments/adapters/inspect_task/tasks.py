# inspect-evals-lint: ignore-file[external_dependencies] -- commerce and terms are packages of this repository
"""The tasks of Inspect: ``inspect eval experiments/negotiation --model VENDOR/MODEL -T num_per_cell=1``.

Needs the extra ``inspect``. ``experiments/store_year`` is a year of the store.
"""

from __future__ import annotations

from commerce.world import DEFAULT_SEED
from experiments.extras import need
from terms.suites import fresh_suite

need("inspect", "inspect_ai")

from inspect_ai import Task, task  # noqa: E402 - only after its absence was named
from inspect_ai.dataset import Sample  # noqa: E402

from experiments.adapters.inspect_task.negotiation_solver import negotiate, surplus  # noqa: E402
from experiments.adapters.inspect_task.store_solver import final_assets, run_store  # noqa: E402


@task
def negotiation(
    num_per_cell: int = 1, seed: int = 1, regimes: str = "overlap", families: str | None = None, corrections: int = 1
) -> Task:
    """Return the task: the episodes of a fresh suite, each a sample.

    ``regimes`` and ``families`` name some, apart by commas; all families by default. Choose a large ``seed`` of your
    own to measure a model that may know the code.
    """
    suite = fresh_suite(seed, regimes.split(","), families and families.split(","), num_per_cell)
    samples = [Sample(input=f"Negotiate as {each.agent_role.value}.", id=each.scenario_id) for each in suite]
    scenarios = {each.scenario_id: each for each in suite}
    return Task(dataset=samples, solver=negotiate(scenarios, corrections), scorer=surplus())


@task
def store_year(
    num_worlds: int = 3,
    first_world: int = DEFAULT_SEED,
    rules: str = "paper",
    num_days: int = 365,
    max_turns: int = 4000,
) -> Task:
    """Return the task: ``num_worlds`` years, in the worlds of consecutive seeds.

    The world of the default seed is public; choose another ``first_world`` to measure a model that may know it.
    """
    samples = [
        Sample(
            input=f"Run the store for {num_days} days.",
            id=f"year-{place}",
            metadata={"world_seed": first_world + place},
        )
        for place in range(num_worlds)
    ]
    return Task(dataset=samples, solver=run_store(rules, num_days, max_turns), scorer=final_assets())
