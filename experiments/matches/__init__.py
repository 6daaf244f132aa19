"""Matches of two agents and tournaments of many."""
