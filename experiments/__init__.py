"""What we ask, and who plays: agents, runs, statistics, reports and the ``terms`` command."""
