"""INSERT, UPDATE, DELETE, savepoints, cursors: the same as heap, whether a row
lies in a row group or in the delta."""

from __future__ import annotations

import pytest
from strata.twin import Twin

BULK = 20_000


@pytest.fixture
def t(twin: Twin) -> Twin:
    """A table with a row group and some delta, keyed by a btree."""
    twin.ok("CREATE TABLE t (id int, grp int, amount numeric(12,2), note text)")
    twin.ok(
        "INSERT INTO t SELECT i, i % 50, i / 7.0, 'note ' || i % 300"
        f" FROM generate_series(1, {BULK}) i"
    )
    assert twin.row_groups() > 0
    for i in range(30):
        twin.ok("INSERT INTO t VALUES (%s, %s, 1, 'delta')", [BULK + i + 1, i % 7])
    return twin


def test_delete(t):
    t.ok("DELETE FROM t WHERE id % 10 = 3")
    t.check()
    t.ok("DELETE FROM t WHERE id % 10 = 3")
    t.ok("DELETE FROM t WHERE grp = 2 RETURNING id, note")
    t.check()
    t.ok("DELETE FROM t")
    t.check()
    t.ok("INSERT INTO t VALUES (1, 1, 1, 'again')")
    t.check()


def test_update(t):
    t.ok("UPDATE t SET amount = amount + 1 WHERE grp = 5")
    t.check()
    t.ok(
        "UPDATE t SET note = NULL, grp = grp + 100 WHERE id BETWEEN 100 AND 120 RETURNING *"
    )
    t.check()
    t.ok("UPDATE t SET amount = -amount")
    t.check()
    t.ok("UPDATE t SET amount = 0 WHERE false")
    t.check()


def test_repeated_changes_of_the_same_rows(t):
    for round_ in range(5):
        t.ok("UPDATE t SET amount = amount + 1 WHERE id BETWEEN 5000 AND 5050")
        t.ok("DELETE FROM t WHERE id = %s", [5000 + round_])
        t.check()


def test_update_from_join_and_subqueries(t):
    t.ok(
        "UPDATE t SET note = s.note FROM (SELECT id + 1 AS id, note FROM t WHERE grp = 9) s WHERE t.id = s.id"
    )
    t.check()
    t.ok("DELETE FROM t USING t other WHERE t.id = other.id + 5 AND other.grp = 11")
    t.check()
    t.ok(
        "WITH gone AS (DELETE FROM t WHERE grp = 3 RETURNING *) INSERT INTO t SELECT id + 100000, grp, amount, note FROM gone"
    )
    t.check()
    t.ok(
        "WITH moved AS (UPDATE t SET grp = grp + 1 WHERE grp = 4 RETURNING id) SELECT count(*), min(id), (SELECT count(*) FROM t WHERE grp = 4) FROM moved"
    )
    t.check()


def test_two_updates_of_one_row_by_one_statement(t):
    """A row that joins twice is updated once."""
    t.ok("UPDATE t SET amount = 5 FROM (VALUES (1), (1)) v (id) WHERE t.id = v.id")
    t.check()
    t.ok("DELETE FROM t USING (VALUES (2), (2)) v (id) WHERE t.id = v.id")
    t.check()


