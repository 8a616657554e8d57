"""Zones of the expressions in `orderby`: what they leave unread, and never a row that passes."""

from __future__ import annotations

import platform
import struct

import psycopg
import pytest
from test_damage import BLOCK, HEADER_OFF, PAYLOAD, PAYLOAD_OFF, page_checksum, xxh3
from test_keyed import plan_of

ROWS = 12_000
SECTION = 0x315A4B53  # "SKZ1", common/format/sf_key.h
ORDER = (
    "(d->>'kind'), ((d->>'n')::bigint) DESC, lower(name), (f * 2), (d ? 'rare'),"
    " ((d->'m'->>'x')::numeric), (at + '1 day'::interval),"
    " (CASE WHEN id > 6000 THEN coalesce(d->>'n', 'none') END)"
)
DOCUMENTS = f"""SELECT g AS id,
    CASE WHEN g % 97 = 0 THEN NULL ELSE jsonb_build_object('kind', 'kind ' || g * 7919 % 12,
        'n', g * 7919 % {ROWS}, 'm', jsonb_build_object('x', g % 100 / 7.0))
        || CASE WHEN g % 50 = 0 THEN '{{"rare": 1}}' ELSE '{{}}' END::jsonb END AS d,
    CASE g % 501 WHEN 0 THEN float8 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN NULL ELSE g % 1000 END AS f,
    ('Name ' || repeat('x', g % 40) || g % 300)::varchar AS name,
    timestamp '2024-01-01' + g * interval '1 hour' AS at
    FROM generate_series(1, {ROWS}) g"""
CONDITIONS = [
    "d->>'kind' = 'kind 5'",
    "'kind 5' = d->>'kind'",
    "(d->>'kind') IN ('kind 3', 'kind 11', NULL)",
    "(d->>'kind') NOT IN ('kind 3', 'kind 11')",
    "(d->>'kind') <> 'kind 3'",
    "(d->>'kind') >= 'kind 7'",
    "(d->>'kind') COLLATE \"C\" >= 'kind 7'",
    "d->>'kind' LIKE 'kind 1%'",
    "d->>'kind' = 'none'",
    "d->>'kind' IS NULL",
    "d->>'kind' IS NOT NULL",
    "(d->>'kind' = 'kind 5' OR d->>'kind' = 'kind 6') AND id % 2 = 0",
    "d->>'kind' = 'kind 5' OR id = 7",
    "d->>'kind' = 'kind 5' OR d->>'other' = '7'",
    "NOT (d->>'kind' = 'kind 5')",
    "d->>'kind' = 'kind 5' AND (d->>'n')::bigint BETWEEN 100 AND 200",
    "(d->>'n')::bigint = 7919",
    "(d->>'n')::bigint = 7919.0",
    "(d->>'n')::bigint > 11990",
    "(d->>'n')::bigint = ANY (ARRAY[1, 2, 3])",
    "(d->>'n')::int = 7919",
    "lower(name) = 'name xxxxxxxxxxxxx13'",
    "lower(name) LIKE 'name xxxxxxxxxxxxxxxxxxxxxxxxxxx%'",
    "lower(name::text) = 'name 40'",
    "upper(name) = 'NAME 40'",
    "f * 2 = 1998",
    "f * 2 > 1990",
    "f * 2 = 'NaN'",
    "2 * f = 1998",
    "d ? 'rare'",
    "NOT d ? 'rare'",
    "(d ? 'rare') IS NOT TRUE",
    "(d->'m'->>'x')::numeric < 0.3",
    "at + '1 day'::interval < '2024-01-05'",
    "CASE WHEN id > 6000 THEN coalesce(d->>'n', 'none') END = 'none'",
]


@pytest.fixture
def tables(conn, am):
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    make_ours(conn, am, ORDER)
    conn.execute(f"CALL {am}.merge('ours_t')")
    conn.execute("ANALYZE heap_t")
    conn.execute("ANALYZE ours_t")


def make_both(conn, am: str, columns: str, order: str) -> None:
    """Rows of id, name and such columns of g; ours is merged in that order."""
    conn.execute(
        f"CREATE TABLE heap_t AS SELECT g AS id, g::text AS name, {columns}"
        f" FROM generate_series(1, {ROWS}) g"
    )
    make_ours(conn, am, order)
    conn.execute(f"CALL {am}.merge('ours_t')")


