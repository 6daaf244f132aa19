"""Recorded conversations of a model with its store, as text."""
