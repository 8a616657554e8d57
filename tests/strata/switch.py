"""What a table is made of, and whether release() has left anything behind."""

from __future__ import annotations

import psycopg


def method(conn: psycopg.Connection, table: str = "t") -> str:
    return conn.execute(
        "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam"
        " WHERE c.oid = %s::regclass",
        [table],
    ).fetchone()[0]


def depends(conn: psycopg.Connection, table: str = "t") -> int:
    """Dependencies of the table on access methods that are not the server's."""
    return conn.execute(
        "SELECT count(*) FROM pg_depend WHERE classid = 'pg_class'::regclass"
        " AND objid = %s::regclass AND refclassid = 'pg_am'::regclass",
        [table],
    ).fetchone()[0]


def nothing_left(conn: psycopg.Connection, table: str) -> None:
    """Of a heap table nothing is ours any more, and the server finds it sound."""
    assert depends(conn, table) == 0
    labels = conn.execute(
        "SELECT * FROM pg_seclabels WHERE objoid = %s::regclass", [table]
    ).fetchall()
    assert labels == []
    (toast,) = conn.execute(
        "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = %s::regclass",
        [table],
    ).fetchone()
    if toast != "-":
        entries = conn.execute(
            f"SELECT chunk_id, chunk_seq FROM {toast} WHERE chunk_id < 10000"
        ).fetchall()
        assert entries == []
    if conn.execute(
        "SELECT FROM pg_available_extensions WHERE name = 'amcheck'"
    ).fetchall():
        # on a standby the primary's
        if not conn.execute(
            "SELECT FROM pg_extension WHERE extname = 'amcheck'"
        ).rowcount:
            conn.execute("CREATE EXTENSION amcheck SCHEMA public")
        assert (
            conn.execute(
                "SELECT * FROM verify_heapam(%s::regclass)", [table]
            ).fetchall()
            == []
        )
        conn.execute(
            "SELECT bt_index_check(indexrelid, true) FROM pg_index i"
            " JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam"
            " WHERE indrelid = %s::regclass AND amname = 'btree' AND indisvalid",
            [table],
        )
