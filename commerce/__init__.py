"""Money: unit economics, bankroll sessions and the store year."""
