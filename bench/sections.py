"""Sections of the report that more than one module speaks of."""

from __future__ import annotations

FIRST = "first"  # what the names of the summary's first steps begin with
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

# Of live: the data set and its summary, stages of it, writers, figures over time.
LIVE = "live"
FRESH = "fresh"
WRITTEN = "while written: median"
WORST = "while written: worst"
AFTER = "after the rest"
ANEW = "the same rows loaded anew"
LIVE_INDEX = "index range of 100 rows"
LIVE_WRITERS = "writers"
AVERAGE = "latency, average"
P99 = "latency, 99th percentile"
P999 = "latency, 99.9th percentile"
LAG = "worst lag"
OVER_TIME = ", over time"

# From heap and back, beside writers.
SWITCH = "switch"
ADOPT = "adopt, time"
BESIDE_ADOPT = "writers beside adopt: worst"
PEAK = "table and indexes, most beside {}, of heap's"
PERCENTILE = "writers {}: 99th percentile"

# Of clickbench, jsonbench, tpch and warehouse.
CLICKBENCH = "clickbench"
JSONBENCH = "jsonbench"
TPCH = "tpch"
WAREHOUSE = "warehouse"
COLD = "cold, serial"
HOT = "hot, serial"
HOT_PARALLEL = "hot, parallel"
PRIMARY = "primary keys, serial"
PRIMARY_PARALLEL = "primary keys, parallel"
FOREIGN = "foreign-key indexes, serial"
MORE_JSON = "other questions, serial"
# What the names of questions about whole documents begin with, and of those that are
# answered from documents put together.
WHOLE, MADE = "whole", "made"

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
