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

# Of zson: systems (jsonb is what the others are compared with), documents, points.
JSONB = "jsonb"
JSONB_LZ4 = "jsonb lz4"
ZSON = "zson"
BYTES = "bytes per document"
OF_LIMIT = "bytes per document, of the limit"
EXCESS = "most bytes more than jsonb"
MEMORY = "dictionaries of the session"
KEY_BY_ID = "one key by id, TPS"
LIMITED = "memory a quarter of jsonb's data"
PAGES = "pages read each"
