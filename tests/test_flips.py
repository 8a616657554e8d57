"""Random bytes flipped in the files of a table, with the server's checksums off.

After each flip of one bit a new session reads the table by scans and by its indexes,
and verifies it where rows are wrong.  What may come of it: an error, a finding of
verify(), the right rows.  Nothing hangs.  Of bytes that are ours to check (what a
checksum of ours covers; zonemaps) nothing crashes the server, and those that a
checksum covers do not go unnoticed.  Other bytes (heap's pages, tuples and btrees)
are the server's, which trusts them without its checksums: what became of them is
told.

FLIPS=n is the number of flips for each access method; SEED chooses them.  All of it
happens in one server: the file is changed while nobody reads it, and what the server
has of it in memory is thrown out.
"""

from __future__ import annotations

import os
import random
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

FLIPS = int(os.environ.get("FLIPS", "60"))
BLOCK = 8192
ROWS = 4_000
AMS = ("colcompress", "rowcompress", "sorted_heap")

# In extent pages: from our header on, to the end of what the page holds.
HEADER_OFF, PAYLOAD_OFF = 24, 72
VERSION = (28, 31)  # of the layout: an older one is read alike
LENGTH_AT = 40 + 24  # of the payload
META_END = 80  # of the metapage, block 0


@dataclass
class File:
    name: str
    path: Path
    content: bytes
    ours: bool  # all of it: no damage crashes the server
    covered: list[tuple[int, int]] = field(default_factory=list)

    def is_covered(self, at: int) -> bool:
        return any(low <= at < high for low, high in self.covered)

    def choose(self, rng) -> int:
        """A byte: of those that are covered, or of all."""
        if self.covered and rng.random() < 0.7:
            low, high = rng.choice(self.covered)
            return rng.randrange(low, high)
        return rng.randrange(len(self.content))


