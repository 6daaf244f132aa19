"""The known-type dynamic program beside QuantEcon's: equal values on small games, and speed in one run.

``python -m tests.bench.solvers [GAMES]``. Small games are written out state by state, every offer history its own
state, and handed to QuantEcon as a discrete dynamic program with its round in the state. Speed is measured twice: on
such a game at full length, and on a memoryless one with N prices, M offers and K rounds, where no past offer matters
and the state is the standing price alone. There the transition is ``survival(offer) * law(price)``: loops and arrays
that know it multiply once, a general solver is given all N x M x N probabilities.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
from numba import njit
from quantecon.markov import DiscreteDP, backward_induction
from scipy import sparse

from oracle.known_type import offer_action_values, solve_on, standing_prices
from terms import kernel
from tests.oracle.twins import normal_law, numpy_backward_induction, tiny_problem

REPEATS = 5
NUM_GAMES = 50
NUM_PRICES, NUM_OFFERS, NUM_ROUNDS = 300, 50, 10


def written_out(problem, offers, prices, standing):
    """Return (DiscreteDP, number of the first state): states are (round, offers so far, price), 0 is the end."""
    params, horizon = problem.params, problem.params.horizon

    @cache
    def law(top, rate):
        return normal_law(prices, top, top - rate * top, params.noise_sd)

    numbers, queue = {None: 0}, []

    def number(state):
        if state not in numbers:
            numbers[state] = len(numbers)
            queue.append(state)
        return numbers[state]

    start = number((1, (), standing))
    pairs, rewards, entries = [(0, 0)], [0.0], [(0, 0, 1.0)]

    def add(state, action, reward, later):
        pairs.append((numbers[state], action))
        rewards.append(reward)
        entries.extend((len(pairs) - 1, number(each), mass) for each, mass in later)

    while queue:
        state = k, past, price = queue.pop()
        add(state, 0, max(0.0, problem.zopa - price), [(None, 1.0)])
        for action, x in enumerate(offers, start=1):
            if (past and x < past[-1]) or (k == horizon and not problem.is_final_answered):
                continue
            features = kernel.history_features(past, 1, params)
            gain = kernel.favourability(x, 0.0, 1, params.price_range)
            accepts = kernel.accept_prob(gain, problem.urgency, k, features, params)
            lives = (1 - accepts) * (1 - kernel.walk_prob(gain, k, params)) if k < horizon else 0.0
            later = [(None, 1.0 - lives)]
            if lives:
                rate = kernel.concession_rate(problem.urgency, features, params)
                weights = law(price, rate)
                later += [((k + 1, (*past, x), b), lives * w) for b, w in zip(prices, weights, strict=True) if w]
            add(state, action, accepts * (problem.zopa - x), later)
    rows, columns, masses = zip(*entries, strict=True)
    transitions = sparse.csr_matrix((masses, (rows, columns)), shape=(len(pairs), len(numbers)))
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    states, actions = np.array(pairs)[order].T
    return DiscreteDP(np.array(rewards)[order], transitions[order], 1.0, states, actions), start


def small_game(seed, num_offers=4, num_prices=5, horizon=3):
    """Return a random problem with its grids and the price that stands at the start."""
    rng = np.random.default_rng(seed)
    problem = tiny_problem(rng, horizon)
    offers = np.sort(np.append(rng.uniform(-20, problem.zopa, num_offers - 1), 0.0))
    inner = np.sort(rng.uniform(1, problem.ceiling, num_prices - 2))
    prices = np.concatenate([[0.0], inner, [problem.ceiling]])
    return problem, offers, prices, float(rng.choice(prices))


def difference(seed):
    """Return how far our value of one small game is from QuantEcon's."""
    problem, offers, prices, standing = small_game(seed)
    solution = solve_on(problem, offers, prices)
    ours = max(0.0, problem.zopa - standing, float(offer_action_values(solution, 1, (), standing).max()))
    program, start = written_out(problem, offers.tolist(), prices.tolist(), standing)
    values, _ = backward_induction(program, problem.params.horizon + 1)
    return abs(ours - float(values[0, start]))


@njit
def loops(accepts, gains, lives, law, stop, rounds):
    """Backward induction of the memoryless game in loops."""
    n, m = len(stop), len(gains)
    values, follow = np.zeros(n), np.zeros(n)
    for _ in range(rounds):
        for b in range(n):
            follow[b] = 0.0
            for c in range(n):
                follow[b] += law[b, c] * values[c]
        for b in range(n):
            best = stop[b]
            for j in range(m):
                best = max(best, accepts[j] * gains[j] + lives[j] * follow[b])
            values[b] = best
    return values


