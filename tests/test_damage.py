"""Damaged and future bytes: a clear error, never wrong rows.

The clusters ignore the server's own page checksums, so that what answers is
ours. Offsets are those of common/pg/README.md.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct

import psycopg
import pytest

BLOCK = 8192
PAYLOAD_OFF = 72  # of the image's bytes in an extent page
PAYLOAD = BLOCK - PAYLOAD_OFF
HEADER_OFF = 24  # of our own header
CHECKSUM_FROM = HEADER_OFF + 16
ROWS = 20_000


class Damaged:
    """A table on a cluster whose files are changed while it is down."""

    def __init__(self, cluster, am: str) -> None:
        self.cluster = cluster
        self.am = am
        with cluster.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")
            conn.execute(f"CREATE TABLE t (id int, v text, n numeric) USING {am}")
            conn.execute(
                "INSERT INTO t SELECT i, md5(i::text), i / 7.0"
                f" FROM generate_series(1, {ROWS}) i"
            )
            self.path = cluster.data / self.one(
                conn, "SELECT pg_relation_filepath('t')"
            )
            self.group = conn.execute(
                "SELECT first_row, start_block, pages, bytes, footer_bytes"
                f" FROM {am}.row_groups('t') ORDER BY 1 LIMIT 1"
            ).fetchone()

    @staticmethod
    def one(conn, sql: str):
        return conn.execute(sql).fetchone()[0]

    def change(self, edit) -> None:
        """edit(file) on the stopped cluster's file of the table."""
        self.cluster.stop("fast")
        with open(self.path, "r+b") as file:
            edit(file)
        self.cluster.start()

    def flip(self, offset: int) -> None:
        def edit(file) -> None:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 0x40]))

        self.change(edit)

    def error(self, sql: str) -> psycopg.Error:
        with self.cluster.connect() as conn, pytest.raises(psycopg.Error) as info:
            conn.execute(sql).fetchall()
        return info.value


@pytest.fixture
def table(make_cluster, am) -> Damaged:
    return Damaged(make_cluster("damage", ignore_checksum_failure="on"), am)


def test_any_flipped_byte_of_a_row_group_is_noticed(table, rng):
    _, start, pages, size, _ = table.group
    for _ in range(6):
        at = rng.randrange(size)
        block, within = start + at // PAYLOAD, PAYLOAD_OFF + at % PAYLOAD
        assert block < start + pages
        table.flip(block * BLOCK + within)
        error = table.error("SELECT id, v, n FROM t")
        assert error.sqlstate == "XX001", error
        assert f"block {block} " in str(error)
        with table.cluster.connect() as conn:
            found = conn.execute(
                f"SELECT problem FROM {table.am}.verify('t')"
            ).fetchall()
        assert any(f"block {block} " in problem for (problem,) in found), found
        table.flip(block * BLOCK + within)
        with table.cluster.connect() as conn:
            assert table.one(conn, "SELECT count(v) FROM t") == ROWS


def test_a_damaged_header_of_an_extent_page_is_noticed(table, rng):
    _, start, pages, _, _ = table.group
    # but for two bytes without meaning, behind the layout version
    within = rng.choice(
        [i for i in range(HEADER_OFF, PAYLOAD_OFF) if i not in (30, 31)]
    )
    at = (start + rng.randrange(pages)) * BLOCK + within
    table.flip(at)
    assert table.error("SELECT id, v, n FROM t").sqlstate in ("XX001", "0A000")


def test_a_damaged_metapage_is_noticed(table, rng):
    table.flip(rng.randrange(HEADER_OFF, 80))
    assert table.error("SELECT * FROM t").sqlstate in ("XX001", "0A000")


def xxh3(data: bytes, seed: int) -> int:
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_64bits_withSeed.restype = ctypes.c_uint64
    library.XXH3_64bits_withSeed.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint64,
    ]
    return library.XXH3_64bits_withSeed(data, len(data), seed)


def page_checksum(page: bytes) -> int:
    """As st_extent.c makes it."""
    first_row, _, pageno, _, length = struct.unpack_from("<QQIII", page, CHECKSUM_FROM)
    return xxh3(page[CHECKSUM_FROM : PAYLOAD_OFF + length], first_row + pageno)


