"""Bankroll sessions: chains of negotiations with cash and ruin, played into a folder, verified and summarised."""
