"""The reference has every function, view, type, option and setting of a server."""

from __future__ import annotations

import re

import pytest
from test_docs import ROOT

REFERENCE = (ROOT / "docs/reference.md").read_text()

# What operators, casts, aggregates, index methods and types are made of is
# described with them.
FUNCTIONS = """
SELECT DISTINCT p.proname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
JOIN pg_proc p ON p.oid = d.objid
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
AND d.deptype = 'e' AND e.extname = %s
AND p.oid NOT IN (SELECT oprcode FROM pg_operator)
AND p.oid NOT IN (SELECT oprrest FROM pg_operator)
AND p.oid NOT IN (SELECT oprjoin FROM pg_operator)
AND p.oid NOT IN (SELECT castfunc FROM pg_cast)
AND p.oid NOT IN (SELECT amproc FROM pg_amproc)
AND p.oid NOT IN (SELECT unnest(ARRAY[aggfnoid, aggtransfn, aggfinalfn, aggcombinefn,
    aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[])
    FROM pg_aggregate)
AND p.oid NOT IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend,
    typsubscript]::oid[]) FROM pg_type)
AND p.oid NOT IN (SELECT amhandler FROM pg_am)
AND p.pronamespace <> coalesce(to_regnamespace('zson_dict'), 0)
ORDER BY 1
"""

# Called by functions that are described (as all in schema zson_dict are).
PARTS = {
    "derive_zonemap_opclass",
    "estimate_advice",
    "estimate_sizes",
    "run_compaction",
}
RELATIONS = """
SELECT c.relname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
JOIN pg_class c ON c.oid = d.objid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass
AND d.deptype = 'e' AND e.extname = %s AND c.relkind = 'v'
"""
UNTOLD = """
SELECT pg_describe_object(d.classid, d.objid, 0)
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = %s
AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_type'::regclass,
    'pg_am'::regclass)
AND d.objid NOT IN (SELECT oid FROM pg_type WHERE typelem <> 0 OR typrelid <> 0)
AND obj_description(d.objid, d.classid::regclass::name) IS NULL
"""


@pytest.fixture(scope="module")
def known(module_db):
    """A connection to a database with all four extensions."""
    with module_db.connect() as conn:
        for name in ("colcompress", "rowcompress", "sorted_heap", "zson_dict"):
            conn.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
            conn.execute(f"LOAD '{name}'")
        yield conn


def missing(names: list[str]) -> list[str]:
    return [n for n in names if not re.search(rf"\b{re.escape(n)}\b", REFERENCE)]


@pytest.mark.parametrize(
    "extension", ["colcompress", "rowcompress", "sorted_heap", "zson_dict"]
)
def test_the_reference_is_complete(known, extension):
    def names(sql: str) -> list[str]:
        return [name for (name,) in known.execute(sql, [extension]).fetchall()]

    functions = names(FUNCTIONS)
    assert functions
    untold = set(missing(functions)) - PARTS
    assert not untold, "describe them in docs/reference.md, or name them in PARTS"
    assert missing(names(RELATIONS)) == []
    settings = names("SELECT name FROM pg_settings WHERE name LIKE %s || '.%%'")
    assert missing(settings) == []
    if extension in ("colcompress", "rowcompress"):
        known.execute(f"CREATE TEMP TABLE t (a int) USING {extension}")
        options = known.execute(f"SELECT name FROM {extension}.table_options('t')")
        found = [name for (name,) in options.fetchall()]
        assert found
        assert missing(found) == []
        known.execute("DROP TABLE t")


@pytest.mark.parametrize(
    "extension", ["colcompress", "rowcompress", "sorted_heap", "zson_dict"]
)
def test_everything_has_a_comment(known, extension):
    assert known.execute(UNTOLD, [extension]).fetchall() == []
