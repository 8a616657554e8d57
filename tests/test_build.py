"""What must hold of the source and of what is built from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "ci"))

import check_layers  # noqa: E402
import check_symbols  # noqa: E402

EXTENSIONS = sorted(path.parent.name for path in ROOT.glob("extensions/*/Makefile"))


def _make(extension: str, target: str) -> str:
    pg_config = os.environ.get("STRATA_BUILD_PG_CONFIG")
    if not pg_config:
        pytest.skip("run by `make check`, which builds for STRATA_BUILD_PG_CONFIG")
    return subprocess.run(
        ["make", "-s", "-C", ROOT / "extensions" / extension, target]
        + [f"PG_CONFIG={pg_config}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_layers():
    assert list(check_layers.breaches()) == []


def test_layers_are_really_checked(tmp_path):
    """Each kind of breach, in a small tree of its own."""
    files = {
        "common/core/st_a.c": '#include "st_b.h"\nvoid *p = palloc(1);\n',
        "common/core/st_c.c": '#include "postgres.h"\n',
        "common/pg/st_b.h": "#if PG_VERSION_NUM >= 160000\n#endif\n",
        "common/pg/st_d.c": "DefineCustomBoolVariable();\nplanner_hook = mine;\n",
        "common/pg/st_compat.h": "#if PG_VERSION_NUM >= 160000\n#endif\n",
        "common/pg/st_e.c": "if (planner_hook == NULL) {}  /* palloc */\n",
        "extensions/x/src/format/x_f.c": '#include "x_plan.h"\n',
        "extensions/x/src/planner/x_plan.h": '#include "st_b.h"\n',
        "extensions/x/src/executor/x_exec.c": '#include "x_plan.h"\n',
        "extensions/y/src/executor/y_exec.c": '#include "x_plan.h"\n',
        "extensions/y/src/st_d.c": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = sorted(check_layers.breaches(tmp_path))
    assert [line.split(":")[0] for line in found] == [
        "common/core/st_a.c",  # includes common/pg
        "common/core/st_a.c",  # palloc
        "common/core/st_c.c",  # postgres.h
        "common/pg/st_b.h",  # PG_VERSION_NUM
        "common/pg/st_d.c",  # GUC
        "common/pg/st_d.c",  # hook
        "extensions/x/src/format/x_f.c",  # format includes planner
        "extensions/y/src/executor/y_exec.c",  # another extension's header
        "st_d.c",  # two files of one name
    ]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_symbols(extension):
    build = Path(_make(extension, "print-build-dir"))
    assert list(check_symbols.breaches(build)) == []


def test_core_library():
    """Unit tests, plain and with sanitizers, golden bytes, fuzz corpora."""
    done = subprocess.run(
        ["make", "-s", "-C", ROOT / "common" / "core", "check"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    print(done.stdout[-20_000:])
    assert done.returncode == 0


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_uninstall_removes_what_install_put(extension, tmp_path):
    pg_config = os.environ.get("STRATA_BUILD_PG_CONFIG")
    if not pg_config:
        pytest.skip("run by `make check`, which builds for STRATA_BUILD_PG_CONFIG")
    for target, present in (("install", True), ("uninstall", False)):
        subprocess.run(
            ["make", "-s", "-C", ROOT / "extensions" / extension, target]
            + [f"PG_CONFIG={pg_config}", f"DESTDIR={tmp_path}"],
            check=True,
            capture_output=True,
        )
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert bool(files) == present, files
