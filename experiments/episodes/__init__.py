"""Suites of negotiations: played, kept, derived again and checked."""
