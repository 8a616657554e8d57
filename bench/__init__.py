"""Comparative benchmark: one data set, the same rows, many storage systems.

``bench/run`` (or ``make bench``) drives it; ``docs/benchmark.md`` tells how
to read what comes out.
"""
