"""An installed PostgreSQL, found by its pg_config, and how to run its programs.

The server refuses to run as root.  Where the tests run as root, its programs
run as another user: STRATA_USER, or postgres, or nobody.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path


class Server:
    """Programs and directories of the PostgreSQL behind `pg_config`."""

    def __init__(self, pg_config: str) -> None:
        self.pg_config = pg_config
        self.version = self._ask("--version").removeprefix("PostgreSQL ")
        self.major = int(re.match(r"\d+", self.version).group())
        self.bindir = Path(self._ask("--bindir"))
        self.pkglibdir = Path(self._ask("--pkglibdir"))
        self.sharedir = Path(self._ask("--sharedir"))
        self.pgxs = Path(self._ask("--pgxs"))

    def _ask(self, option: str) -> str:
        return subprocess.check_output([self.pg_config, option], text=True).strip()

    @cached_property
    def user(self) -> str:
        """Name of the operating system's user that runs the server."""
        if os.getuid() != 0:
            return pwd.getpwuid(os.getuid()).pw_name
        for name in (os.environ.get("STRATA_USER"), "postgres", "nobody"):
            try:
                if name and pwd.getpwnam(name).pw_uid != 0:
                    return name
            except KeyError:
                continue
        raise RuntimeError("no user to run the server as: set STRATA_USER")

    def environment(self) -> dict[str, str]:
        """This process's environment without what would lead libpq astray."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        return env | {"LC_ALL": "C.UTF-8", "PGTZ": "UTC", "HOME": "/"}

    def popen(self, program: str, *args, **kwargs) -> subprocess.Popen:
        """Start one of the server's programs as the server's user."""
        if os.getuid() == 0:
            entry = pwd.getpwnam(self.user)
            kwargs |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        kwargs.setdefault("env", self.environment())
        kwargs.setdefault("cwd", "/")
        return subprocess.Popen([self.bindir / program, *map(str, args)], **kwargs)

    def run(
        self, program: str, *args, timeout: float = 600, check: bool = True, **kwargs
    ):
        """Run a program to its end; returns CompletedProcess with its output.

        Raises RuntimeError that shows the output if it fails and check is set.
        """
        stdin = kwargs.pop("input", None)
        process = self.popen(
            program,
            *args,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **kwargs,
        )
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise RuntimeError(
                f"{program} took over {timeout} s:\n{out}{err}"
            ) from None
        if check and process.returncode != 0:
            raise RuntimeError(
                f"{program} {' '.join(map(str, args))} failed ({process.returncode}):\n{out}{err}"
            )
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def own(self, path: Path) -> Path:
        """Make a directory (if need be) and give it to the server's user."""
        path.mkdir(parents=True, exist_ok=True)
        if os.getuid() == 0:
            shutil.chown(path, self.user)
        return path

    def touch(self, path: Path) -> Path:
        """Make an empty file of the server's user."""
        path.touch()
        if os.getuid() == 0:
            shutil.chown(path, self.user)
        return path

    def has_extension(self, name: str) -> bool:
        return (self.sharedir / "extension" / f"{name}.control").exists()
