"""Backups of parts that changed, and what is put together of them.

Each cluster has a table of the access method and its heap twin, so that what was
restored can be checked by itself.  (Whole copies: test_replication.)
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess

import pytest
from strata import replica
from strata.twin import Session, Twin
from strata.wait import wait_until

BULK = 20_000


class BackupDatabase:
    """What a Twin needs, on a cluster of the test's own."""

    name = "postgres"

    def __init__(self, cluster) -> None:
        self.cluster = cluster

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


def make_twin(cluster, am: str) -> Twin:
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    twin = Twin(BackupDatabase(cluster), am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text, k int)")
    twin.ours.execute(f"SELECT {am}.set_options('t', row_group_rows => 4096)")
    twin.ok(
        f"INSERT INTO t SELECT i, md5(i::text), i % 7 FROM generate_series(1, {BULK}) i"
    )
    return twin


def change(twin: Twin, am: str, step: int) -> None:
    """Something of all: a part of the row groups is written anew, in free extents."""
    twin.ok(f"DELETE FROM t WHERE id % 10 = {step}")
    twin.ok(f"UPDATE t SET v = 'step {step}' WHERE id % 500 = {step + 11}")
    twin.ok(f"DELETE FROM t WHERE id BETWEEN {step * 5000} AND {step * 5000 + 4500}")
    twin.ours.execute(f"CALL {am}.merge('ours.t')")
    twin.ok(
        f"INSERT INTO t SELECT i, 'late', 0 FROM generate_series({(step + 5) * BULK},"
        f" {(step + 5) * BULK + 9000}) i"
    )
    twin.ok(f"INSERT INTO t VALUES (-{step}, 'single', 1)")


def all_rows(twin: Session) -> list[tuple]:
    return twin.heap.execute("SELECT t::text FROM t ORDER BY id").fetchall()


def check(cluster, rows: list[tuple], am: str) -> None:
    """The copy has all rows of its source, and is sound."""
    copy = Session(BackupDatabase(cluster), am)
    copy.check()
    assert all_rows(copy) == rows
    assert copy.ours.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall() == []
    copy.ok("INSERT INTO t SELECT -100 - i, 'new', 1 FROM generate_series(1, 3000) i")
    copy.check()


def test_incremental_backup(make_cluster, server, am):
    if server.major < 17:
        pytest.skip("incremental backups came with PostgreSQL 17")
    cluster = make_cluster("incremental", summarize_wal="on")
    twin = make_twin(cluster, am)
    copies = [make_cluster(f"copy{i}", data=False, start=False) for i in range(4)]
    *backups, whole = copies
    replica.base_backup(cluster, backups[0])
    for step, (before, backup) in enumerate(zip(backups, backups[1:], strict=False)):
        change(twin, am, step + 1)
        replica.base_backup(
            cluster, backup, f"--incremental={before.data}/backup_manifest"
        )
    server.run(
        "pg_combinebackup", *(backup.data for backup in backups), "-o", whole.data,
        "--no-sync",
    )  # fmt: skip
    check(whole.start(), all_rows(twin), am)


@pytest.mark.slow
def test_pgbackrest(make_cluster, server, am):
    program = shutil.which("pgbackrest")
    if program is None:
        pytest.skip("pgbackrest is not installed")
    cluster = make_cluster("backrest", start=False)
    copy = make_cluster("restored", data=False, start=False)
    repository = server.own(cluster.directory / "repository")
    config = cluster.directory / "pgbackrest.conf"
    config.write_text(
        f"[global]\nrepo1-path={repository}\nlog-path={repository}\n"
        f"lock-path={repository}\nspool-path={repository}/spool\nstart-fast=y\n"
        "log-level-console=info\narchive-timeout=60\n"
        f"[s]\npg1-path={cluster.data}\npg1-socket-path={cluster.socket}\n"
        "pg1-user=postgres\npg1-database=postgres\n"
    )

    def backrest(*args) -> str:
        user = {}
        if os.getuid() == 0:
            entry = pwd.getpwnam(server.user)
            user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [program, f"--config={config}", "--stanza=s", *map(str, args)],
            capture_output=True, text=True, cwd="/", env=server.environment(), **user,
        )  # fmt: skip
        if "VersionNotSupportedError" in done.stdout + done.stderr:
            pytest.skip("this pgbackrest is older than the server")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    cluster.configure(
        archive_mode="on",
        archive_command=f"{program} --config={config} --stanza=s archive-push %p",
    )
    cluster.start()
    twin = make_twin(cluster, am)
    backrest("stanza-create")
    output = backrest("--type=full", "backup")
    change(twin, am, 1)
    output += backrest("--type=incr", "backup")
    assert "invalid page" not in output  # it looks at the checksums of all pages
    change(twin, am, 2)
    rows = all_rows(twin)
    with cluster.connect() as conn:
        # the archive gets whole segments
        (segment,) = conn.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
        last = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
        wait_until(
            lambda: conn.execute(last, [segment]).fetchone()[0], "the archiver", 60
        )
    cluster.stop()
    backrest(f"--pg1-path={server.own(copy.data)}", "--archive-mode=off", "restore")
    copy.data.chmod(0o700)
    copy.start()
    with copy.connect() as conn:
        recovers = "SELECT pg_is_in_recovery()"
        wait_until(
            lambda: not conn.execute(recovers).fetchone()[0], "the end of recovery", 60
        )
    check(copy, rows, am)
