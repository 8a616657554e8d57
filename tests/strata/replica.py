"""Copies of a running cluster: by pg_basebackup, as a standby or an archive."""

from __future__ import annotations

from .cluster import Cluster
from .wait import wait_until


def base_backup(source: Cluster, target: Cluster, *args: str) -> Cluster:
    """Fill the data directory of `target`, which must not exist yet."""
    source.run(
        "pg_basebackup", "-h", source.socket, "-D", target.data, "-c", "fast",
        "--no-sync", *args,
    )  # fmt: skip
    return target


def make_standby(source: Cluster, target: Cluster) -> Cluster:
    """A streaming standby of `source`, started."""
    base_backup(source, target, "-X", "stream")
    follow(source, target)
    return target.start()


def follow(source: Cluster, target: Cluster) -> None:
    """Make a stopped cluster a standby of `source` at its next start."""
    target.configure(
        primary_conninfo=f"host={source.socket} user=postgres", hot_standby="on"
    )
    target.server.touch(target.data / "standby.signal")


def rewind(old: Cluster, new: Cluster) -> None:
    """Make a primary that was left behind a standby of the new one, caught up."""
    old.stop()
    old.server.run(
        "pg_rewind", "-D", old.data, f"--source-server={new.dsn('postgres')}",
        "--no-sync",
    )  # fmt: skip
    follow(new, old)
    old.start()
    catch_up(new, old)


def lsn(cluster: Cluster) -> str:
    """Where the WAL of a primary ends."""
    with cluster.connect() as conn:
        return conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]


def catch_up(primary: Cluster, standby: Cluster) -> None:
    """Wait until the standby has replayed what the primary has written."""
    with primary.connect() as conn:
        # A record of our own, so that there is always something to flush.
        conn.execute("SELECT pg_switch_wal()")
        target = conn.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
    with standby.connect() as conn:
        wait_until(
            lambda: conn.execute(
                "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [target]
            ).fetchone()[0],
            f"the standby to replay up to {target}",
            60,
        )
