"""Vector hash joins by integers that lie close together, far apart, or at the ends of
their type: the same rows as heap's."""

from __future__ import annotations

import pytest
from test_keyed import plan_of

LEAST = f"'{-(2**63)}'::bigint"
LARGEST = 2**63 - 1

KEYS = {
    "close": "SELECT i - 1000 AS k FROM generate_series(1, 5000) i",
    "shuffled": "SELECT (i * 7919 % 5003 - 2500) * 2 AS k FROM generate_series(1, 5000) i",
    "twice, and nulls": "SELECT nullif(i % 2500, 7) AS k FROM generate_series(1, 5000) i",
    "apart": "SELECT i::bigint * 1000003 AS k FROM generate_series(1, 5000) i",
    "all up to 4999": "SELECT 5000 - i AS k FROM generate_series(1, 20000) i",
    "all from 0": "SELECT i AS k FROM generate_series(0, 19999) i",
    "most up to 4999": "SELECT 5000 - i AS k FROM generate_series(1, 40000) i WHERE i % 3 > 0",
    "one": "SELECT 5 AS k",
    "none": "SELECT 5 AS k WHERE false",
    "least": f"SELECT {LEAST} + i AS k FROM generate_series(0, 99) i",
    "largest": f"SELECT {LARGEST} - i AS k FROM generate_series(0, 99) i",
    "both ends": f"VALUES ({LARGEST}), ({LEAST}), (0)",
}
# Looked for: what is in one of them, beside it, and far away.
ASKED = f"""SELECT i::bigint AS k, i AS n FROM generate_series(-6000, 6000) i
 UNION ALL SELECT {LEAST} + i, i FROM generate_series(0, 101) i
 UNION ALL SELECT {LARGEST} - i, i FROM generate_series(0, 101) i
 UNION ALL SELECT i::bigint * 1000003, i FROM generate_series(1, 100) i
 UNION ALL SELECT NULL, i FROM generate_series(1, 10) i"""
QUERIES = (
    "SELECT count(*), sum(n), sum(v) FROM {0}asked a JOIN {0}keys k ON a.k = k.k",
    "SELECT count(*), sum(n), sum(v) FROM {0}asked a LEFT JOIN {0}keys k ON a.k = k.k",
    "SELECT count(*), sum(n), sum(v) FROM {0}asked a FULL JOIN {0}keys k ON a.k = k.k",
    "SELECT count(*), sum(n) FROM {0}asked a WHERE EXISTS (SELECT FROM {0}keys k WHERE a.k = k.k)",
    "SELECT count(*), sum(n) FROM {0}asked a WHERE a.k NOT IN (SELECT k.k FROM {0}keys k)",
    "SELECT count(*), sum(n) FROM {0}asked a JOIN {0}keys k ON a.k::smallint = k.k"
    " WHERE a.k BETWEEN -6000 AND 6000",
)


@pytest.mark.parametrize("keys", KEYS)
def test_keys(conn, am, keys):
    for name, method in (("", am), ("heap_", "heap")):
        conn.execute(
            f"CREATE TABLE {name}keys (k bigint, v bigint) USING {method};"
            f"INSERT INTO {name}keys SELECT k.*, row_number() OVER () FROM ({KEYS[keys]}) k;"
            f"CREATE TABLE {name}asked (k bigint, n bigint) USING {method};"
            f"INSERT INTO {name}asked {ASKED}; ANALYZE {name}keys; ANALYZE {name}asked"
        )
    conn.execute("SET enable_mergejoin = off; SET enable_nestloop = off")
    vectors = 0
    for query in QUERIES:
        ours = query.format("")
        plan = plan_of(conn, ours)
        vectors += any("Join" in n.get("Custom Plan Provider", "") for n in plan)
        rows = conn.execute(ours).fetchall()
        assert rows == conn.execute(query.format("heap_")).fetchall(), query
    assert vectors >= 4
