"""A zonemap whose bytes, or whose surroundings, are not as they were left."""

from __future__ import annotations

import os
import struct

import psycopg
import pytest

BLOCK = 8192
LEVEL = BLOCK - 8  # of a page: in its special space


@pytest.fixture
def cluster(make_cluster):
    cluster = make_cluster("zones", ignore_checksum_failure="on")
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
    return cluster


def make(conn, rows: int, order: str) -> None:
    conn.execute("CREATE TABLE t (id bigint, v int)")
    conn.execute(
        f"INSERT INTO t SELECT g, 0 FROM generate_series(1, {rows}) g ORDER BY {order}"
    )
    conn.execute("CREATE INDEX ti ON t USING zonemap (id)")
    conn.execute("VACUUM (FREEZE, ANALYZE) t")
    conn.execute("CHECKPOINT")


def path_of(cluster, conn, name: str):
    query = f"SELECT pg_relation_filepath('{name}')"
    return cluster.data / conn.execute(query).fetchone()[0]


def by_index(conn) -> None:
    conn.execute("SET enable_seqscan = off")
    conn.execute("SET enable_bitmapscan = off")
    conn.execute("SET statement_timeout = '30s'")


def problems(conn) -> list[str]:
    query = "SELECT problem FROM sorted_heap.zonemap_verify('ti')"
    return [problem for (problem,) in conn.execute(query).fetchall()]


def test_an_entry_of_another_row(cluster):
    """A scan takes the row at an entry's TID; verify() looks at its key."""
    with cluster.connect() as conn:
        make(conn, 3000, "md5(g::text)")
        tids = dict(
            conn.execute("SELECT id, ctid::text FROM t WHERE id IN (77, 99)").fetchall()
        )
        conn.execute("DELETE FROM t WHERE id = 77")
        assert problems(conn) == []
        path = path_of(cluster, conn, "ti")

    def entry(tid: str) -> bytes:
        block, off = eval(tid)
        return struct.pack("<HHHHq", block >> 16, block & 0xFFFF, off, 16, 77)

    cluster.stop()
    content = path.read_bytes()
    assert content.count(entry(tids[77])) == 1
    path.write_bytes(content.replace(entry(tids[77]), entry(tids[99])))
    cluster.start()
    with cluster.connect() as conn:
        by_index(conn)
        assert conn.execute("SELECT id FROM t WHERE id = 77").fetchall() == [(99,)]
        (problem,) = problems(conn)
        assert "has another key" in problem


def test_a_page_of_a_wrong_level(cluster):
    """Descents do not end at it, and do not go on for ever."""
    with cluster.connect() as conn:
        make(conn, 30_000, "md5(g::text)")
        path = path_of(cluster, conn, "ti")
    cluster.stop()
    with open(path, "r+b") as file:
        file.seek(2 * BLOCK + LEVEL)
        assert file.read(4) == struct.pack("<I", 0)
        file.seek(2 * BLOCK + LEVEL)
        file.write(struct.pack("<I", 4))
    cluster.start()
    with cluster.connect() as conn:
        by_index(conn)
        for sql in ("SELECT * FROM t WHERE id = 1", "INSERT INTO t VALUES (1, 1)"):
            with pytest.raises(psycopg.errors.IndexCorrupted, match="links to pages"):
                conn.execute(sql)


def test_a_page_that_ends_before_it_begins(cluster):
    """Scans do not go in circles."""
    with cluster.connect() as conn:
        make(conn, 30_000, "md5(g::text)")
        path = path_of(cluster, conn, "ti")
    cluster.stop()
    content = bytearray(path.read_bytes())
    # the high key of the third leaf becomes a small one
    (pointer,) = struct.unpack_from("<I", content, 4 * BLOCK + 24)
    at = 4 * BLOCK + (pointer & 0x7FFF) + 8
    assert 100 < struct.unpack_from("<q", content, at)[0] < 30_000
    struct.pack_into("<q", content, at, 5)
    path.write_bytes(content)
    cluster.start()
    with cluster.connect() as conn:
        by_index(conn)
        with pytest.raises(psycopg.errors.IndexCorrupted, match="ends before"):
            conn.execute("SELECT count(v) FROM t WHERE id > 0")