def make_ours(conn, am: str, order: str) -> None:
    conn.execute(f"CREATE TABLE ours_t (LIKE heap_t) USING {am}")
    conn.execute(
        f"SELECT {am}.set_options('ours_t', orderby => %s, row_group_rows => 2048)",
        (order,),
    )
    conn.execute("INSERT INTO ours_t SELECT * FROM heap_t ORDER BY id")


def scan_node(conn, query: str) -> dict:
    [(plan,)] = conn.execute(
        f"EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT JSON) {query}"
    ).fetchall()
    nodes = [plan[0]["Plan"]]
    for node in nodes:
        nodes += node.get("Plans", [])
    return next(
        node for node in nodes if node.get("Custom Plan Provider", "").endswith("Scan")
    )


def groups(conn, condition: str) -> tuple[int, int]:
    """Row groups that are left out, and that are read."""
    node = scan_node(conn, f"SELECT id, name FROM ours_t WHERE {condition}")
    return node["Row Groups"]["Pruned"], node["Row Groups"]["Read"]


def same(conn, am: str, conditions=CONDITIONS) -> None:
    query = (
        "SELECT count(*), sum(id), md5(string_agg(id || name, ',' ORDER BY id, name))"
        " FROM {} WHERE {}"
    )
    for condition in conditions:
        heap = conn.execute(query.format("heap_t", condition)).fetchone()
        for setting in ("on", "off"):
            conn.execute(f"SET {am}.enable_pruning = {setting}")
            ours = conn.execute(query.format("ours_t", condition)).fetchone()
            assert ours == heap, (condition, setting)
        conn.execute(f"RESET {am}.enable_pruning")


def verify(conn, am: str) -> list:
    return conn.execute(f"SELECT problem FROM {am}.verify('ours_t')").fetchall()


def test_results_and_what_is_read(conn, am, tables):
    same(conn, am)
    assert verify(conn, am) == []
    for condition in (
        "d->>'kind' = 'kind 5'",
        "d->>'kind' IN ('kind 0', 'kind 1')",
        "d->>'kind' LIKE 'kind 1%'",
        "d->>'kind' IS NULL",
    ):
        pruned, read = groups(conn, condition)
        assert pruned >= 3 and read >= 1, (condition, pruned, read)
    assert groups(conn, "d->>'kind' = 'none'")[1] == 0
    assert groups(conn, "d->>'other' = 'none'")[0] == 0
    node = scan_node(conn, "SELECT name FROM ours_t WHERE d->>'kind' = 'kind 0'")
    assert node["Row Groups"]["Read"] == 1
    if am == "colcompress":
        assert node["Vectors"]["Read"] == 1, node  # of two
    else:
        assert node["Batches"]["Pruned"] > node["Batches"]["Read"], node
    assert "kind 0" in str(node["Decided By Zones"]), node
    conn.execute("SET parallel_setup_cost = 0")
    conn.execute("SET parallel_tuple_cost = 0")
    conn.execute("SET min_parallel_table_scan_size = 0")
    same(conn, am)


def test_rows_that_change(conn, am, tables):
    conn.execute(
        f"CREATE TABLE more AS SELECT id + {ROWS}, d, f, name, at FROM heap_t"
        " WHERE id BETWEEN 50 AND 400"
    )
    for table in ("ours_t", "heap_t"):
        conn.execute(
            f"UPDATE {table} SET d = jsonb_set(d, '{{kind}}', '\"kind 5\"') WHERE id % 40 = 3"
        )
        conn.execute(f"DELETE FROM {table} WHERE id % 30 = 4")
        conn.execute(f"INSERT INTO {table} SELECT * FROM more")
        conn.execute(f"UPDATE {table} SET name = upper(name) WHERE id % 3 = 0")
    same(conn, am)
    conn.execute(f"CALL {am}.merge('ours_t')")
    same(conn, am)
    assert groups(conn, "d->>'kind' = 'kind 5'")[0] >= 3
    assert verify(conn, am) == []