class Table:
    """A table, a copy of its files, and what is in it."""

    def __init__(self, cluster, am: str) -> None:
        self.cluster, self.am = cluster, am
        self.sorted = am == "sorted_heap"
        self.files: list[File] = []
        self.outcomes: Counter = Counter()
        with cluster.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")
            conn.execute("CREATE EXTENSION pg_prewarm")
            self.fill(conn)
            self.queries = self.make_queries()
            conn.execute("CHECKPOINT")
            self.read_files(conn)
        with cluster.connect() as conn:
            self.expected = [self.ask(conn, query) for query in self.queries]

    def fill(self, conn) -> None:
        conn.execute(
            "CREATE TABLE t (id int, k int, v text, n numeric, at timestamptz, doc jsonb)"
            f" USING {self.am}"
        )
        kind = "zonemap" if self.sorted else "btree"
        conn.execute(f"CREATE INDEX ti ON t USING {kind} (id)")
        conn.execute(f"CREATE INDEX tv ON t USING {kind} (v)")
        if not self.sorted:
            conn.execute(
                f"SELECT {self.am}.set_options('t', auto_compact => 'off',"
                " row_group_rows => 1500)"
            )
        order = "md5(i::text)" if self.sorted else "i"
        conn.execute(
            "INSERT INTO t SELECT i, i % 13, md5(i::text), i / 7.0,"
            " '2026-01-01'::timestamptz + i * interval '1 minute',"
            " jsonb_build_object('a', i % 5, 'b', md5(i::text))"
            f" FROM generate_series(1, {ROWS}) i ORDER BY {order}"
        )
        conn.execute("DELETE FROM t WHERE id % 9 = 0")
        if not self.sorted:
            conn.execute(f"SET {self.am}.enable_bulk_delete = off")
            conn.execute("VACUUM (INDEX_CLEANUP on) t")
            conn.execute(f"SET {self.am}.enable_bulk_delete = on")
            conn.execute("DELETE FROM t WHERE id % 9 = 1")
        conn.execute("UPDATE t SET k = k + 1 WHERE id % 50 = 7")
        conn.execute("VACUUM (FREEZE, ANALYZE) t")

    def make_queries(self) -> list[str]:
        return [
            "SELECT count(*), sum(hashtextextended(t::text, 0))::text FROM t",
            "SELECT k, count(*), sum(n)::text, max(at)::text FROM t WHERE v > '4'"
            " GROUP BY k ORDER BY k",
            "/*+ index */ SELECT t::text FROM t WHERE id BETWEEN 900 AND 1000 ORDER BY id",
            "/*+ index */ SELECT id, doc->>'b' FROM t WHERE v BETWEEN '3a' AND '3c' ORDER BY v",
        ]

    def ask(self, conn, query: str) -> list:
        onoff = "off" if "index" in query else "on"
        conn.execute(f"SET enable_seqscan = {onoff}")
        if not self.sorted:
            conn.execute(f"SET {self.am}.enable_custom_scan = {onoff}")
        return conn.execute(query).fetchall()

    def read_files(self, conn) -> None:
        names = {"index ti": "'ti'::regclass", "index tv": "'tv'::regclass"}
        if not self.sorted:
            toast = "(SELECT reltoastrelid FROM pg_class WHERE relname = 't')"
            names["table"] = "'t'::regclass"
            names["TOAST"] = toast
            names["TOAST index"] = (
                f"(SELECT indexrelid FROM pg_index WHERE indrelid = {toast})"
            )
        for name, oid in names.items():
            path = conn.execute(f"SELECT pg_relation_filepath({oid})").fetchone()[0]
            path = self.cluster.data / path
            self.files.append(File(name, path, path.read_bytes(), self.sorted))
        if not self.sorted:
            self.find_covered(conn)

    def find_covered(self, conn) -> None:
        files = {file.name: file for file in self.files}
        table, toast = files["table"], files["TOAST"]
        for start, pages in conn.execute(
            f"SELECT start_block, pages FROM {self.am}.row_groups('t')"
        ).fetchall():
            for block in range(start, start + pages):
                at = block * BLOCK
                (length,) = struct.unpack_from("<I", table.content, at + LENGTH_AT)
                assert length <= BLOCK - PAYLOAD_OFF
                table.covered += [
                    (at + HEADER_OFF, at + VERSION[0]),
                    (at + VERSION[1] + 1, at + PAYLOAD_OFF + length),
                ]
        table.covered.append((HEADER_OFF, META_END))
        # descriptors, pieces and swaths have checksums; versions are in front of them
        (relation,) = conn.execute(
            "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 't'"
        ).fetchone()
        for tid, data in conn.execute(
            f"SELECT ctid::text, chunk_data FROM {relation}"
            " WHERE chunk_id BETWEEN 1000 AND 2999 AND length(chunk_data) > 24"
        ).fetchall():
            block, number = map(int, tid.strip("()").split(","))
            (pointer,) = struct.unpack_from(
                "<I", toast.content, block * BLOCK + 24 + 4 * (number - 1)
            )
            start, length = block * BLOCK + (pointer & 0x7FFF), pointer >> 17
            at = toast.content.find(data, start, start + length)
            if at >= 0:  # else it is compressed
                toast.covered.append((at, at + len(data)))

    # ---- flips ----

    def throw_out(self, keeper) -> None:
        """Pages of other relations take the place of ours in shared buffers."""
        for _ in range(2):
            keeper.execute("SELECT pg_prewarm('filler')")

    def write(self, file: File, at: int, byte: int) -> None:
        with open(file.path, "r+b") as handle:
            handle.seek(at)
            handle.write(bytes([byte]))

    def damage(self, keeper, file: File, at: int, byte: int) -> None:
        """Changes a byte; all others are what they were, whatever the server still
        had to write."""
        damaged = bytearray(file.content)
        damaged[at] = byte
        for _ in range(5):
            self.write(file, at, byte)
            self.throw_out(keeper)
            right = True
            for other in self.files:
                wanted = damaged if other is file else other.content
                if other.path.read_bytes() != wanted:
                    other.path.write_bytes(wanted)
                    right = False
            if right:
                return
        raise AssertionError("the server goes on to change the files")

    def look(self, conn) -> str:
        """What comes of a flip: "right", "error", "finding" or "wrong"."""
        errors = wrong = False
        for query, expected in zip(self.queries, self.expected, strict=True):
            try:
                if self.ask(conn, query) != expected:
                    wrong = True
            except UnicodeDecodeError:  # the driver's, of a wrong string
                wrong = True
            except psycopg.Error as error:
                self.judge(conn, error)
                errors = True
        if wrong:
            return "finding" if errors or self.finds(conn) else "wrong"
        return "error" if errors else "right"

    def finds(self, conn) -> bool:
        try:
            if self.sorted:
                return any(
                    conn.execute(
                        f"SELECT * FROM sorted_heap.zonemap_verify('{i}')"
                    ).fetchall()
                    for i in ("ti", "tv")
                )
            return bool(conn.execute(f"SELECT * FROM {self.am}.verify('t')").fetchall())
        except psycopg.Error as error:
            self.judge(conn, error)
            return True

    @staticmethod
    def judge(conn, error: psycopg.Error) -> None:
        """A lost connection is a crash, a timeout is a hang."""
        if conn.closed or error.sqlstate in (None, "57014", "57P02"):
            raise error

    def connect(self) -> psycopg.Connection:
        """Where the server is starting anew, a process of its own has met what an
        earlier flip had left in memory: this one is not read yet."""
        try:
            return self.cluster.connect()
        except psycopg.OperationalError:
            self.cluster.wait_ready()
            return self.cluster.connect()

    def flip(self, keeper, file: File, at: int, bit: int) -> None:
        what = f"{file.name}, byte {at} (block {at // BLOCK}, {at % BLOCK}), bit {bit}"
        covered = file.is_covered(at)
        self.damage(keeper, file, at, file.content[at] ^ 1 << bit)
        try:
            with self.connect() as conn:
                conn.execute("SET statement_timeout = '60s'")
                outcome = self.look(conn)
                if outcome == "right" and covered and self.finds(conn):
                    outcome = "finding"
        except psycopg.Error as error:
            if file.ours or covered or error.sqlstate == "57014":
                pytest.fail(f"{what}: {error}")
            outcome = "crash"
        if outcome in ("right", "wrong") and covered:
            pytest.fail(f"{outcome} rows, and nobody notices: {what}")
        self.write(file, at, file.content[at])
        self.outcomes[file.name, "covered" if covered else "not covered", outcome] += 1
        if outcome == "crash":
            self.cluster.wait_ready()