def test_indexes_follow_changes(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok("CREATE INDEX ON t (grp, amount)")
    t.ok("CREATE INDEX ON t USING hash (note)")
    t.ok("CREATE INDEX ON t (lower(note)) WHERE grp < 10")
    t.check()
    t.ok("UPDATE t SET grp = grp + 7 WHERE id % 11 = 0")
    t.check()
    t.ok("DELETE FROM t WHERE id % 13 = 0")
    t.check()
    t.ok("UPDATE t SET amount = amount * 2 WHERE id < 500")
    t.check()
    t.same("SELECT * FROM t WHERE id = 700")
    t.same("SELECT * FROM t WHERE id IN (1, 13, 26, 27, 20005, 99999)")
    t.fails("23505", "INSERT INTO t VALUES (700, 1, 1, 'again')")
    t.fails("23505", "UPDATE t SET id = 701 WHERE id = 700")
    t.check()


def test_key_arithmetic_that_shifts_all_rows(twin):
    """No false duplicate: a deferrable constraint checks at the end."""
    twin.ok("CREATE TABLE t (k int UNIQUE DEFERRABLE, v text)")
    twin.ok(f"INSERT INTO t SELECT i, i FROM generate_series(1, {BULK}) i")
    twin.ok("UPDATE t SET k = k + 1")
    twin.check()
    twin.fails("23505", "UPDATE t SET k = 5 WHERE k IN (8, 9)")
    twin.check()


def test_unique_violation_inside_of_one_bulk_load(twin):
    twin.ok("CREATE TABLE t (k int PRIMARY KEY)")
    twin.fails(
        "23505", f"INSERT INTO t SELECT i % 19000 FROM generate_series(1, {BULK}) i"
    )
    twin.check()
    twin.ok(f"INSERT INTO t SELECT i FROM generate_series(1, {BULK}) i")
    twin.fails(
        "23505", f"INSERT INTO t SELECT i FROM generate_series({BULK}, {2 * BULK}) i"
    )
    twin.check()
    twin.ok(
        f"INSERT INTO t SELECT i FROM generate_series({BULK - 50}, {BULK + 50}) i"
        " ON CONFLICT DO NOTHING"
    )
    twin.check()


def test_upsert(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    upsert = (
        "INSERT INTO t SELECT i, 1, 2, 'upsert' FROM generate_series(%s::int, %s) i"
        " ON CONFLICT (id) DO UPDATE SET note = t.note || '+', amount = excluded.amount"
        " RETURNING id, note"
    )
    t.ok(upsert, [BULK - 20, BULK + 60])
    t.check()
    t.ok(upsert, [1, 15_000])
    t.check()
    t.fails(
        "21000",
        "INSERT INTO t VALUES (77, 1, 1, 'a'), (77, 2, 2, 'b')"
        " ON CONFLICT (id) DO UPDATE SET note = 'twice'",
    )
    t.check()


def test_merge(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok(
        "MERGE INTO t USING (SELECT i * 100 AS id FROM generate_series(1, 400) i) s"
        " ON t.id = s.id"
        " WHEN MATCHED AND t.grp = 0 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET note = 'merged'"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 1, 'new')"
    )
    t.check()


# ---- transactions ----


def test_rollback_of_everything(t):
    t.ok("BEGIN")
    t.ok("DELETE FROM t WHERE grp < 10")
    t.ok("UPDATE t SET amount = 0 WHERE grp = 20")
    t.ok(f"INSERT INTO t SELECT -i, 1, 1, 'new' FROM generate_series(1, {BULK}) i")
    t.check()
    t.ok("ROLLBACK")
    t.check()
    t.ok("DELETE FROM t WHERE grp = 1")
    t.check()


def test_commands_of_a_transaction_see_each_other(t):
    t.ok("BEGIN")
    for step in range(4):
        t.ok("UPDATE t SET amount = amount + 1 WHERE grp = 3")
        t.ok(
            f"INSERT INTO t SELECT i + {BULK * (step + 2)}, 3, 1, 'bulk' FROM generate_series(1, {BULK // 2}) i"
        )
        t.ok("INSERT INTO t VALUES (0, 3, 0, 'single')")
        t.ok("DELETE FROM t WHERE grp = 3 AND id %% 7 = %s", [step])
        t.check()
    t.ok("COMMIT")
    t.check()


def test_second_delete_of_a_transaction(t):
    t.ok("BEGIN")
    t.ok("DELETE FROM t WHERE id BETWEEN 1 AND 100")
    t.ok("DELETE FROM t WHERE id BETWEEN 50 AND 200")
    t.ok("COMMIT")
    t.check()


def test_savepoints(t):
    bulk = "INSERT INTO t SELECT -i, %s, 1, 'bulk' FROM generate_series(1, %s) i"
    t.ok("BEGIN")
    t.ok(bulk, [1, BULK])
    t.ok("SAVEPOINT a")
    t.ok("DELETE FROM t WHERE grp = 1")
    t.ok(bulk, [2, BULK])
    t.check()
    t.ok("SAVEPOINT b")
    t.ok("UPDATE t SET note = 'b' WHERE grp = 2")
    t.check()
    t.ok("ROLLBACK TO b")
    t.check()
    t.ok("RELEASE b")
    t.ok("ROLLBACK TO a")
    t.check()
    t.ok("DELETE FROM t WHERE grp = 4")
    t.ok("INSERT INTO t VALUES (0, 0, 0, 'after')")
    t.ok("RELEASE a")
    t.ok("COMMIT")
    t.check()


def test_rows_buffered_at_rollback_to_savepoint(t):
    """Rows that a bulk load has not written yet go and stay as they should."""
    t.ok("BEGIN")
    t.ok("CREATE TEMP TABLE more (n int) USING heap")
    for keep in (True, False, True):
        t.ok("SAVEPOINT s")
        t.ok(
            f"INSERT INTO t SELECT i, {int(keep)}, 1, 's' FROM generate_series(1, 12345) i"
        )
        t.ok("RELEASE s" if keep else "ROLLBACK TO s")
    t.check()
    t.ok("COMMIT")
    t.check()


def test_exception_blocks_of_plpgsql(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok(
        """
        DO $$
        BEGIN
            FOR i IN 1..200 LOOP
                BEGIN
                    INSERT INTO t VALUES (i * 150, 1, 1, 'plpgsql');
                    UPDATE t SET note = 'seen' WHERE id = i * 149;
                EXCEPTION WHEN unique_violation THEN
                    DELETE FROM t WHERE id = i;
                END;
            END LOOP;
        END $$
        """
    )
    t.check()


def test_error_in_the_middle_of_a_load(twin):
    twin.ok("CREATE TABLE t (a int CHECK (a < 19000))")
    insert = f"INSERT INTO t SELECT generate_series(1, {BULK})"
    twin.fails("23514", insert)
    twin.check()
    twin.ok("BEGIN")
    twin.ok("INSERT INTO t SELECT generate_series(1, 18000)")
    twin.ok("SAVEPOINT s")
    twin.fails("23514", insert)
    twin.ok("ROLLBACK TO s")
    twin.check()
    twin.ok("COMMIT")
    twin.check()


def test_prepared_transaction(t):
    for end in ("COMMIT PREPARED 'p{}'", "ROLLBACK PREPARED 'p{}'"):
        for schema, conn in t.conns.items():
            conn.execute("BEGIN")
            conn.execute("DELETE FROM t WHERE grp = 6")
            conn.execute(
                f"INSERT INTO t SELECT -i, 6, 1, 'p' FROM generate_series(1, {BULK}) i"
            )
            conn.execute("UPDATE t SET amount = 6 WHERE grp = 7")
            conn.execute(f"PREPARE TRANSACTION 'p{schema}'")
        t.check()
        for schema, conn in t.conns.items():
            conn.execute(end.format(schema))
        t.check()


def test_snapshot_of_another_session(t):
    """A REPEATABLE READ snapshot sees nothing of later commits; READ COMMITTED
    sees all of them and nothing of what is not committed."""
    old, fresh = t.session(), t.session()
    old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.check()
    before = old.ok("SELECT count(*), sum(amount) FROM t").rows
    t.ok("BEGIN")
    t.ok("DELETE FROM t WHERE grp = 1")
    t.ok(f"INSERT INTO t SELECT -i, 1, 1, 'new' FROM generate_series(1, {BULK}) i")
    t.ok("UPDATE t SET amount = 0 WHERE grp = 2")
    assert fresh.ok("SELECT count(*), sum(amount) FROM t").rows == before
    fresh.check()
    t.ok("COMMIT")
    fresh.check()
    assert fresh.ok("SELECT count(*), sum(amount) FROM t").rows != before
    assert old.ok("SELECT count(*), sum(amount) FROM t").rows == before
    old.check()
    old.ok("COMMIT")
    old.check()


# ---- reading ----


def test_cursors(t):
    t.ok("BEGIN")
    t.ok("DECLARE c CURSOR FOR SELECT * FROM t ORDER BY id")
    t.ok("FETCH 100 FROM c", ordered=True)
    t.ok("DELETE FROM t WHERE id BETWEEN 90 AND 300")
    t.ok("FETCH 400 FROM c", ordered=True)
    t.ok("COMMIT")
    t.ok("BEGIN")
    t.ok("DECLARE s SCROLL CURSOR FOR SELECT * FROM t ORDER BY id")
    for fetch in (
        "FORWARD 500",
        "BACKWARD 200",
        "ABSOLUTE 7",
        "LAST",
        "PRIOR",
        "FIRST",
    ):
        t.ok(f"FETCH {fetch} FROM s", ordered=True)
    t.ok("DECLARE h CURSOR WITH HOLD FOR SELECT * FROM t WHERE grp = 12 ORDER BY id")
    t.ok("COMMIT")
    t.ok("DELETE FROM t WHERE grp = 12")
    t.ok("FETCH ALL FROM h", ordered=True)
    t.check()


def test_scroll_cursor_without_sort(t):
    """Backward over the scan itself: what came forward comes back."""
    conn = t.ours
    conn.execute("BEGIN")
    conn.execute("DECLARE c SCROLL CURSOR FOR SELECT id FROM t")
    there = conn.execute("FETCH FORWARD 3000 FROM c").fetchall()
    back = conn.execute("FETCH BACKWARD 3000 FROM c").fetchall()
    assert back == there[-2::-1]
    assert conn.execute("FETCH FORWARD 3000 FROM c").fetchall() == there
    conn.execute("ROLLBACK")


def test_where_current_of(t):
    t.ok("BEGIN")
    for i, lock in [
        (10, ""),
        (19000, "FOR UPDATE"),
        (BULK + 10, ""),
        (77, "FOR SHARE"),
    ]:
        t.ok(f"DECLARE c CURSOR FOR SELECT * FROM t WHERE id = {i} {lock}")
        t.ok("FETCH FROM c")
        t.ok("UPDATE t SET note = 'current' WHERE CURRENT OF c")
        t.ok("CLOSE c")
    t.ok("DECLARE c CURSOR FOR SELECT * FROM t WHERE id = 500")
    t.ok("FETCH FROM c")
    t.ok("DELETE FROM t WHERE CURRENT OF c")
    t.ok("COMMIT")
    t.check()


def test_joins_and_rescans(t):
    t.same(
        "SELECT count(*), sum(a.amount) FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.grp = 4"
    )
    t.same(
        "SELECT g, n FROM generate_series(1, 20) g,"
        " LATERAL (SELECT count(*) AS n FROM t WHERE grp = g AND id % 3 = g % 3) s"
    )
    t.same(
        "SELECT a.id, (SELECT max(b.amount) FROM t b WHERE b.grp = a.grp) FROM t a WHERE a.id < 30",
        plans=("any plan",),
    )
    t.same("SELECT * FROM t WHERE id = ANY (ARRAY[1, 5, 20001, NULL])")
    t.same(
        "SELECT * FROM t WHERE (id, grp) IN (SELECT id, grp FROM t WHERE note = 'note 7')"
    )


def test_tableoid_ctid_and_self_join_on_ctid(t):
    t.same("SELECT id FROM t WHERE tableoid = 't'::regclass")
    t.same("SELECT count(*) FROM t a JOIN t b ON a.ctid = b.ctid AND a.id = b.id")
    (ctid,) = t.ours.execute("SELECT ctid FROM t WHERE id = 777").fetchone()
    assert t.ours.execute(
        "SELECT id FROM t WHERE ctid = %s::tid", [ctid]
    ).fetchall() == [(777,)]
    t.same("SELECT count(*), count(xmin) FROM t")


def test_limit_offset_and_sample(t):
    t.same("SELECT * FROM t ORDER BY id LIMIT 10 OFFSET 19990")
    t.same("SELECT count(*) FROM (SELECT FROM t LIMIT 15000) s")
    t.same("SELECT count(*) FROM t TABLESAMPLE BERNOULLI (100)", plans=("any plan",))
    t.same("SELECT count(*) FROM t TABLESAMPLE SYSTEM (100)", plans=("any plan",))
    (half,) = t.ours.execute(
        "SELECT count(*) FROM t TABLESAMPLE BERNOULLI (50)"
    ).fetchone()
    assert BULK * 0.4 < half < BULK * 0.6


FILTERS = [
    "id = 5",
    "id <> 5",
    "id > 19990",
    "id BETWEEN 4000 AND 4010",
    "id IN (1, 2, 30000)",
    "id IS NULL",
    "amount > 2850",
    "amount = 1",
    "amount < 0 OR grp = 3",
    "note = 'note 5'",
    "note LIKE 'note 1%'",
    "note >= 'note 290'",
    "note IS NULL",
    "note = 'delta' AND grp = 2",
    "grp = 3 AND amount > 1000 AND note LIKE '%9'",
    "NOT (grp < 40)",
    "grp = (SELECT min(grp) FROM t)",
    "id = 5.0",
    "id = 5.5",
    "id > 19999::int8",
    "amount > 2850::float8",
    "note = 'note 5'::char(9)",
    "false",
    "NULL",
    "now() > '2000-01-01' AND id < 3",
    "COALESCE(grp, 0) = 1 AND id % 2 = 0",
]


@pytest.mark.parametrize("where", FILTERS)
def test_filter(t, where):
    t.same(f"SELECT * FROM t WHERE {where}")
    t.same(f"SELECT count(*), sum(id), min(note), max(amount) FROM t WHERE {where}")


def test_filters_with_parameters(t):
    """A generic plan prunes by the parameters of each execution."""
    for conn in t.conns.values():
        conn.execute("SET plan_cache_mode = force_generic_plan")
        conn.execute(
            "PREPARE q (int, int, text) AS SELECT * FROM t WHERE id BETWEEN $1 AND $2 OR note = $3"
        )
    for low, high, note in [
        (1, 5, "x"),
        (19990, 20040, "note 3"),
        (5, 1, "delta"),
        (0, 99999, ""),
    ]:
        t.ok(f"EXECUTE q ({low}, {high}, '{note}')")
    t.ok("EXECUTE q (NULL, 5, NULL)")
    t.ok("DELETE FROM t WHERE id = 3")
    t.ok("EXECUTE q (1, 5, 'x')")


AGGREGATES = [
    "SELECT count(*), count(note), sum(id), avg(id), min(id), max(id) FROM t",
    "SELECT sum(amount), avg(amount), min(amount), max(amount), stddev(amount) FROM t",
    "SELECT min(note), max(note), count(DISTINCT note) FROM t",
    "SELECT grp, count(*), sum(amount) FROM t GROUP BY grp",
    "SELECT note, grp, avg(amount) FROM t GROUP BY note, grp HAVING count(*) > 2",
    "SELECT grp, count(*) FILTER (WHERE id % 2 = 0) FROM t GROUP BY grp",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) FROM t",
    "SELECT DISTINCT grp, note LIKE '%1%' FROM t",
    "SELECT grp, sum(sum(id)) OVER (ORDER BY grp) FROM t GROUP BY grp",
    "SELECT grp % 3, note, count(*) FROM t GROUP BY GROUPING SETS ((1), (2), ())",
]


@pytest.mark.parametrize("query", AGGREGATES)
def test_aggregate(t, query):
    t.ok("DELETE FROM t WHERE id % 17 = 0")
    t.same(query)


# ---- DDL that moves rows ----


def test_truncate_and_its_rollback(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok("BEGIN")
    t.ok("TRUNCATE t")
    t.check()
    t.ok(f"INSERT INTO t SELECT i, 1, 1, 'new' FROM generate_series(1, {BULK}) i")
    t.check()
    t.ok("ROLLBACK")
    t.check()
    t.ok("TRUNCATE t")
    t.check()
    t.ok(f"INSERT INTO t SELECT i, 1, 1, 'new' FROM generate_series(1, {BULK}) i")
    t.check()


@pytest.mark.parametrize(
    "command", ["VACUUM t", "VACUUM FULL t", "VACUUM FREEZE t", "ANALYZE t"]
)
def test_maintenance_keeps_the_rows(t, command):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok("DELETE FROM t WHERE id % 5 = 0")
    t.ok("UPDATE t SET note = 'u' WHERE id % 7 = 0")
    for _ in range(2):
        t.ok(command)
        t.check()
    t.ok("INSERT INTO t SELECT i, 1, 1, 'new' FROM generate_series(50000, 70000) i")
    t.ok("UPDATE t SET note = 'v' WHERE id % 11 = 0")
    t.ok(command)
    t.check()


def test_cluster(t):
    t.ok("CREATE INDEX i ON t (note, id)")
    t.ok("DELETE FROM t WHERE id % 3 = 0")
    t.ok("CLUSTER t USING i")
    t.check()


def test_set_access_method_both_ways(t):
    t.ok("CREATE UNIQUE INDEX ON t (id)")
    t.ok("DELETE FROM t WHERE id % 3 = 0")
    for am in ("heap", t.am, "heap"):
        t.ours.execute(f"ALTER TABLE t SET ACCESS METHOD {am}")
        t.check()


def test_create_table_as_and_matview(t):
    t.ok("CREATE TABLE copy AS SELECT * FROM t WHERE grp < 45")
    t.check("copy")
    t.ok("CREATE MATERIALIZED VIEW v AS SELECT grp, count(*) AS n FROM t GROUP BY grp")
    t.ok("CREATE UNIQUE INDEX ON v (grp)")
    t.check("v")
    t.ok("DELETE FROM t WHERE grp = 4")
    t.ok("REFRESH MATERIALIZED VIEW v")
    t.check("v")
    t.ok("DELETE FROM t WHERE grp = 5")
    t.ok("REFRESH MATERIALIZED VIEW CONCURRENTLY v")
    t.check("v")


def test_create_table_as_of_a_parallel_query(t):
    for conn in t.conns.values():
        conn.execute(
            "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
        )
    t.ok("CREATE TABLE copy AS SELECT * FROM t")
    t.check("copy")


def test_temporary_table_on_commit_delete_rows(twin):
    twin.ok("CREATE TEMP TABLE t (a int PRIMARY KEY, b text) ON COMMIT DELETE ROWS")
    for round_ in range(3):
        twin.ok("BEGIN")
        twin.ok(
            f"INSERT INTO t SELECT i + {round_ * 100}, 'x' FROM generate_series(1, {BULK}) i"
        )
        twin.ok("DELETE FROM t WHERE a % 2 = 0")
        twin.check()
        twin.same("SELECT a FROM t WHERE a BETWEEN 100 AND 109")
        twin.ok("COMMIT")
        twin.check()


def test_unlogged_table(twin):
    twin.ok("CREATE UNLOGGED TABLE t (a int)")
    twin.ok(f"INSERT INTO t SELECT generate_series(1, {BULK})")
    twin.check()
    twin.ok("ALTER TABLE t SET LOGGED")
    twin.check()
    twin.ok("ALTER TABLE t SET UNLOGGED")
    twin.ok("DELETE FROM t WHERE a > 100")
    twin.check()


def test_partitions_and_inheritance(twin):
    twin.ok("CREATE TABLE t (a int, b text) PARTITION BY RANGE (a)")
    twin.ok("CREATE TABLE p1 PARTITION OF t FOR VALUES FROM (0) TO (10000)")
    twin.ok("CREATE TABLE p2 PARTITION OF t FOR VALUES FROM (10000) TO (30000)")
    twin.ok("CREATE TABLE p3 PARTITION OF t DEFAULT USING heap")
    twin.ok(f"INSERT INTO t SELECT i, 'b' FROM generate_series(-100, {BULK}) i")
    twin.check()
    twin.ok("UPDATE t SET a = a + 9000 WHERE a % 10 = 0")
    twin.check()
    twin.ok("DELETE FROM t WHERE a % 7 = 0")
    twin.check()
    twin.ok("ALTER TABLE t DETACH PARTITION p1")
    twin.check()
    twin.check("p1")


def test_copy_in_and_out(t, tmp_path):
    for options in ("", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT binary)"):
        data = {}
        for schema, conn in t.conns.items():
            with conn.cursor().copy(
                f"COPY (SELECT * FROM t ORDER BY id, grp, note) TO STDOUT {options}"
            ) as out:
                data[schema] = b"".join(out)
        assert data["ours"] == data["heap"]
        t.ok("CREATE TABLE target (LIKE t)")
        for conn in t.conns.values():
            with conn.cursor().copy(f"COPY target FROM STDIN {options}") as copy:
                copy.write(data["heap"])
        t.check("target")
        assert t.row_groups("target") > 0
        t.ok("DROP TABLE target")


def test_triggers_and_transition_tables(t):
    t.ok("CREATE TABLE audit (op text, n bigint, total numeric) USING heap")
    t.ok(
        """
        CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                INSERT INTO audit SELECT 'D', count(*), sum(amount) FROM o;
            ELSE
                INSERT INTO audit SELECT 'U', count(*), sum(n.amount - o.amount)
                FROM n JOIN o USING (id);
            END IF;
            RETURN NULL;
        END $$
        """
    )
    t.ok(
        "CREATE TRIGGER d AFTER DELETE ON t REFERENCING OLD TABLE AS o EXECUTE FUNCTION audit()"
    )
    t.ok(
        "CREATE TRIGGER u AFTER UPDATE ON t REFERENCING OLD TABLE AS o NEW TABLE AS n EXECUTE FUNCTION audit()"
    )
    t.ok(
        """
        CREATE FUNCTION each() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.id % 100 = 0 THEN RETURN NULL; END IF;
            NEW.note := OLD.note || '*';
            RETURN NEW;
        END $$
        """
    )
    t.ok("CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION each()")
    t.ok("UPDATE t SET amount = amount + 1 WHERE grp IN (0, 1)")
    t.ok("DELETE FROM t WHERE grp = 2")
    t.check()
    t.check("audit")


def test_foreign_keys_on_both_sides(twin):
    twin.ok("CREATE TABLE parent (id int PRIMARY KEY)")
    twin.ok(f"INSERT INTO parent SELECT generate_series(1, {BULK})")
    twin.ok("CREATE TABLE t (id int REFERENCES parent ON DELETE CASCADE, n int)")
    twin.ok(f"INSERT INTO t SELECT i % 5000 + 1, i FROM generate_series(1, {BULK}) i")
    twin.fails("23503", "INSERT INTO t VALUES (99999, 1)")
    twin.fails(
        "23503",
        f"INSERT INTO t SELECT i, 1 FROM generate_series({BULK - 15000}, {BULK + 1}) i",
    )
    twin.ok("DELETE FROM parent WHERE id IN (1, 2, 4999)")
    twin.check()
    twin.check("parent")


def test_generated_identity_and_default_columns(twin):
    twin.ok(
        "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, a int DEFAULT 7,"
        " twice int GENERATED ALWAYS AS (a * 2) STORED)"
    )
    twin.ok(f"INSERT INTO t (a) SELECT generate_series(1, {BULK})")
    twin.ok("INSERT INTO t DEFAULT VALUES")
    twin.ok("UPDATE t SET a = a + 1 WHERE id < 100")
    twin.check()


def test_row_level_security(t):
    for schema, conn in t.conns.items():
        conn.execute(f"CREATE ROLE reader_{schema}")
        conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}")
        conn.execute(f"GRANT SELECT, DELETE ON t TO reader_{schema}")
        conn.execute("CREATE POLICY p ON t USING (grp = 3)")
        conn.execute("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
        conn.execute(f"SET ROLE reader_{schema}")
    try:
        t.same("SELECT * FROM t WHERE amount < 1000")
        t.same("SELECT count(*), min(note) FROM t")
        t.ok("DELETE FROM t WHERE id < 5000")
    finally:
        for schema, conn in t.conns.items():
            conn.execute("RESET ROLE")
            conn.execute(f"DROP OWNED BY reader_{schema}; DROP ROLE reader_{schema}")
    t.check()


def test_two_tables_loaded_in_one_transaction(twin):
    """Pending rows of several tables, read and ended in any order."""
    for name in ("a", "b", "c"):
        twin.ok(f"CREATE TABLE {name} (i int, v text)")
    twin.ok("BEGIN")
    for name in ("a", "b", "c", "a"):
        twin.ok(
            f"INSERT INTO {name} SELECT i, '{name}' FROM generate_series(1, {BULK}) i"
        )
    twin.ok("INSERT INTO c SELECT * FROM a UNION ALL SELECT * FROM b")
    twin.ok("DROP TABLE b")
    twin.check("c")
    twin.ok("COMMIT")
    twin.check("a")
    twin.check("c")


def test_insert_reading_its_own_table(t):
    t.ok("INSERT INTO t SELECT id + 100000, grp, amount, note FROM t")
    t.check()
    t.ok("INSERT INTO t SELECT id + 1000000, grp, amount, note FROM t WHERE grp = 3")
    t.check()
