"""What writing leaves behind: small writes make delta, big ones row groups."""

from __future__ import annotations

import psycopg
import pytest
from strata.timing import ends_soon
from strata.twin import Twin
from strata.wait import wait_until

BULK = 20_000


@pytest.fixture
def t(twin: Twin) -> Twin:
    twin.ok("CREATE TABLE t (id int, v text)")
    return twin


@pytest.mark.slow
def test_100_000_single_row_inserts_leave_no_row_group(t, cluster):
    """Each its own transaction, by pgbench in the server's own protocol, and no
    worker that compacts them."""
    t.ours.execute(f"SELECT {t.am}.set_options('t', auto_compact => false)")
    counts = {}
    for schema in t.conns:
        script = f"INSERT INTO {schema}.t VALUES (:client_id, 'row')"
        cluster.run(
            "pgbench", "-n", "-c", 2, "-j", 2, "-t", 50_000, "-M", "prepared",
            "-f", "-", t.database.name, input=script, timeout=600,
        )  # fmt: skip
        counts[schema] = cluster_size(t, schema)
    assert t.row_groups() == 0
    t.check()
    assert counts["ours"] < 1.05 * counts["heap"]


def cluster_size(t: Twin, schema: str) -> int:
    (size,) = t.ours.execute(f"SELECT pg_table_size('{schema}.t')").fetchone()
    return size


def test_small_statements_write_delta(t):
    t.ok("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    t.ok("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 100) i")
    for conn in t.conns.values():
        with conn.cursor().copy("COPY t FROM STDIN") as copy:
            for i in range(50):
                copy.write_row((i, "copied"))
    assert t.row_groups() == 0
    t.check()


@pytest.mark.parametrize("way", ["select", "copy", "ctas", "matview", "rewrite"])
def test_bulk_loads_make_row_groups(t, way):
    source = f"SELECT i AS id, 'v' || i % 10 AS v FROM generate_series(1, {BULK}) i"
    name = "t"
    if way == "select":
        t.ok(f"INSERT INTO t {source}")
    elif way == "copy":
        for conn in t.conns.values():
            with conn.cursor().copy("COPY t FROM STDIN") as copy:
                for i in range(BULK):
                    copy.write_row((i, f"v{i % 10}"))
    elif way in ("ctas", "matview"):
        name = "made"
        kind = "TABLE" if way == "ctas" else "MATERIALIZED VIEW"
        t.ok(f"CREATE {kind} made AS {source}")
    else:
        t.ok(f"INSERT INTO t {source}")
        t.ok("VACUUM FULL t")
    assert t.row_groups(name) > 0
    t.check(name)


def test_row_groups_are_small_on_disk(t):
    t.ok(
        f"INSERT INTO t SELECT i, 'value ' || i % 30 FROM generate_series(1, {10 * BULK}) i"
    )
    assert cluster_size(t, "ours") * 8 < cluster_size(t, "heap")


def test_row_group_rows_option_splits_a_load(t):
    t.ours.execute(f"SELECT {t.am}.set_options('t', row_group_rows => 2048)")
    t.ok(f"INSERT INTO t SELECT i, 'x' FROM generate_series(1, {BULK}) i")
    rows = t.ours.execute(f"SELECT rows FROM {t.am}.row_groups('t')").fetchall()
    assert BULK * 0.9 <= sum(n for (n,) in rows) <= BULK
    assert max(n for (n,) in rows) <= 2048
    t.check()


def test_row_group_bytes_option_splits_a_load(t):
    """Wide rows end a group long before row_group_rows."""
    t.ours.execute(f"SELECT {t.am}.set_options('t', row_group_bytes => 1048576)")
    t.ok(
        f"INSERT INTO t SELECT i, repeat(md5(i::text), 32) FROM generate_series(1, {BULK}) i"
    )
    assert t.row_groups() >= 10
    t.check()