def test_top_n(conn, am, tables):
    for order in ("(d->>'n')::bigint", "(d->>'n')::bigint DESC NULLS LAST", "f * 2"):
        query = f"SELECT {order.split(' ')[0]} FROM {{}} WHERE d->>'kind' = 'kind 5' ORDER BY {order} LIMIT 7"
        if order == "f * 2":
            query = f"SELECT f * 2 FROM {{}} ORDER BY {order} LIMIT 7"
        assert (
            conn.execute(query.format("ours_t")).fetchall()
            == conn.execute(query.format("heap_t")).fetchall()
        ), order
    conn.execute(
        f"SELECT {am}.set_options('ours_t', orderby => '((d->>''n'')::bigint)')"
    )
    conn.execute(f"CALL {am}.merge('ours_t')")
    query = "SELECT (d->>'n')::bigint, name FROM {} ORDER BY 1 LIMIT 5"
    assert (
        conn.execute(query.format("ours_t")).fetchall()
        == conn.execute(query.format("heap_t")).fetchall()
    )
    node = scan_node(conn, query.format("ours_t"))
    assert node["Row Groups"]["Read"] == 1, node


@pytest.mark.parametrize(
    ("collation", "by_bytes"), [("default", True), ("C", True), ("en-x-icu", False)]
)
def test_strings_of_a_collation(conn, am, collation, by_bytes):
    """Bounds, and the first ones of an order, by bytes where the collation sorts so:
    the database's is C.UTF-8, which glibc has from 2.35 on."""
    if collation == "default" and platform.libc_ver() < ("glibc", "2.35"):
        pytest.skip("no C.UTF-8 of glibc's")
    words = (
        "SELECT (ARRAY['a', 'B', 'é', 'Z', 'zz', '中'])[1 + g / 2000] || md5(g::text) AS t"
        " FROM generate_series(0, 11999) g"
    )
    column = f't text COLLATE "{collation}"'
    conn.execute(f"CREATE TABLE heap_w ({column})")
    conn.execute(f"CREATE TABLE ours_w ({column}) USING {am}")
    conn.execute(f"SELECT {am}.set_options('ours_w', row_group_rows => 2000)")
    for name in ("heap_w", "ours_w"):
        conn.execute(f"INSERT INTO {name} {words}")
        conn.execute(f"ANALYZE {name}")
    conn.execute(f"CALL {am}.merge('ours_w')")
    for query in (
        "SELECT count(*), min(t), max(t) FROM {} WHERE t >= 'b' AND t < 'zzf'",
        "SELECT count(*) FROM {} WHERE t < 'C'",
        "SELECT t FROM {} ORDER BY t LIMIT 5",
        "SELECT t FROM {} ORDER BY t DESC LIMIT 5",
    ):
        heap = conn.execute(query.format("heap_w")).fetchall()
        assert conn.execute(query.format("ours_w")).fetchall() == heap, query
        node = scan_node(conn, query.format("ours_w"))
        assert (node["Row Groups"]["Pruned"] > 0) == by_bytes, (query, node)


def test_row_groups_without_zones(conn, am):
    """They were loaded, or sorted by another expression: they are read."""
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    make_ours(conn, am, "(d->>'kind')")
    kind = "d->>'kind' = 'kind 5'"
    number = "(d->>'n')::bigint = 7919"
    assert groups(conn, kind)[0] == 0
    same(conn, am, [kind, number])
    # groups in order get zones, too
    conn.execute(f"SELECT {am}.set_options('ours_t', orderby => '(id + 0)')")
    conn.execute(f"CALL {am}.merge('ours_t')")
    assert groups(conn, "id + 0 = 77")[0] >= 3
    assert groups(conn, kind)[0] == 0
    conn.execute(
        f"SELECT {am}.set_options('ours_t', orderby => '((d->>''n'')::bigint), (d->>''kind'')')"
    )
    assert groups(conn, "id + 0 = 77")[0] == 0
    assert groups(conn, number)[0] == 0
    same(conn, am, [kind, number, "id + 0 = 77"])
    conn.execute("VACUUM FULL ours_t")
    assert groups(conn, number)[0] >= 3
    # the same expression in another place of the order, and none at all
    conn.execute(
        f"SELECT {am}.set_options('ours_t', orderby => 'name, ((d->>''n'')::bigint) DESC')"
    )
    assert groups(conn, number)[0] >= 3
    conn.execute(f"SELECT {am}.set_options('ours_t', reset => '{{orderby}}')")
    assert groups(conn, number)[0] == 0
    same(conn, am)
    assert verify(conn, am) == []


