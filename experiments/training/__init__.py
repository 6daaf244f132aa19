"""Learning to negotiate in the compiled game, with and without exact credit for every move."""
