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


# ---- what stands there is what the server says ----

ALL = ("colcompress", "rowcompress", "sorted_heap", "zson_dict")
SECTIONS = {
    found[1]: found[2]
    for found in re.finditer(
        r"^## (\w+)\n(.*?)(?=^## |\Z)", REFERENCE, re.MULTILINE | re.DOTALL
    )
}
CELLS = re.compile(r"(?<!\\)(?<!`)\|(?!`)")


def tables(extension: str) -> list[tuple[list[str], list[list[str]]]]:
    """The section's tables: cells of the header, cells of the rows."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", SECTIONS[extension], re.MULTILINE):
        lines = [
            [cell.strip() for cell in CELLS.split(line)[1:-1]]
            for line in block.splitlines()
        ]
        found.append((lines[0], lines[2:]))
    return found


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def size(text: str) -> str:
    """64 kB, `64kB` and 64kB are the same."""
    return re.sub(r"\s+(?=[kMG]B)", "", text.replace("`", ""))


@pytest.mark.parametrize("extension", ALL)
def test_settings_are_the_servers(known, extension):
    """Type, range and default of every setting; whose change takes a reload."""
    told = {
        name: row[1:]
        for header, rows in tables(extension)
        if header[0] == "setting"
        for row in rows
        for name in quoted(row[0])
    }
    settings = known.execute(
        "SELECT name, vartype, unit, boot_val, enumvals, context,"
        " CASE WHEN unit = 'kB' THEN pg_size_pretty(min_val::bigint * 1024) ELSE min_val END,"
        " CASE WHEN unit = 'kB' THEN pg_size_pretty(max_val::bigint * 1024) ELSE max_val END,"
        " CASE WHEN unit = 'kB' THEN pg_size_pretty(boot_val::bigint * 1024) END"
        " FROM pg_settings WHERE name LIKE %s || '.%%'",
        [extension],
    ).fetchall()
    assert {row[0] for row in settings} == set(told)
    for name, vartype, unit, boot, enumvals, context, low, high, pretty in settings:
        kind, span, default, meaning = told[name]
        if vartype == "bool":
            assert (kind, quoted(span)) == ("boolean", ["on", "off"]), name
        elif vartype == "enum":
            assert (kind, quoted(span)) == ("enum", enumvals), name
        else:
            assert kind == ("memory" if unit else vartype), name
            assert size(span).replace("1GB", "1024MB") == f"{size(low)} to {size(high)}"
        assert size(default) == size(pretty or boot), name
        if context == "sighup" and "as colcompress's" not in meaning:
            assert "configuration file" in meaning, name


@pytest.mark.parametrize("extension", ("colcompress", "rowcompress"))
def test_options_are_the_libraries(known, extension):
    """Every option with the default that is in force."""
    told = {
        quoted(row[0])[0]: row[3]
        for header, rows in tables(extension)
        if header[0] == "option"
        for row in rows
    }
    known.execute(f"CREATE TEMP TABLE o (a int) USING {extension}")
    options = known.execute(
        f"SELECT name, default_value FROM {extension}.table_options('o')"
    ).fetchall()
    known.execute("DROP TABLE o")
    assert {name for name, _ in options} >= set(told)
    for name, default in options:
        if name in told and default is not None:
            assert default in size(told[name]) or name == "level", name


@pytest.mark.parametrize("extension", ALL)
def test_signatures_are_the_servers(known, extension):
    """Arguments of functions and procedures, by name and in their order."""
    calls = {
        (name, tuple(a.split()[0] for a in arguments.split(", ") if a))
        for row in (row for _, rows in tables(extension) for row in rows)
        for text in quoted(row[0])
        for name, arguments in re.findall(r"^(?:CALL )?(\w+)\((.*)\)$", text)
    }
    assert calls
    there = {}
    for name, names in known.execute(
        "SELECT proname, proargnames[:pronargs] FROM pg_proc p"
        " JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid"
        " JOIN pg_extension e ON e.oid = d.refobjid"
        " WHERE d.deptype = 'e' AND e.extname = %s",
        [extension],
    ).fetchall():
        there.setdefault(name, []).append(None if names is None else tuple(names))
    for name, arguments in calls:
        unnamed = None in there[name] and len(arguments) <= 1
        assert arguments in there[name] or unnamed, (name, there[name])


@pytest.mark.parametrize("extension", ALL)
def test_results_are_the_servers(known, extension):
    """Columns of what functions return and of views, with their types."""
    seen = 0
    for header, rows in tables(extension):
        names = quoted(header[0])
        if header[1:] != ["type", "meaning"] or not names:
            continue
        told = [
            (name, kind)
            for row in rows
            for name, kind in zip(
                quoted(row[0]),
                (row[1].split(", ") * 9)[: len(quoted(row[0]))],
                strict=True,
            )
        ]
        columns = known.execute(
            "SELECT a.name, format_type(a.type, NULL) FROM pg_proc p,"
            " unnest(proargnames, proallargtypes, proargmodes) a(name, type, mode)"
            " WHERE p.oid = (%s || '.' || %s)::regproc AND a.mode IN ('t', 'o')",
            [extension, names[0]],
        ).fetchall()
        assert [name for name, _ in told] == [name for name, _ in columns], names
        assert dict(told) == dict(columns), names
        seen += 1
    for view, columns in re.findall(
        rf"^- \*\*`{extension}\.(\w+)`\*\* \(([^)]*)\)",
        SECTIONS[extension],
        re.MULTILINE,
    ):
        there = [
            name
            for (name,) in known.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
                " AND attnum > 0 ORDER BY attnum",
                [f"{extension}.{view}"],
            )
        ]
        told = columns.replace("then the columns of `table_info`", "").split(", ")
        if told[-1] == "":
            del told[-1], there[len(told) :]
        assert told == there, view
        seen += 1
    assert seen or extension in ("rowcompress", "zson_dict")