def test_a_page_of_too_many_entries(cluster):
    """Arrays of VACUUM have room for as many as fit."""
    with cluster.connect() as conn:
        make(conn, 3000, "md5(g::text)")
        conn.execute("DELETE FROM t WHERE id % 2 = 0")
        path = path_of(cluster, conn, "ti")
    cluster.stop()
    with open(path, "r+b") as file:
        file.seek(BLOCK + 12)
        lower, upper = struct.unpack("<HH", file.read(4))
        file.seek(BLOCK + 12)
        file.write(struct.pack("<HH", 6000, max(upper, 6000)))
    cluster.start()
    with cluster.connect() as conn, pytest.raises(psycopg.errors.IndexCorrupted):
        conn.execute("VACUUM t")


def test_a_leaf_remembered_from_before_the_end_was_cut_off(cluster):
    """A session tries first the leaf of its last row.  If the index was cut off and
    an extension has failed since, an empty page may be in its place."""
    with cluster.connect() as conn, cluster.connect() as other:
        make(conn, 60_000, "md5(g::text)")
        path = path_of(cluster, conn, "ti")
        conn.execute("INSERT INTO t VALUES (60001, 1)")
        pages = path.stat().st_size
        other.execute("DELETE FROM t")
        other.execute("VACUUM t")
        other.execute("CHECKPOINT")
        assert path.stat().st_size < pages
        os.truncate(path, pages)
        for key in (60_002, 5, 60_003):
            conn.execute(f"INSERT INTO t VALUES ({key}, 1)")
        by_index(conn)
        found = conn.execute("SELECT id FROM t WHERE id > 0 ORDER BY id").fetchall()
        assert found == [(5,), (60_002,), (60_003,)]
        assert problems(conn) == []


def test_a_dead_key_that_vacuum_of_toast_has_removed(cluster):
    """A unique check reads the keys on a page.  That of a row which was dead before
    may go from TOAST at any moment, when an older transaction ends."""
    with cluster.connect() as conn, cluster.connect() as old:
        conn.execute("CREATE EXTENSION pg_surgery")
        conn.execute("CREATE TABLE t (k text, w text)")
        conn.execute("ALTER TABLE t ALTER k SET STORAGE EXTERNAL")
        conn.execute("ALTER TABLE t ALTER w SET STORAGE PLAIN")
        conn.execute("CREATE UNIQUE INDEX ti ON t USING zonemap (k)")
        key = "repeat(chr(97 + {}), 1200)"
        for i in (1, 2, 3):
            conn.execute(f"INSERT INTO t VALUES ({key.format(i)}, repeat('w', 1500))")
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT 1")
        conn.execute(f"DELETE FROM t WHERE k = {key.format(2)}")
        (toast,) = conn.execute(
            "SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 't'"
        ).fetchone()
        query = f"SELECT ctid::text FROM {toast}"
        gone = set(old.execute(query).fetchall()) - set(conn.execute(query).fetchall())
        assert gone
        # as if the old transaction had ended, and VACUUM come by, amid a check
        conn.execute(
            "SELECT heap_force_kill(%s::regclass, %s::text[]::tid[])",
            [toast, [tid for (tid,) in gone]],
        )
        conn.execute(f"INSERT INTO t VALUES ({key.format(4)}, repeat('w', 100))")
        with pytest.raises(psycopg.errors.UniqueViolation):
            conn.execute(f"INSERT INTO t VALUES ({key.format(3)}, '')")
        old.execute("ROLLBACK")
        assert problems(conn) == []


def touched(conn) -> int:
    """Pages of the table that were not in memory."""
    conn.execute("SELECT pg_stat_force_next_flush()")
    query = "SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 't'"
    return conn.execute(query).fetchone()[0]


def test_vacuum_does_not_read_pages_that_have_rows(cluster):
    """It tightens leaves, which are locked meanwhile, without a look at pages of which
    the free space map knows."""
    with cluster.connect() as conn:
        make(conn, 200_000, "g")
        (pages,) = conn.execute(
            "SELECT relpages FROM pg_class WHERE relname = 't'"
        ).fetchone()
        cluster.restart()
    with cluster.connect() as conn:
        before = touched(conn)
        conn.execute("VACUUM t")
        assert touched(conn) - before < pages / 4
        # but those that have become empty are seen
        conn.execute("DELETE FROM t WHERE id BETWEEN 50001 AND 150000")
        conn.execute("VACUUM t")
        holes = "SELECT holes FROM sorted_heap.zonemap_stats('ti')"
        zones = "SELECT zones FROM sorted_heap.zonemap_stats('ti')"
        assert conn.execute(holes).fetchone()[0] >= 1
        assert conn.execute(zones).fetchone()[0] < pages * 0.6