def test_columns_that_change_their_names(conn, am):
    """A zone belongs to columns by number: names may be those of others now."""
    make_both(conn, am, "g AS a, -g AS b", "(a + 1)")
    assert groups(conn, "a + 1 = 78")[0] >= 3
    for table in ("ours_t", "heap_t"):
        conn.execute(f"ALTER TABLE {table} RENAME a TO c")
        assert table == "heap_t" or groups(conn, "c + 1 = 78")[0] >= 3
        conn.execute(f"ALTER TABLE {table} RENAME b TO a")
    conn.execute(f"SELECT {am}.set_options('ours_t', orderby => '(a + 1)')")
    assert groups(conn, "a + 1 = -76")[0] == 0
    same(conn, am, ["a + 1 = -76", "a + 1 = 78", "c + 1 = 78"])
    for table in ("ours_t", "heap_t"):
        conn.execute(f"ALTER TABLE {table} DROP c")
        conn.execute(f"ALTER TABLE {table} ADD c int DEFAULT 5")
        conn.execute(f"INSERT INTO {table} VALUES (0, 'x', 77, 77)")
    conn.execute(f"SELECT {am}.set_options('ours_t', orderby => '(c + 1)')")
    same(conn, am, ["c + 1 = 78", "c + 1 = 6"])
    assert verify(conn, am) == []


def test_texts_that_depend_on_settings(conn, am):
    """The server calls the output of floats immutable: no zones of that."""
    make_both(conn, am, "g / 3.0::float8 AS f", "(f::text)")
    condition = "f::text = '0.333333333333333'"
    for digits in (1, 0):
        conn.execute(f"SET extra_float_digits = {digits}")
        same(conn, am, [condition])
    assert groups(conn, condition)[0] == 0


def test_dates_in_an_expression(conn, am):
    """An expression means the same whatever the DateStyle is."""
    conn.execute("SET DateStyle = 'SQL, DMY'")
    make_both(conn, am, "'2020-01-01'::date + g AS at", "(at - '02/01/2020'::date)")
    conn.execute("SET DateStyle = 'ISO, MDY'")
    assert groups(conn, "at - '2020-01-02'::date = 5")[0] >= 3
    assert groups(conn, "at - '2020-02-01'::date = 5")[0] == 0
    same(conn, am, ["at - '2020-01-02'::date = 5", "at - '2020-02-01'::date = 5"])