@pytest.mark.crash
@pytest.mark.long
@pytest.mark.parametrize("am", AMS)
def test_random_flips(make_cluster, server, am, capsys):
    if not server.has_extension(am):
        pytest.skip(f"{am} is not installed")
    cluster = make_cluster(
        "flips", start=False, shared_buffers="1MB", jit="off",
        max_connections="10", checkpoint_timeout="1h", bgwriter_lru_maxpages="0",
        max_parallel_workers_per_gather="0", max_prepared_transactions="0",
        log_error_verbosity="terse", log_min_messages="fatal",
    )  # fmt: skip
    server.run("pg_checksums", "--disable", "-D", cluster.data)
    cluster.start()
    with cluster.connect() as conn:
        conn.execute("CREATE TABLE filler (v text)")
        conn.execute("ALTER TABLE filler ALTER v SET STORAGE PLAIN")
        conn.execute(
            "INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 400)"
        )
        conn.execute("VACUUM (FREEZE) filler")
        (size,) = conn.execute("SELECT pg_relation_size('filler')").fetchone()
        assert size == 400 * BLOCK
    table = Table(cluster, am)
    rng = random.Random(f"{os.environ.get('SEED', 1)} {am}")
    keeper = cluster.connect()
    sizes = [len(file.content) for file in table.files]
    for _ in range(FLIPS):
        # half of them by size, half by file
        weights = sizes if rng.random() < 0.5 else [1] * len(sizes)
        (file,) = rng.choices(table.files, weights)
        at, bit = file.choose(rng), rng.randrange(8)
        if keeper.closed or keeper.broken:
            keeper = cluster.connect()
        try:
            table.flip(keeper, file, at, bit)
        except psycopg.OperationalError:
            # the server was not up again when the keeper asked
            cluster.wait_ready()
            keeper = cluster.connect()
            table.flip(keeper, file, at, bit)
    table.damage(keeper, table.files[0], 0, table.files[0].content[0])
    with cluster.connect() as conn:
        assert table.look(conn) == "right"
        assert not table.finds(conn)
    keeper.close()
    with capsys.disabled():
        print(f"\n{am}: {FLIPS} flips")
        for key, count in sorted(table.outcomes.items()):
            print("   ", *key, count, sep="  ")
