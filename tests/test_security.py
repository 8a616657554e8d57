"""What another role may plant where names are looked up, and that nobody calls it."""

from __future__ import annotations

import psycopg
import pytest

# Shadows of the server's own functions and operators of plain types, and
# operators of pairs of types that the server converts: all of them fail.
PLANT = """
CREATE SCHEMA evil;
CREATE FUNCTION evil.f_fail(what text) RETURNS void LANGUAGE plpgsql AS
	$f$ BEGIN RAISE 'planted % was called', what; END $f$;
DO $do$
DECLARE
	r record;
	n int := 0;
	body text := 'LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.f_fail(%L); END $f$';
BEGIN
	FOR r IN
		SELECT proname, pg_get_function_identity_arguments(oid) AS args, prorettype::regtype AS result
		FROM pg_proc
		WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
			AND provariadic = 0 AND pronargs > 0 AND proargmodes IS NULL
			AND EXISTS (SELECT FROM pg_type t WHERE t.oid = prorettype AND t.typtype = 'b')
			AND NOT EXISTS (SELECT FROM unnest(proargtypes::oid[]) a
				JOIN pg_type t ON t.oid = a WHERE t.typtype <> 'b')
	LOOP
		EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s ' || format(body, r.proname),
			r.proname, r.args, r.result);
	END LOOP;
	FOR r IN
		SELECT oprname AS op, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result
		FROM pg_operator
		WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
			AND oprname IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '~', '||')
			AND NOT EXISTS (SELECT FROM pg_type WHERE oid IN (oprleft, oprright, oprresult) AND typtype <> 'b')
		UNION
		SELECT op, a::regtype, b::regtype, 'bool'::regtype
		FROM unnest('{=,<>,<,<=,>,>=,+,-,*,/}'::text[]) op,
			unnest('{float4,float8,int4,int8}'::text[]) a, unnest('{float4,float8,int4,int8}'::text[]) b
		WHERE a LIKE 'f%' AND b LIKE 'i%' OR a LIKE 'i%' AND b LIKE 'f%'
	LOOP
		n := n + 1;
		EXECUTE format('CREATE FUNCTION evil.o_%s(%s, %s) RETURNS %s ' || format(body, 'operator ' || r.op),
			n, r.l, r.r, r.result);
		EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.o_%s)',
			r.op, r.l, r.r, n);
	END LOOP;
END $do$;
"""

STORE = """
CREATE TABLE public.t (id int PRIMARY KEY, v text) USING {am};
SELECT {am}.set_options('public.t', orderby => 'id');
INSERT INTO public.t SELECT i, 'row ' || i FROM generate_series(1, 5000) i;
DELETE FROM public.t WHERE id % 3 = 0;
CREATE TABLE public.p (at date, id int) PARTITION BY RANGE (at);
CREATE TABLE public.p1 PARTITION OF public.p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') USING heap;
CREATE TABLE public.p2 PARTITION OF public.p FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') USING heap;
INSERT INTO public.p SELECT date '2020-01-01' + i % 700, i FROM generate_series(1, 5000) i;
"""
STORE_CALLS = """
SELECT {am}.set_options('public.t', compression => 'lz4')
SELECT * FROM {am}.options
SELECT * FROM {am}.table_options('public.t')
SELECT * FROM {am}.tables
SELECT * FROM {am}.row_groups('public.t')
SELECT * FROM {am}.column_chunks('public.t')
SELECT * FROM {am}.verify('public.t')
SELECT * FROM {am}.jobs
CALL {am}.compact('public.t')
CALL {am}.merge('public.t')
SELECT {am}.set_policy('public.p', adopt_after => '1 day', compact_every => '0')
CALL {am}.run_policies()
CALL {am}.run_policies('public.p')
SELECT {am}.set_policy('public.p', drop_after => '1 day')
SELECT * FROM {am}.policies
SELECT * FROM {am}.policy_runs
SELECT * FROM {am}.health()
CALL {am}.run_policies()
SELECT {am}.remove_policy('public.p')
"""
SORTED = """
CREATE TABLE public.t (id int, v text) USING sorted_heap;
CREATE INDEX z ON public.t USING zonemap (id);
INSERT INTO public.t SELECT (i * 7919) % 5000, 'row ' || i FROM generate_series(1, 5000) i;
"""
SORTED_CALLS = """
SELECT sorted_heap.zonemap_stats('public.z')
SELECT sorted_heap.zonemap_verify('public.z')
SELECT sorted_heap.create_zonemap_opclass('money')
CALL sorted_heap.merge('public.t')
CALL sorted_heap.compact('public.t')
"""
ZSON = """
CREATE TABLE public.t (id int, doc public.zson);
INSERT INTO public.t SELECT i, jsonb_build_object('name', 'n' || i % 9, 'size', i)::text::public.zson
	FROM generate_series(1, 4000) i;
ANALYZE public.t;
"""
ZSON_CALLS = """
SELECT * FROM public.zson_learn('{{{{public.t,doc}}}}')
SELECT * FROM public.zson_retrain('public.t', 'doc', 0.0)
SELECT * FROM public.zson_info()
SELECT * FROM public.zson_stats('public.t', 'doc')
CALL public.zson_recompress('public.t', 'doc')
SELECT * FROM public.zson_train('public.t', 'doc')
SELECT public.zson_drop_dictionary(1)
"""


