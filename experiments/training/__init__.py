"""Learning to negotiate: exact credit for every move in the compiled game, and the moves of the reference as data."""
