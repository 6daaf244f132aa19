"""Fitted best responses beside OpenSpiel's exact ones on its own tiny games: ``python -m tests.bench.responses``.

The opponent plays uniformly at random. What our response earns is worked out exactly by OpenSpiel.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from experiments.matches.best_response import Choose, KeyedMove, PlayedTalk, ResponderTable, fit_response

GAMES = {"kuhn_poker": 1500, "liars_dice(numdice=1,dice_sides=2)": 4000, "leduc_poker": 20_000}


def spiel_table(game, seat: int) -> ResponderTable:
    """Return the table of one seat of an OpenSpiel game against a uniform opponent."""

    def play(choose: Choose, number: int) -> PlayedTalk:
        rng, state, moves = np.random.default_rng([seat, number]), game.new_initial_state(), []
        while not state.is_terminal():
            if state.is_chance_node():
                actions, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(actions, p=chances)))
            elif state.current_player() == seat:
                allowed = tuple(state.legal_actions())
                key = state.information_state_string(seat)
                moves.append(KeyedMove(key, allowed, choose(key, allowed)))
                state.apply_action(moves[-1].action)
            else:
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.integers(len(actions)))])
        return PlayedTalk(tuple(moves), state.returns()[seat])

    return play


def main() -> None:
    """Print a line a game and seat."""
    import pyspiel
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import expected_game_score
    from open_spiel.python.algorithms.best_response import BestResponsePolicy

    class Fitted(policies.Policy):
        def __init__(self, game, response):
            super().__init__(game, [0, 1])
            self._response = response

        def action_probabilities(self, state, player_id=None):
            player = state.current_player() if player_id is None else player_id
            allowed = tuple(state.legal_actions(player))
            chosen = self._response.choose(state.information_state_string(player), allowed)
            return {action: float(action == chosen) for action in allowed}

    for name, num_plays in GAMES.items():
        game = pyspiel.load_game(name)
        uniform = policies.UniformRandomPolicy(game)
        for seat in range(2):
            exact = BestResponsePolicy(game, seat, uniform).value(game.new_initial_state())
            start = time.process_time()
            response = fit_response(spiel_table(game, seat), num_plays, rng=np.random.default_rng(0))
            pair = [Fitted(game, response) if player == seat else uniform for player in range(2)]
            earned = expected_game_score.policy_value(game.new_initial_state(), pair)[seat]
            sys.stdout.write(
                f"{name:36} seat {seat}  OpenSpiel {exact:9.6f}  fitted from {3 * num_plays:,} plays {earned:9.6f}  "
                f"{time.process_time() - start:.0f} s\n"
            )


if __name__ == "__main__":
    main()