@pytest.mark.parametrize(
    ("extension", "setup", "calls"),
    [
        ("colcompress", STORE, STORE_CALLS),
        ("rowcompress", STORE, STORE_CALLS),
        ("sorted_heap", SORTED, SORTED_CALLS),
        ("zson_dict", ZSON, ZSON_CALLS),
    ],
)
def test_planted_functions_and_operators_are_not_called(
    make_cluster, extension, setup, calls
):
    """Of a schema that stands before the server's own in search_path."""
    cluster = make_cluster("planted")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {extension}")
        conn.execute(setup.format(am=extension))
        conn.execute(PLANT)
    with cluster.connect() as conn:
        conn.execute("SET search_path = evil, pg_catalog, public")
        for planted in ("SELECT 1 + 1", "SELECT 1::float4 > 1", "SELECT lower('A')"):
            with pytest.raises(psycopg.errors.RaiseException, match="was called"):
                conn.execute(planted)
        for call in calls.format(am=extension).strip().splitlines():
            try:
                conn.execute(call)
            except psycopg.Error as error:
                # a dictionary in use, an operator class that is there
                assert error.sqlstate in ("55006", "42710"), f"{call}: {error}"
    if "run_policies" in calls:
        with cluster.connect() as conn:
            assert conn.execute(
                f"SELECT partition, action, outcome, message FROM {extension}.policy_runs"
                " ORDER BY 1, 2"
            ).fetchall() == [
                (f"public.p{n}", action, "done", None)
                for n in (1, 2)
                for action in ("adopt", "drop", "merge")
            ]


# ---- who can see and do what (docs/security.md) ----

SECRET = "s3cret"


@pytest.fixture
def roles(db, am):
    """A table with a row that a policy hides; roles that may read nothing, one
    column, and what the policy shows."""
    conn = db.connect()
    names = {kind: f"{kind}_{db.name}" for kind in ("nothing", "column", "shown")}
    conn.execute(f"CREATE TABLE public.t (id int, v text) USING {am}")
    conn.execute(
        "INSERT INTO public.t SELECT i, CASE WHEN i = 4000 THEN %s ELSE 'v' || i END"
        " FROM generate_series(1, 5000) i",
        [SECRET],
    )
    conn.execute("ANALYZE public.t")
    for name in names.values():
        conn.execute(f"CREATE ROLE {name}")
        conn.execute(f"GRANT USAGE ON SCHEMA public TO {name}")
    conn.execute(f"GRANT SELECT (id) ON public.t TO {names['column']}")
    conn.execute(f"GRANT SELECT ON public.t TO {names['shown']}")
    conn.execute("ALTER TABLE public.t ENABLE ROW LEVEL SECURITY")
    conn.execute("CREATE POLICY p ON public.t USING (id <> 4000)")
    yield conn, names
    conn.execute("RESET ROLE")
    for name in names.values():
        conn.execute(f"DROP OWNED BY {name}")
        conn.execute(f"DROP ROLE {name}")


def seen(conn, sql: str) -> str:
    """What the statement gives, or the name of its error."""
    try:
        return str(conn.execute(sql).fetchall())
    except psycopg.Error as error:
        return type(error).__name__


