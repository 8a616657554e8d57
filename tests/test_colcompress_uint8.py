"""colcompress.uint8 through COPY, in text and in binary."""

from __future__ import annotations

VALUES = [
    "0",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    None,
]


def copy(source, target, options: str) -> None:
    with (
        source.cursor().copy(f"COPY one TO STDOUT {options}") as out,
        target.cursor().copy(f"COPY two FROM STDIN {options}") as to,
    ):
        for data in out:
            to.write(data)


def test_copy(db):
    conn, other = db.connect(), db.connect()
    for table in ("one", "two"):
        conn.execute(
            f"CREATE TABLE {table} (k int, u colcompress.uint8) USING colcompress"
        )
    rows = [(k, VALUES[k % len(VALUES)]) for k in range(3000)]
    with conn.cursor().copy("COPY one FROM STDIN") as to:
        for row in rows:
            to.write_row(row)
    for options in ("", "(FORMAT binary)", "(FORMAT csv)"):
        conn.execute("TRUNCATE two")
        copy(conn, other, options)
        found = conn.execute("SELECT k, u::text FROM two ORDER BY k").fetchall()
        assert found == rows, options