def test_zones_of_another_expression_are_found(make_cluster, am):
    """verify() computes expressions: the zones of two of them change places."""
    cluster = make_cluster("damage", ignore_checksum_failure="on")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(
            f"CREATE TABLE heap_t AS SELECT g AS id, g::text AS name"
            f" FROM generate_series(1, {ROWS}) g"
        )
        make_ours(conn, am, "(id + 1), (-id)")
        conn.execute(f"CALL {am}.merge('ours_t')")
        assert verify(conn, am) == []
        [(path,)] = conn.execute("SELECT pg_relation_filepath('ours_t')").fetchall()
        first = f"SELECT start_block, bytes FROM {am}.row_groups('ours_t') ORDER BY first_row LIMIT 1"
        start, size = conn.execute(first).fetchone()
    cluster.stop("fast")
    with open(cluster.data / path, "r+b") as file:
        pages = -(-size // PAYLOAD)
        file.seek(start * BLOCK)
        blocks = [bytearray(file.read(BLOCK)) for _ in range(pages)]
        image = bytearray(b"".join(block[PAYLOAD_OFF:] for block in blocks)[:size])
        at = image.rindex(struct.pack("<I", SECTION))
        keys = image[at + 16 :]
        assert len(keys) == struct.unpack_from("<I", image, at + 4)[0]
        assert xxh3(bytes(keys), SECTION) == struct.unpack_from("<Q", image, at + 8)[0]
        # both are short: one byte tells the length
        ids = [1, 1 + keys[0] + 1]
        assert max(keys[0], keys[keys[0] + 1]) < 128
        one, other = (bytes(keys[i : i + 8]) for i in ids)
        keys[ids[0] : ids[0] + 8], keys[ids[1] : ids[1] + 8] = other, one
        image[at + 16 :] = keys
        struct.pack_into("<Q", image, at + 8, xxh3(bytes(keys), SECTION))
        for number, block in enumerate(blocks):
            part = image[number * PAYLOAD : (number + 1) * PAYLOAD]
            block[PAYLOAD_OFF : PAYLOAD_OFF + len(part)] = part
            struct.pack_into("<Q", block, HEADER_OFF + 8, page_checksum(bytes(block)))
        file.seek(start * BLOCK)
        file.write(b"".join(blocks))
    cluster.start()
    with cluster.connect() as conn:
        problems = [problem for (problem,) in verify(conn, am)]
        assert any("expression of orderby" in problem for problem in problems), problems


def test_a_damaged_section_is_an_error(make_cluster, am):
    cluster = make_cluster("damage", ignore_checksum_failure="on")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(
            f"CREATE TABLE heap_t AS SELECT g AS id, g::text AS name"
            f" FROM generate_series(1, {ROWS}) g"
        )
        make_ours(conn, am, "(id + 1)")
        conn.execute(f"CALL {am}.merge('ours_t')")
        [(path,)] = conn.execute("SELECT pg_relation_filepath('ours_t')").fetchall()
        first = f"SELECT start_block, bytes FROM {am}.row_groups('ours_t') ORDER BY first_row LIMIT 1"
        start, size = conn.execute(first).fetchone()
    cluster.stop("fast")
    with open(cluster.data / path, "r+b") as file:
        at = (start + (size - 1) // PAYLOAD) * BLOCK
        file.seek(at)
        page = bytearray(file.read(BLOCK))
        page[PAYLOAD_OFF + (size - 1) % PAYLOAD] ^= 1
        struct.pack_into("<Q", page, HEADER_OFF + 8, page_checksum(bytes(page)))
        file.seek(at)
        file.write(page)
    cluster.start()
    with cluster.connect() as conn:
        assert conn.execute("SELECT count(name) FROM ours_t").fetchone() == (ROWS,)
        with pytest.raises(psycopg.errors.DataCorrupted):
            conn.execute("SELECT name FROM ours_t WHERE id + 1 = 5")
        assert any("expression" in problem for (problem,) in verify(conn, am))


def test_uuid_columns(conn, am):
    """Zones of columns, too: those of a uuid hold whole values, not a string's prefix."""
    conn.execute(
        "CREATE TABLE heap_t AS SELECT g AS id, nullif(g % 50, 7)::text AS name,"
        " lpad(to_hex(nullif(g, 5000)), 32, '0')::uuid AS u FROM generate_series(1, 8000) g"
    )
    make_ours(conn, am, "u")
    conditions = [
        f"u {op} lpad(to_hex({number}), 32, '0')::uuid"
        for op in ("<", "<=", "=", ">=", ">", "<>")
        for number in (0, 1, 1500, 7999, 8000, 8001)
    ]
    conditions += [
        "u IN (lpad('1000', 32, '0')::uuid, lpad('1f00', 32, '0')::uuid)",
        "u NOT IN (lpad('1000', 32, '0')::uuid, lpad('1f00', 32, '0')::uuid)",
        "u IS NULL",
    ]
    conn.execute("UPDATE heap_t SET name = '' WHERE name IS NULL")
    conn.execute("UPDATE ours_t SET name = '' WHERE name IS NULL")
    same(conn, am, conditions)
    pruned, read = groups(conn, "u = lpad('1000', 32, '0')::uuid")
    assert (pruned, read) == (3, 1)
    pruned, read = groups(conn, "u > lpad('1f00', 32, '0')::uuid")
    assert (pruned, read) == (3, 1)


def cost(conn, condition: str) -> float:
    return plan_of(conn, f"SELECT id FROM ours_t WHERE {condition}")[0]["Total Cost"]


def test_plans_know_what_zones_spare(conn, am):
    """Of sorted row groups."""
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    make_ours(conn, am, "(d->>'kind'), ((d->>'n')::bigint)")
    conn.execute(f"SELECT {am}.set_options('ours_t', row_group_rows => {ROWS})")
    kind, n = "d->>'kind' = 'kind 5'", "(d->>'n')::bigint > 50"
    conn.execute("VACUUM ANALYZE ours_t")
    loaded = [cost(conn, condition) for condition in (kind, n)]
    conn.execute("VACUUM (FULL, ANALYZE) ours_t")
    sorted_ = [cost(conn, condition) for condition in (kind, n)]
    assert sorted_[0] < loaded[0] / 2
    assert sorted_[1] > loaded[1] / 2


def test_plans_know_what_a_second_item_spares(conn, am):
    """Behind one value of the first, in sorted row groups, and nowhere else."""
    conn.execute(
        "CREATE TABLE heap_t AS SELECT g AS id, jsonb_build_object('kind', 'kind ' || g % 2,"
        f" 'n', g) AS d FROM generate_series(1, {ROWS}) g"
    )
    make_ours(conn, am, "(d->>'kind'), ((d->>'n')::bigint)")
    conn.execute(
        f"SELECT {am}.set_options('ours_t', row_group_rows => {ROWS});"
        "CREATE STATISTICS kinds ON (d->>'kind') FROM ours_t;"
        "CREATE STATISTICS numbers ON ((d->>'n')::bigint) FROM ours_t"
    )
    n = f"(d->>'n')::bigint > {ROWS - 500}"
    costs = {}
    for state, vacuum in (("loaded", "ANALYZE"), ("sorted", "FULL, ANALYZE")):
        conn.execute(f"VACUUM ({vacuum}) ours_t")
        for kinds in ("= 'kind 1'", "> 'a'"):
            kind = f"d->>'kind' {kinds}"
            costs[state, kinds] = (cost(conn, kind), cost(conn, f"{kind} AND {n}"))
    alone, both = costs.pop(("sorted", "= 'kind 1'"))
    assert both < 0.7 * alone
    assert all(both > alone for alone, both in costs.values())


SETTLED = [
    ("(at AT TIME ZONE 'EST')", "timezone_abbreviations = 'Australia'",
     "(at AT TIME ZONE 'EST') = (SELECT min(at AT TIME ZONE 'EST') FROM heap_t)"),
    ("(quote_ident(replace(lower(name), ' ', '')))", "quote_all_identifiers = on",
     "quote_ident(replace(lower(name), ' ', '')) = (SELECT min(quote_ident(replace(lower(name), ' ', ''))) FROM heap_t)"),
    ("(coalesce(c, 'x'))", "work_mem = '4MB'", "coalesce(c, 'x') = 'a' || repeat(' ', 60) || 'b'"),
    ("(coalesce(c, 'x'))", "work_mem = '4MB'", "coalesce(c, 'x') = 'a'"),
]  # fmt: skip


@pytest.mark.parametrize("order, setting, condition", SETTLED)
def test_values_that_zones_cannot_hold(conn, am, order, setting, condition):
    """They depend on settings, or on blanks behind what a zone keeps."""
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    conn.execute(
        "ALTER TABLE heap_t ADD c char(80);"
        "UPDATE heap_t SET c = CASE WHEN id % 2 = 0 THEN 'a' ELSE 'a' || repeat(' ', 60) || 'b' END"
    )
    make_ours(conn, am, order)
    conn.execute(f"CALL {am}.merge('ours_t')")
    conn.execute(f"SET {setting}")
    same(conn, am, [condition])


def test_an_expression_that_cannot_be_computed_beforehand(conn, am):
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    make_ours(conn, am, "(CASE WHEN id > 0 THEN id ELSE 1/0 END)")
    same(conn, am, ["id = 7", "CASE WHEN id > 0 THEN id ELSE 1 END = 7"])


@pytest.mark.parametrize(
    "order", ("(id OPERATOR(public.<+>) id)", "(length(to_tsvector('public.own'::regconfig, name)))")
)  # fmt: skip
def test_what_others_could_replace_is_refused(conn, am, order):
    conn.execute(f"CREATE TABLE heap_t AS {DOCUMENTS}")
    conn.execute(
        "CREATE OPERATOR public.<+> (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl);"
        "CREATE TEXT SEARCH CONFIGURATION public.own (COPY = pg_catalog.simple)"
    )
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        make_ours(conn, am, order)
