"""Sections of the report that more than one module speaks of."""

from __future__ import annotations

SERIAL = "serial"
PARALLEL = "parallel"
DELTA = "serial, a tenth in the delta, 1 in 100 deleted"
SPRINKLED = "serial, 1 in 1,000 deleted"
DOCUMENTS = "serial, documents by key"
WITH_KEYS = "serial, with key indexes"
WRITES = "writes"
POINTS = "point SELECT by key, TPS, prepared, 2 clients"

# Rows of the section POINTS.
CACHED = "all in memory"
STARVED = "memory for an eighth of heap's table"

# What follows a system's name where its table has deleted rows.
DELETED = ", 0.1 % deleted"