def test_a_footer_of_a_future_version_is_refused(table):
    _, start, _, size, footer_bytes = table.group
    footer = size - footer_bytes

    def edit(file) -> None:
        file.seek((start + footer // PAYLOAD) * BLOCK)
        page = bytearray(file.read(BLOCK))
        assert struct.unpack_from("<Q", page, HEADER_OFF + 8)[0] == page_checksum(
            bytes(page)
        )
        struct.pack_into("<H", page, PAYLOAD_OFF + footer % PAYLOAD + 4, 99)
        struct.pack_into("<Q", page, HEADER_OFF + 8, page_checksum(bytes(page)))
        file.seek(-BLOCK, 1)
        file.write(page)

    table.change(edit)
    error = table.error("SELECT id FROM t")
    assert error.sqlstate == "0A000", error
    assert "version 99" in str(error)


def test_a_free_extent_over_a_row_group_is_reported(table):
    with table.cluster.connect() as conn:
        rows = f"SELECT i, md5(i::text), i / 7.0 FROM generate_series(1, {ROWS}) i"
        conn.execute("BEGIN")
        conn.execute(f"INSERT INTO t {rows}")
        assert table.one(conn, "SELECT count(*) FROM t") == 2 * ROWS
        conn.execute("ROLLBACK")
        conn.execute(f"INSERT INTO t {rows}")
        conn.execute("VACUUM (TRUNCATE off) t")
        assert conn.execute(f"SELECT * FROM {table.am}.verify('t')").fetchall() == []
        toast = table.one(
            conn,
            "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 't'::regclass",
        )
        seq, payload = conn.execute(
            f"SELECT chunk_seq, chunk_data FROM {toast} WHERE chunk_id = 5000"
        ).fetchone()
        path = table.cluster.data / table.one(
            conn, f"SELECT pg_relation_filepath('{toast}')"
        )
    table.cluster.stop("fast")
    # All copies: the page may keep what pruning has moved.
    head = struct.pack("<IiI", 5000, seq, (4 + len(payload)) << 2)
    version, remainder, pages = struct.unpack("<HHI", payload)
    longer = struct.pack("<HHI", version, remainder, pages + 100_000)
    path.write_bytes(path.read_bytes().replace(head + payload, head + longer))
    table.cluster.start()
    with table.cluster.connect() as conn:
        problems = [
            row[-1] for row in conn.execute(f"SELECT * FROM {table.am}.verify('t')")
        ]
    assert any("is not inside of the relation" in problem for problem in problems)
    assert any("overlaps the free one" in problem for problem in problems)


def test_a_row_group_in_several_runs(make_cluster, am):
    """The list of its runs, a page of the second one, and its footer."""
    cluster = make_cluster("runs", ignore_checksum_failure="on")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', row_group_rows => 2000)")
        conn.execute(
            "INSERT INTO t SELECT i, (SELECT string_agg(md5(i || ' ' || n), '')"
            " FROM generate_series(1, 5) n) FROM generate_series(1, 7000) i"
        )
        conn.execute("DELETE FROM t WHERE id > 1000 AND (id - 1001) / 2000 % 2 = 0")
        conn.execute("VACUUM t")
        conn.execute(f"SELECT {am}.set_options('t', row_group_rows => 4000)")
        for i in range(2):
            conn.execute(
                f"INSERT INTO t SELECT id + {10_000 * (i + 1)}, reverse(v) FROM t"
                " WHERE id BETWEEN 3001 AND 3900"
            )
        # in a block it runs no VACUUM, after which there would be one run
        conn.execute(f"DO $$ BEGIN CALL {am}.merge('t'); END $$")
        conn.execute("CHECKPOINT")
        expected = conn.execute("SELECT count(v), sum(id) FROM t").fetchone()
        toast, path = conn.execute(
            "SELECT reltoastrelid::regclass::text, pg_relation_filepath(reltoastrelid)"
            " FROM pg_class WHERE oid = 't'::regclass"
        ).fetchone()
        descriptors = conn.execute(
            f"SELECT chunk_data FROM {toast} WHERE chunk_id = 1000"
            " AND length(chunk_data) > 64"
        ).fetchall()
        assert len(descriptors) == 1
        table_path = conn.execute("SELECT pg_relation_filepath('t')").fetchone()[0]
    descriptor = descriptors[0][0]
    (nruns,) = struct.unpack_from("<I", descriptor, 64)
    assert nruns >= 2
    runs = [struct.unpack_from("<II", descriptor, 72 + 8 * i) for i in range(nruns)]
    table = Damaged.__new__(Damaged)
    table.cluster, table.am = cluster, am

    # the list
    table.path = cluster.data / path
    at = table.path.read_bytes().find(descriptor)
    assert at > 0
    for within in (64, 72, 80, 84, 72 + 8 * 8):
        table.flip(at + within)
        error = table.error("SELECT id, v FROM t")
        assert error.sqlstate == "XX001" and "descriptor of row" in str(error), error
        table.flip(at + within)

    # a page of the second run
    table.path = cluster.data / table_path
    block = runs[1][0]
    table.flip(block * BLOCK + PAYLOAD_OFF + 10)
    error = table.error("SELECT id, v FROM t")
    assert error.sqlstate == "XX001" and f"block {block} " in str(error), error
    table.flip(block * BLOCK + PAYLOAD_OFF + 10)

    # what only the reader notices: the message names all runs
    size, footer_off = struct.unpack_from("<QQ", descriptor, 24)
    assert footer_off < size
    pageno = footer_off // PAYLOAD
    for start, end in runs:
        if pageno < end - start:
            break
        pageno -= end - start

    def edit(file) -> None:
        file.seek((start + pageno) * BLOCK)
        page = bytearray(file.read(BLOCK))
        at = PAYLOAD_OFF + footer_off % PAYLOAD + 8
        page[at] ^= 0x40
        struct.pack_into("<Q", page, HEADER_OFF + 8, page_checksum(bytes(page)))
        file.seek(-BLOCK, 1)
        file.write(page)

    table.change(edit)
    error = table.error("SELECT id, v FROM t")
    text = ", ".join(f"{start} to {end - 1}" for start, end in runs)
    assert error.sqlstate == "XX001" and f"blocks {text})" in str(error), error
    table.change(edit)
    with cluster.connect() as conn:
        assert conn.execute("SELECT count(v), sum(id) FROM t").fetchone() == expected


def deleted_rows(cluster, am: str, bulk: str) -> tuple[Damaged, str, tuple]:
    """A table with deleted rows, its TOAST relation, and what is left of it."""
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute(
            f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i"
        )
        conn.execute(f"SET {am}.enable_bulk_delete = {bulk}")
        conn.execute("DELETE FROM t WHERE id % 3 = 0")
        if bulk == "off":
            conn.execute("VACUUM (INDEX_CLEANUP on) t")
        conn.execute("CHECKPOINT")
        expected = conn.execute("SELECT count(v), sum(id) FROM t").fetchone()
        toast, path = conn.execute(
            "SELECT reltoastrelid::regclass::text, pg_relation_filepath(reltoastrelid)"
            " FROM pg_class WHERE oid = 't'::regclass"
        ).fetchone()
    table = Damaged.__new__(Damaged)
    table.cluster, table.am, table.path = cluster, am, cluster.data / path
    return table, toast, expected


def swap(table: Damaged, old: bytes, new: bytes) -> None:
    """All copies: the page may keep what pruning has moved."""
    assert len(old) == len(new)
    table.cluster.stop("fast")
    content = table.path.read_bytes()
    assert old in content
    table.path.write_bytes(content.replace(old, new))
    table.cluster.start()


def is_noticed(table: Damaged, what: str, state: str = "XX001") -> None:
    error = table.error("SELECT count(v), sum(id) FROM t")
    assert error.sqlstate == state and what in str(error), error
    with table.cluster.connect() as conn:
        found = conn.execute(f"SELECT problem FROM {table.am}.verify('t')").fetchall()
    assert any(what in problem for (problem,) in found), found


def check_entries(table: Damaged, entries: list, what: str, rng) -> None:
    """Any byte of an entry; one of a newer version."""
    for _ in range(3):
        entry = rng.choice(entries)
        damaged = bytearray(entry)
        # but for the version, which has an error of its own
        damaged[rng.randrange(2, len(entry))] ^= 0x40
        swap(table, entry, bytes(damaged))
        is_noticed(table, what)
        swap(table, bytes(damaged), entry)
    later = struct.pack("<H", 99) + entries[1][2:]
    swap(table, entries[1], later)
    is_noticed(table, what, "0A000")
    swap(table, later, entries[1])


def check_note(table: Damaged, toast: str, version: int, flag: int, expected) -> None:
    """The descriptor, with a right checksum, does not say what there is."""
    am = table.am
    with table.cluster.connect() as conn:
        assert conn.execute("SELECT count(v), sum(id) FROM t").fetchone() == expected
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        (descriptor,) = conn.execute(
            f"SELECT chunk_data FROM {toast} WHERE chunk_id = 1000"
        ).fetchone()
    found_version, flags = struct.unpack_from("<HH", descriptor)
    assert found_version == version and flags & flag
    plain = struct.pack("<HH", 2, flags & ~flag) + descriptor[4:56]
    plain += struct.pack("<Q", xxh3(plain, 1000))
    swap(table, descriptor, plain)
    with table.cluster.connect() as conn:
        found = conn.execute(f"SELECT problem FROM {am}.verify('t')").fetchall()
    assert any("the descriptor does not say" in problem for (problem,) in found), found
    swap(table, plain, descriptor)


def test_a_bitmap_of_deleted_rows(make_cluster, am, rng):
    """Any byte of a piece; a piece of another place; one of a newer version."""
    cluster = make_cluster("piece", ignore_checksum_failure="on")
    table, toast, expected = deleted_rows(cluster, am, "off")
    with cluster.connect() as conn:
        pieces = [
            data
            for (data,) in conn.execute(
                f"SELECT chunk_data FROM {toast} WHERE chunk_id = 2500 ORDER BY chunk_seq"
            )
        ]
    assert len(pieces) == 3
    check_entries(table, pieces, "bitmap of deleted rows", rng)
    check_note(table, toast, 4, 8, expected)

    # whole, but of other rows
    swap(table, pieces[1], pieces[0])
    is_noticed(table, "bitmap of deleted rows")


def test_a_swath_of_deleted_rows(make_cluster, am, rng):
    """The same of rows that one command has deleted at once."""
    cluster = make_cluster("swath", ignore_checksum_failure="on")
    table, toast, expected = deleted_rows(cluster, am, "on")
    with cluster.connect() as conn:
        swaths = [
            data
            for (data,) in conn.execute(
                f"SELECT chunk_data FROM {toast} WHERE chunk_id = 1500 ORDER BY chunk_seq"
            )
        ]
    assert len(swaths) > 10
    check_entries(table, swaths, "swath of deleted rows", rng)
    check_note(table, toast, 5, 16, expected)

    # whole, but of other rows
    same_length = [s for s in swaths if len(s) == len(swaths[1]) and s != swaths[1]]
    swap(table, swaths[1], same_length[0])
    is_noticed(table, "swath of deleted rows")


DAMAGED_COPIES = 48
DAMAGED_BITS = 4


def test_bytes_of_arrays_that_nobody_wrote(make_cluster, rng):
    """Changed bytes under right checksums: an error or other values, and never more."""
    cluster = make_cluster("arrays", ignore_checksum_failure="on")
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION colcompress")
        conn.execute(
            "CREATE TABLE of_rows AS SELECT i AS id, jsonb_build_object('id', i, 'items', (SELECT"
            " jsonb_agg(jsonb_build_object('size', i * k, 'link', md5((i * k)::text), 'parts',"
            " jsonb_build_array(jsonb_build_object('p', i + k, 's', md5((i + k)::text)))))"
            " FROM generate_series(1, i % 5) k)) AS doc FROM generate_series(1, 3000) i"
        )
        files = []
        for number in range(DAMAGED_COPIES):
            name = f"t{number}"
            conn.execute(
                f"CREATE TABLE {name} USING colcompress AS TABLE of_rows ORDER BY id"
            )
            (versions,) = conn.execute(
                f"SELECT array_agg(format_version) FROM colcompress.row_groups('{name}')"
            ).fetchone()
            assert versions == [3]
            files.append(
                (
                    name,
                    cluster.data
                    / Damaged.one(conn, f"SELECT pg_relation_filepath('{name}')"),
                    *conn.execute(
                        f"SELECT start_block, bytes FROM colcompress.row_groups('{name}')"
                    ).fetchone(),
                )
            )
    cluster.stop("fast")
    for _, path, start, size in DAMAGED_BITS * files:
        at = rng.randrange(size)
        with open(path, "r+b") as file:
            file.seek((start + at // PAYLOAD) * BLOCK)
            page = bytearray(file.read(BLOCK))
            page[PAYLOAD_OFF + at % PAYLOAD] ^= 1 << rng.randrange(8)
            struct.pack_into("<Q", page, HEADER_OFF + 8, page_checksum(bytes(page)))
            file.seek(-BLOCK, 1)
            file.write(page)
    cluster.start()
    errors = 0
    with cluster.connect() as conn:
        for name, *_ in files:
            for query in (
                f"SELECT count(*), sum(length(doc::text)) FROM {name}",
                f"SELECT sum((e->>'size')::numeric), min(e->>'link'), count(*) FROM {name},"
                " jsonb_array_elements(doc->'items') e",
                f"SELECT doc FROM {name} WHERE id % 500 = 7",
                f"SELECT * FROM colcompress.document_paths('{name}')",
                f"SELECT count(*) FROM colcompress.verify('{name}')",
            ):
                try:
                    conn.execute(query).fetchall()
                except psycopg.Error as error:
                    errors += error.sqlstate == "XX001"
                    # of values that are others: 22P02, 22023
                    assert error.sqlstate, (error, query)
                    assert error.sqlstate[:2] in {"XX", "22"}, (error, query)
                    assert error.sqlstate != "XX000", (error, query)
    assert errors > 0