def arrays(accepts, gains, lives, law, stop, rounds):
    """The same in whole arrays, without use of the product form: every action has a transition of its own."""
    values = np.zeros(len(stop))
    transitions = lives[None, :, None] * law[:, None, :]
    for _ in range(rounds):
        values = np.maximum(stop, (accepts * gains + transitions @ values).max(axis=1))
    return values


def memoryless(n, m):
    """Return acceptance, gains, survival, price law and the value of stopping, of N prices and M offers."""
    zopa, reach, rate, sd = 25.0, 70.0, 0.15, 3.0
    prices, offers = np.linspace(0.0, reach, n), np.linspace(0.0, zopa, m)
    accepts = 1 / (1 + np.exp(1.0 - 8.0 * offers / 100))
    lives = (1 - accepts) * 0.97
    law = np.array([normal_law(prices.tolist(), b, b - rate * b, sd) for b in prices])
    return accepts, zopa - offers, lives, law, np.maximum(zopa - prices, 0.0)


def as_program(accepts, gains, lives, law, stop):
    """Return the memoryless game as a DiscreteDP: the last state is the end, the last action stops."""
    n, m = len(stop), len(gains)
    rewards, transitions = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1, n + 1))
    rewards[:n, :m], rewards[:n, m] = accepts * gains, stop
    transitions[:n, :m, :n] = lives[None, :, None] * law[:, None, :]
    transitions[:, :, n] = 1.0 - transitions[:, :, :n].sum(axis=2)
    return DiscreteDP(rewards, transitions, 1.0)


def _seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of ``run``, the first call left out: it compiles."""
    run()
    samples = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        samples.append(time.perf_counter() - begin)
    return statistics.median(samples)


def _print(label: str, text: str) -> None:
    sys.stdout.write(f"{label:52} {text}\n")


def compare_values(num_games: int) -> None:
    """Solve small games with both and stop with an error where they differ."""
    worst = max(difference(seed) for seed in range(num_games))
    _print(f"{num_games} small games, largest difference to QuantEcon", f"{worst:.1e}")
    if worst > 1e-9:
        raise SystemExit("QuantEcon and the known-type dynamic program differ")


def compare_speed_of_the_game() -> None:
    """Time all three on one game of six rounds, histories and all, without building the program."""
    problem = tiny_problem(np.random.default_rng(0), horizon=6)._replace(zopa=30.0)
    offers, prices = np.linspace(0.0, problem.zopa, 5), standing_prices(problem, 16)
    program, _ = written_out(problem, offers.tolist(), prices.tolist(), float(prices[-1]))
    ours = _seconds(lambda: solve_on(problem, offers, prices))
    twin = _seconds(lambda: numpy_backward_induction(problem, offers, prices), 1)
    other = _seconds(lambda: backward_induction(program, problem.params.horizon + 1))
    label = f"{len(offers)} offers, {len(prices)} prices, 6 rounds"
    size = f"{program.num_states:,} states written out"
    _print(label, f"ours {ours * 1e3:.1f} ms, NumPy {twin / ours:.0f} x, QuantEcon ({size}) {other / ours:.0f} x")


def compare_speed_without_memory() -> None:
    """Time loops, arrays and QuantEcon on the memoryless game, and check that they agree."""
    game = memoryless(NUM_PRICES, NUM_OFFERS)
    program = as_program(*game)
    found = [loops(*game, NUM_ROUNDS), arrays(*game, NUM_ROUNDS), backward_induction(program, NUM_ROUNDS)[0][0, :-1]]
    worst = max(float(np.abs(each - found[0]).max()) for each in found[1:])
    if worst > 1e-9:
        raise SystemExit(f"the three solvers differ by {worst:.1e} on the memoryless game")
    ours = _seconds(lambda: loops(*game, NUM_ROUNDS))
    whole = _seconds(lambda: arrays(*game, NUM_ROUNDS))
    other = _seconds(lambda: backward_induction(program, NUM_ROUNDS))
    label = f"memoryless, N = {NUM_PRICES}, M = {NUM_OFFERS}, K = {NUM_ROUNDS}"
    _print(
        label,
        f"compiled {ours * 1e3:.2f} ms, NumPy {whole * 1e3:.0f} ms ({whole / ours:.0f} x), "
        f"QuantEcon {other * 1e3:.0f} ms ({other / ours:.0f} x), largest difference {worst:.0e}",
    )


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "infinite horizon", UserWarning)  # ours is finite
    compare_values(int(sys.argv[1]) if len(sys.argv) > 1 else NUM_GAMES)
    compare_speed_of_the_game()
    compare_speed_without_memory()
