"""A Citus coordinator with two workers, all on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from .cluster import Cluster
from .wait import wait_until

# Citus moves shards by logical replication only with this; the rest is for three
# servers on a small machine.
SETTINGS = {
    "wal_level": "logical",
    "max_connections": "100",
    "max_prepared_transactions": "200",
    "max_worker_processes": "20",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    "shared_buffers": "64MB",
    "citus.node_conninfo": "sslmode=prefer",
    "citus.shard_count": "4",
    "citus.recover_2pc_interval": "2s",
    "citus.defer_shard_delete_interval": "1s",
    "citus.show_shards_for_app_name_prefixes": "*",
}


class Formation:
    """A coordinator and its workers, with a database that has the extensions."""

    def __init__(self, nodes: Sequence[Cluster], libraries: str) -> None:
        """Start the nodes, the coordinator first, with these libraries preloaded."""
        self.nodes = list(nodes)
        self.coordinator, self.workers = self.nodes[0], self.nodes[1:]
        for node in nodes:
            node.configure(
                **SETTINGS
                | {
                    "citus.local_hostname": str(node.socket),
                    "shared_preload_libraries": libraries,
                }
            )
            node.start()
            self.allow_output_plugin(node)

    def allow_output_plugin(self, node: Cluster) -> None:
        """Citus splits shards by a plugin of its own, which newer servers want named."""
        with node.connect() as conn:
            (allowed,) = conn.execute(
                "SELECT current_setting('output_plugin_libraries', true)"
            ).fetchone()
            if allowed is not None:
                conn.execute(
                    f"ALTER SYSTEM SET output_plugin_libraries = {allowed}, citus"
                )
                conn.execute("SELECT pg_reload_conf()")

    def join(self, extensions: Sequence[str], dbname: str) -> None:
        """Make the database on each node, and tell the coordinator of the workers.

        The extensions are created on the coordinator alone: Citus makes them on
        the workers, here of those that exist before and after a worker joins.
        """
        self.dbname = dbname
        for node in self.nodes:
            with node.connect() as conn:
                conn.execute(f"CREATE DATABASE {dbname}")
            with node.connect(dbname) as conn:
                conn.execute("CREATE EXTENSION citus")
        half = len(extensions) // 2
        with self.connect() as conn:
            conn.execute(
                "SELECT citus_set_coordinator_host(%s, 5432)",
                [str(self.coordinator.socket)],
            )
            for extension in extensions[:half]:
                conn.execute(f"CREATE EXTENSION {extension}")
            for worker in self.workers:
                conn.execute("SELECT citus_add_node(%s, 5432)", [str(worker.socket)])
            for extension in extensions[half:]:
                conn.execute(f"CREATE EXTENSION {extension}")

    def connect(self, node: Cluster | None = None, **kwargs):
        return (node or self.coordinator).connect(self.dbname, **kwargs)

    def wait_reachable(self) -> None:
        """Until the coordinator has reached every worker."""

        def reached() -> bool:
            with self.connect() as conn:
                rows = conn.execute(
                    "SELECT success FROM run_command_on_workers('SELECT 1')"
                ).fetchall()
            return all(success for (success,) in rows)

        wait_until(reached, "the workers")