def test_orderby_option_sorts_a_rewrite(t):
    """All row groups in one order; a load keeps the order that rows came in."""
    t.ours.execute(f"SELECT {t.am}.set_options('t', orderby => 'v DESC, id')")
    t.ok(
        "INSERT INTO t SELECT i, 'v' || (i * 7919) % 1000"
        f" FROM generate_series(1, {BULK}) i"
    )
    t.ok("VACUUM FULL t")
    t.check()
    got = t.ours.execute(
        "SELECT v, id FROM t WHERE ctid >= '(2147483648,0)'::tid"
    ).fetchall()
    assert len(got) > BULK * 0.9
    by_id = sorted(got, key=lambda row: row[1])
    assert got == sorted(by_id, key=lambda row: row[0], reverse=True)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_codecs(t, compression):
    t.ours.execute(f"SELECT {t.am}.set_options('t', compression => %s)", [compression])
    t.ok(
        f"INSERT INTO t SELECT i, 'https://example.org/' || i FROM generate_series(1, {BULK}) i"
    )
    t.check()


def test_memory_of_a_load_is_bounded(t):
    """A load of 400 MB must not take 400 MB: the backend's peak is watched."""
    before = peak_memory(t.ours)
    t.ours.execute(
        "INSERT INTO t SELECT i, repeat(md5(i::text), 128) FROM generate_series(1, 100000) i"
    )
    grown = peak_memory(t.ours) - before
    assert grown < 300_000, f"peak memory grew by {grown} kB"


def peak_memory(conn) -> int:
    """Peak of a backend's memory without shared buffers' pages, in kB: its
    RssAnon cannot be reset, so this is the high water mark minus RssShmem."""
    with open(f"/proc/{conn.info.backend_pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["VmHWM"].split()[0]) - int(status["RssShmem"].split()[0])


def test_cancel_of_a_load(t):
    """A cancelled load leaves nothing, within a second."""
    t.ours.execute("SET statement_timeout = '700ms'")
    load = "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000000) i"
    with (
        ends_soon(t.ours, 3),
        pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"),
    ):
        t.ours.execute(load)
    t.ours.execute("RESET statement_timeout")
    t.check()
    t.ok(f"INSERT INTO t SELECT i, 'v' FROM generate_series(1, {BULK}) i")
    t.check()


def test_analyze_knows_the_number_of_rows(t):
    t.ours.execute("ANALYZE t")
    assert reltuples(t) == 0
    t.ok(f"INSERT INTO t SELECT i, 'v' FROM generate_series(1, {BULK}) i")
    for i in range(100):
        t.ok("INSERT INTO t VALUES (%s, 'delta')", [i])
    t.ok("DELETE FROM t WHERE id % 4 = 0")
    t.ours.execute("ANALYZE t")
    (count,) = t.ours.execute("SELECT count(*) FROM t").fetchone()
    assert abs(reltuples(t) - count) <= 0.01 * count
    t.ours.execute("VACUUM t")
    assert abs(reltuples(t) - count) <= 0.01 * count


def reltuples(t: Twin) -> float:
    (n,) = t.ours.execute(
        "SELECT reltuples FROM pg_class WHERE oid = 't'::regclass"
    ).fetchone()
    return n


def test_statistics_views_count_rows(t):
    t.ok(f"INSERT INTO t SELECT i, 'v' FROM generate_series(1, {BULK}) i")
    t.ok("DELETE FROM t WHERE id <= 5000")
    t.ok("UPDATE t SET v = 'u' WHERE id <= 6000")

    def counted():
        for conn in t.conns.values():
            conn.execute("SELECT pg_stat_clear_snapshot()")
        return all(
            conn.execute(
                "SELECT n_tup_ins, n_tup_del, n_tup_upd FROM pg_stat_user_tables"
                " WHERE relid = 't'::regclass"
            ).fetchone()
            == (BULK, 5000, 1000)
            for conn in t.conns.values()
        )

    wait_until(counted, "statistics of inserts, updates and deletes", 10)