def test_roles_see_and_change_what_they_may(roles, am):
    conn, names = roles
    reads = [
        f"SELECT * FROM {am}.column_chunks('public.t')",
        f"SELECT * FROM {am}.row_groups('public.t')",
        f"SELECT * FROM {am}.table_info('public.t')",
        f"SELECT * FROM {am}.tables",
        f"SELECT * FROM {am}.options",
        "SELECT * FROM pg_stats WHERE tablename = 't'",
        "EXPLAIN (ANALYZE, VERBOSE) SELECT id FROM public.t WHERE id = 4000",
        "SELECT id FROM public.t WHERE id = 4000",
        f"SELECT * FROM {am}.fingerprint('public.t')",
    ]
    changes = [
        f"SELECT {am}.set_options('public.t', level => 3)",
        f"SELECT * FROM {am}.verify('public.t')",
        f"CALL {am}.compact('public.t')",
        f"CALL {am}.merge('public.t')",
        f"SECURITY LABEL FOR {am} ON TABLE public.t IS 'level=3'",
        "VACUUM FULL public.t",
        "ALTER TABLE public.t SET ACCESS METHOD heap",
    ]
    whole = f"SELECT * FROM {am}.column_chunks('public.t') WHERE column_name = 'v'"
    before = seen(conn, whole)
    for kind, name in names.items():
        conn.execute(f"SET ROLE {name}")
        for sql in reads:
            assert SECRET not in seen(conn, sql), f"{kind}: {sql}"
        if kind == "nothing":
            for sql in (*reads[:3], reads[-1], reads[-2]):
                assert seen(conn, sql) == "InsufficientPrivilege", sql
            assert seen(conn, reads[3]) == "[]"
        elif kind == "shown":
            assert seen(conn, "SELECT count(*) FROM public.t") == "[(4999,)]"
        assert seen(conn, "SELECT id FROM public.t WHERE id = 4000") in (
            "[]",
            "InsufficientPrivilege",
        )
        for sql in changes:
            conn.execute(f"SET ROLE {name}")
            if sql.startswith("VACUUM"):  # a warning, as of heap
                conn.execute(sql)
            else:
                assert seen(conn, sql) == "InsufficientPrivilege", f"{kind}: {sql}"
        conn.execute("RESET ROLE")
    assert seen(conn, whole) == before

    # bounds, where no policy stands before them: of what the role may read
    conn.execute("ALTER TABLE public.t DISABLE ROW LEVEL SECURITY")
    conn.execute(f"SET ROLE {names['column']}")
    bounds = {row[3]: row[-2:] for row in conn.execute(reads[0]).fetchall()}
    assert bounds["id"] != (None, None)
    assert bounds["v"] == (None, None)


def test_a_leaky_function_sees_no_hidden_row(roles, am):
    """A condition of the query is not tested before that of the policy."""
    conn, names = roles
    conn.execute(
        "CREATE FUNCTION public.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
        " $$ BEGIN IF $1 = 's3cret' THEN RAISE 'seen'; END IF; RETURN true; END $$"
    )
    conn.execute(f"SET ROLE {names['shown']}")
    for query in (
        "SELECT count(*) FROM public.t WHERE leak(v)",
        "SELECT count(*) FROM public.t WHERE leak(v) AND id > 10",
        "SELECT sum(length(v)) FILTER (WHERE leak(v)) FROM public.t",
        "SELECT max(v) FROM public.t WHERE leak(v) GROUP BY id % 3",
    ):
        conn.execute(query).fetchall()
    assert conn.execute("SELECT count(*) FROM public.t WHERE v ~ '^s3'").fetchone() == (
        0,
    )
    conn.execute("RESET ROLE")
    with pytest.raises(psycopg.errors.RaiseException):  # of the owner, who sees it
        conn.execute("SELECT count(*) FROM public.t WHERE leak(v)")


def test_compaction_of_sorted_heap_asks_for_rights_before_a_lock(db):
    """Or a call that is refused would wait, and autovacuum be cancelled for it."""
    with db.connect() as owner, db.connect() as other:
        owner.execute("CREATE EXTENSION sorted_heap")
        owner.execute("CREATE TABLE public.t (id int) USING sorted_heap")
        owner.execute("CREATE INDEX ON public.t USING zonemap (id)")
        name = f"{db.name}_nobody"
        owner.execute(f"CREATE ROLE {name}")
        other.execute("SET lock_timeout = '1s'")
        other.execute(f"SET ROLE {name}")
        owner.execute("BEGIN")
        owner.execute("LOCK TABLE public.t IN SHARE UPDATE EXCLUSIVE MODE")
        for call in ("compact", "merge"):
            sql = f"CALL sorted_heap.{call}('public.t')"
            assert seen(other, sql) == "InsufficientPrivilege", call
        owner.execute("ROLLBACK")
        owner.execute(f"DROP ROLE {name}")
