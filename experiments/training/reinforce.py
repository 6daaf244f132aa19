r"""REINFORCE on the compiled game: a small policy, and three ways to pay its moves.

A policy :math:`\pi_\theta(a \mid x)` is a softmax over numbered actions of one hidden layer on the vector of
:mod:`terms.vectors`. After a batch of whole episodes the gradient is

.. math:: \sum_t \nabla \log \pi_\theta(a_t \mid x_t)\,(G_t - \bar G_k) + \beta\, \nabla H(\pi_\theta(x_t)),

with :math:`\bar G_k` the batch mean of round ``k`` among episodes with the same opener. ``terminal`` pays
:math:`G_t = U`; ``exact`` adds the rewards of :mod:`oracle.batch_values` up from the move on,
:math:`G_t = U - \Phi(I_t)`; ``shuffled`` takes the potential of another episode of the batch in the same round, a
placebo with the same distribution. ``turn`` pays each move its own turn reward alone,
:math:`G_t = F_t = r_t + \Phi(I_{t+1}) - \Phi(I_t)`: where :math:`\Phi` is the optimum's value its mean is the
advantage of the move, so the best policy of every moment by itself is the best policy. All money is in shares of R.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from oracle.batch_game import BatchGame, TalkPool, draw_pool
from oracle.batch_values import BatchValues
from oracle.prior import Knowledge
from oracle.shipped import values_for
from terms.aliases import Floats, Ints
from terms.cells import suite_cells
from terms.config import Frozen, GameConfig
from terms.splits import SPLIT_SEEDS, Split
from terms.types import Family, Regime
from terms.vectors import VECTOR_FIELDS, VECTOR_SIZE

_OFFER, _ACCEPT, _REJECT = range(3)
_NEVER = -1e9
_OPENS, _STANDS, _OFFERED, _LAST_GAIN = (
    VECTOR_FIELDS.index(name)
    for name in ("agent opens", "a counterpart price stands", "an own offer was made", "gain at the last own offer")
)


class Credit(StrEnum):
    """How moves are paid."""

    TERMINAL = "terminal"
    EXACT = "exact"
    TURN = "turn"
    SHUFFLED = "shuffled"


class TrainSettings(Frozen):
    """Sizes of one training; ``highest_gain`` is the largest share of R that an offer can ask for."""

    regime: Regime = Regime.OVERLAP
    family: Family = Family.CANDID
    credit: Credit = Credit.EXACT
    num_updates: int = 300
    batch: int = 256
    hidden: int = 32
    num_gains: int = 25
    highest_gain: float = 0.6
    learning_rate: float = 0.01
    entropy: float = 0.003
    num_validation: int = 2000
    validate_every: int = 10
    seed: int = 0


class SoftmaxPolicy(NamedTuple):
    """Weights of a softmax policy with one hidden layer."""

    w1: Floats
    b1: Floats
    w2: Floats
    b2: Floats


class PlayedBatch(NamedTuple):
    """Every move of a batch: (moves,) arrays, ``x`` (moves, VECTOR_SIZE), ``allowed`` (moves, actions)."""

    x: Floats
    action: Ints
    episode: Ints
    round: Ints
    potential: Floats
    allowed: np.ndarray
    earned: Floats  # (episodes,), share of R
    efficiency: Floats  # (episodes,), share of the zopa


class CurvePoint(NamedTuple):
    """Mean surplus share on the validation episodes after so many training episodes, with its standard error."""

    num_episodes: int
    surplus_share: float
    standard_error: float


def new_policy(settings: TrainSettings, rng: np.random.Generator) -> SoftmaxPolicy:
    """Return a policy that chooses nearly at random."""
    num = settings.num_gains + 2
    first = rng.standard_normal((VECTOR_SIZE, settings.hidden)) / np.sqrt(VECTOR_SIZE)
    return SoftmaxPolicy(
        first, np.zeros(settings.hidden), 0.01 * rng.standard_normal((settings.hidden, num)), np.zeros(num)
    )


def allowed_actions(x: Floats, gains: Floats) -> np.ndarray:
    """Return which actions obey the rules, (n, actions): accept what stands, leave, and offers that do not go back."""
    allowed = np.ones((len(x), len(gains) + 2), dtype=bool)
    allowed[:, 0] = x[:, _STANDS] > 0
    allowed[:, 2:] = (x[:, [_OFFERED]] == 0) | (gains <= x[:, [_LAST_GAIN]] + 1e-6)
    return allowed


def probabilities(policy: SoftmaxPolicy, x: Floats, allowed: np.ndarray) -> tuple[Floats, Floats]:
    """Return the hidden layer (n, hidden) and the law of the actions (n, actions): accept, leave, then offers."""
    hidden = np.tanh(x @ policy.w1 + policy.b1)
    logits = hidden @ policy.w2 + policy.b2
    logits[~allowed] = _NEVER
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return hidden, weights / weights.sum(axis=1, keepdims=True)


def play_batch(
    policy: SoftmaxPolicy,
    pool: TalkPool,
    settings: TrainSettings,
    rng: np.random.Generator,
    values: BatchValues | None = None,
) -> PlayedBatch:
    """Play every episode of ``pool`` once with the policy; ``values``, of the same game, give the potentials."""
    n = pool.num_episodes
    game, everyone = BatchGame(pool, n) if values is None else values.game, np.arange(n)
    game.pool = pool
    game.begin(everyone, everyone)
    if values is not None:
        values.begin(everyone)
    gains = np.linspace(0.0, settings.highest_gain, settings.num_gains)
    at, parts = game.episodes, list[tuple[np.ndarray, ...]]()
    width = at.price_max - at.price_min
    while len(places := np.flatnonzero(game.running)):
        x = game.seen[places].astype(np.float64)
        allowed = allowed_actions(x, gains)
        _, law = probabilities(policy, x, allowed)
        action = (law.cumsum(axis=1) > rng.random((len(places), 1))).argmax(axis=1)
        potential = np.zeros(len(places)) if values is None else (values.value / width)[places]
        parts.append((x, action, places, game.round[places].copy(), potential, allowed))
        decision, price = np.full(n, _REJECT), np.zeros(n)
        decision[places] = np.where(action == 0, _ACCEPT, np.where(action == 1, _REJECT, _OFFER))
        asked = gains[np.maximum(action - 2, 0)] * width[places]
        price[places] = np.clip(at.own[places] - at.sign[places] * asked, at.price_min[places], at.price_max[places])
        game.step(decision, price)
        if values is not None:
            values.step(places)
    x, action, episode, rounds, potential, allowed = (np.concatenate(column) for column in zip(*parts, strict=True))
    zopa = np.where(game.zopa > 0, game.zopa, np.nan)
    return PlayedBatch(x, action, episode, rounds, potential, allowed, game.utility / width, game.utility / zopa)


def returns(played: PlayedBatch, credit: Credit, rng: np.random.Generator) -> Floats:
    """Return what each move is paid, less the mean of its round and opener."""
    potential = np.zeros(len(played.round)) if credit is Credit.TERMINAL else played.potential.copy()
    if credit is Credit.SHUFFLED:
        for k in np.unique(played.round):
            here = np.flatnonzero(played.round == k)
            potential[here] = potential[rng.permutation(here)]
    later = played.earned[played.episode]
    if credit is Credit.TURN:
        order = np.lexsort((played.round, played.episode))
        goes_on = np.flatnonzero(played.episode[order[1:]] == played.episode[order[:-1]])
        later[order[goes_on]] = potential[order[goes_on + 1]]
    paid = later - potential
    group = 2 * played.round + (played.x[:, _OPENS] > 0)
    means = np.bincount(group, weights=paid) / np.maximum(np.bincount(group), 1)
    return np.asarray(paid - means[group])


def gradient(policy: SoftmaxPolicy, played: PlayedBatch, paid: Floats, entropy: float) -> SoftmaxPolicy:
    """Return the gradient of the objective, a mean over moves."""
    hidden, law = probabilities(policy, played.x, played.allowed)
    logs = np.log(np.maximum(law, 1e-300))
    push = -law * paid[:, None] - entropy * law * (logs - (law * logs).sum(axis=1, keepdims=True))
    push[np.arange(len(paid)), played.action] += paid
    push /= len(paid)
    back = (push @ policy.w2.T) * (1 - hidden**2)
    return SoftmaxPolicy(played.x.T @ back, back.sum(axis=0), hidden.T @ push, push.sum(axis=0))


class Adam:
    """The usual step sizes (Kingma and Ba 2015), uphill."""

    def __init__(self, policy: SoftmaxPolicy, rate: float) -> None:
        self._rate, self._count = rate, 0
        self._mean, self._square = ([np.zeros_like(part) for part in policy] for _ in range(2))

    def step(self, policy: SoftmaxPolicy, slope: SoftmaxPolicy) -> SoftmaxPolicy:
        """Return the policy after one step along ``slope``."""
        self._count += 1
        out = []
        for i, (part, each) in enumerate(zip(policy, slope, strict=True)):
            self._mean[i] = 0.9 * self._mean[i] + 0.1 * each
            self._square[i] = 0.999 * self._square[i] + 0.001 * each**2
            mean, square = self._mean[i] / (1 - 0.9**self._count), self._square[i] / (1 - 0.999**self._count)
            out.append(part + self._rate * mean / (np.sqrt(square) + 1e-8))
        return SoftmaxPolicy(*out)


def train_policy(settings: TrainSettings) -> Iterator[tuple[SoftmaxPolicy, CurvePoint]]:
    """Train and yield the policy with its validation score every so many updates, from before the first on.

    Training draws from the training split's stream and validation from that of validation, so nothing learned from is
    ever measured on.
    """
    cells = suite_cells([settings.regime], [settings.family])
    rng = np.random.default_rng([SPLIT_SEEDS[Split.TRAIN].start, settings.seed])
    held_out = np.random.default_rng(SPLIT_SEEDS[Split.VALIDATION].start)
    validation = draw_pool(cells, settings.num_validation, rng=held_out)
    policy = new_policy(settings, rng)
    adam = Adam(policy, settings.learning_rate)
    first = draw_pool(cells, settings.batch, rng=rng)
    values = None
    if settings.credit is not Credit.TERMINAL:
        knowledge = Knowledge(GameConfig(), (settings.regime,), (settings.family,))
        values = BatchValues(BatchGame(first, settings.batch), values_for(knowledge))
    for update in range(settings.num_updates + 1):
        if update % settings.validate_every == 0:
            share = play_batch(policy, validation, settings, np.random.default_rng(1)).efficiency
            error = float(share.std(ddof=1) / np.sqrt(len(share)))
            yield policy, CurvePoint(update * settings.batch, float(share.mean()), error)
        pool = draw_pool(cells, settings.batch, rng=rng)
        played = play_batch(policy, pool, settings, rng, values)
        paid = returns(played, settings.credit, rng)
        policy = adam.step(policy, gradient(policy, played, paid, settings.entropy))


def episodes_to(curve: list[CurvePoint], share: float = 0.95) -> int | None:
    """Return the training episodes after which the curve stays at ``share`` of its own end or above, if ever."""
    target = share * float(np.mean([point.surplus_share for point in curve[-3:]]))
    below = [i for i, point in enumerate(curve) if point.surplus_share < target]
    after = below[-1] + 1 if below else 0
    return curve[after].num_episodes if after < len(curve) else None
