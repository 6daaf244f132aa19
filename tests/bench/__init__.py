"""Benchmarks, run with ``make bench``; ratios are taken within one run because machines drift."""
