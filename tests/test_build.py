"""What must hold of the source and of what is built from it."""

from __future__ import annotations

import os
import re
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


def _breaches(
    root: Path, files: dict[str, str], map_text: str | None = None
) -> list[str]:
    """What is found in a small tree, whose map is right unless one is given."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "docs").mkdir(exist_ok=True)
    drawn = check_layers.draw_map(root) if map_text is None else map_text
    (root / "docs/map.txt").write_text(drawn)
    return sorted(check_layers.breaches(root))


def test_layers_are_really_checked(tmp_path):
    """Each kind of breach, in a small tree of its own."""
    files = {
        "common/core/st_a.c": '#include "st_b.h"\nvoid *p = palloc(1);\n',
        "common/core/st_c.c": '#include "postgres.h"\n',
        "common/pg/st_b.h": "#if PG_VERSION_NUM >= 160000\n#endif\n",
        "common/pg/st_d.c": "DefineCustomBoolVariable();\nplanner_hook = mine;\n",
        "common/pg/st_compat.h": "#if PG_VERSION_NUM >= 160000\n#endif\n",
        "common/pg/st_e.c": "if (planner_hook == NULL) {}  /* palloc */\n",
        "common/vector/scan/vx_s.h": "",
        "common/vector/expr/vx_e.c": '#include "vx_s.h"\n',
        "extensions/x/src/format/x_f.c": '#include "x_plan.h"\n',
        "extensions/x/src/planner/x_plan.h": '#include "st_b.h"\n',
        "extensions/x/src/executor/x_exec.c": '#include "x_plan.h"\n',
        "extensions/y/src/executor/y_exec.c": '#include "x_plan.h"\n',
        "extensions/y/src/access/y_a.c": "CacheRegisterRelcacheCallback(f, 0);\n",
        "extensions/y/src/st_d.c": "",
    }
    found = _breaches(tmp_path, files)
    assert [line.split(":")[0] for line in found] == [
        "common/core/st_a.c",  # includes common/pg
        "common/core/st_a.c",  # palloc
        "common/core/st_c.c",  # postgres.h
        "common/pg/st_b.h",  # PG_VERSION_NUM
        "common/pg/st_d.c",  # GUC
        "common/pg/st_d.c",  # hook
        "common/vector/expr/vx_e.c",  # expressions include the scan
        "extensions/x/src/format/x_f.c",  # format includes planner
        "extensions/y/src/access/y_a.c",  # a slot of its own
        "extensions/y/src/executor/y_exec.c",  # another extension's header
        "st_d.c",  # two files of one name
    ]


def _function(name: str, *calls: str) -> str:
    body = "".join(f"\t{call}();\n" for call in calls)
    return f"void\n{name}(void)\n{{\n{body}}}\n"


def test_rooms_are_really_checked(tmp_path):
    """Includes and calls between the rooms of common/pg go one way."""
    files = {
        "common/pg/file/st_file.h": '#include "st_store.h"\n',
        "common/pg/st_store.h": "",
        "common/pg/write/st_pending.h": '#include "st_file.h"\n',
        "common/pg/write/st_pending.c": '#include "st_pending.h"\n'
        + _function("st_flush", "st_meta_read"),
        # a wrong include, a wrong call, and two that only look like one
        "common/pg/file/st_meta.c": '#include "st_pending.h"\n'
        + _function("st_meta_read", "st_flush")
        + "/* st_pending_grew() */\nstatic void\nst_flush_old(void)\n{\n}\n",
        # a header that is no other room's business
        "common/pg/read/st_scan.c": '#include "st_pending.h"\n',
        # vectors stand above the store, core below
        "common/pg/am/st_am.c": _function("st_am", "vx_add"),
        "common/vector/agg/vx_sum.c": _function("vx_add", "st_flush"),
    }
    assert [line.split(", ")[0] for line in _breaches(tmp_path, files)] == [
        "common/pg/am/st_am.c: uses vx_add of common/vector/agg/vx_sum.c",
        "common/pg/file/st_meta.c: includes st_pending.h",
        "common/pg/file/st_meta.c: uses st_flush of common/pg/write/st_pending.c",
        "common/pg/read/st_scan.c: includes st_pending.h",
    ]


def _circle(folder: str, n: int) -> dict[str, str]:
    return {
        f"{folder}/st_c{i}.c": _function(f"st_c{i}_run", f"st_c{(i + 1) % n}_run")
        for i in range(n)
    }


def test_cycles_are_really_checked(tmp_path):
    """Three files may use each other, four may not, but where things nest."""
    assert _breaches(tmp_path / "three", _circle("common/pg/lock", 3)) == []
    assert _breaches(tmp_path / "four", _circle("common/pg/lock", 4)) == [
        "cycle: 4 files use each other: st_c0, st_c1, st_c2, st_c3"
    ]
    assert _breaches(tmp_path / "nested", _circle("common/core/zson", 4)) == []


def test_full_folders_are_found(tmp_path):
    names = [f"extensions/x/src/format/x_{i}.c" for i in range(check_layers.MAX_FILES)]
    assert _breaches(tmp_path, dict.fromkeys(names, "")) == []
    assert _breaches(tmp_path, {"extensions/x/src/format/x_one_more.c": ""}) == [
        "extensions/x/src/format: 26 C files side by side"
    ]


def test_map_is_up_to_date(tmp_path):
    files = {
        "common/pg/file/st_meta.c": _function("st_meta_read"),
        "common/pg/read/st_scan.c": _function("st_scan", "st_meta_read"),
    }
    assert _breaches(tmp_path, files) == []
    drawn = (tmp_path / "docs/map.txt").read_text()
    assert "\npg/read          -> pg/file\npg/file\n" in drawn
    stale = drawn.replace(" -> pg/file", "")
    assert [line.split(":")[0] for line in _breaches(tmp_path, files, stale)] == [
        "docs/map.txt"
    ]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_symbols(extension):
    build = Path(_make(extension, "print-build-dir"))
    assert list(check_symbols.breaches(build)) == []


def core_library(*targets: str) -> None:
    done = subprocess.run(
        ["make", "-s", "-C", ROOT / "common" / "core", *targets],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    print(done.stdout[-20_000:])
    assert done.returncode == 0


@pytest.mark.slow
def test_core_library():
    """Unit tests and golden bytes, of the code that ships."""
    core_library("check-opt")


@pytest.mark.slow
def test_core_library_with_sanitizers():
    """The same with checks of addresses and arithmetic; fuzz corpora."""
    core_library("check-asan", "check-fuzz")


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


# What shifts several lanes at once.
VECTOR_SHIFTS = {
    "x86_64": {
        "default": r"\tpsrl[dq] .*%xmm",
        "avx2": r"\tvpsrl[dq] .*%ymm",
        "avx512": r"\tvpsrl[dq] .*%[yz]mm",
    },
    "aarch64": {"default": r"\tushr\tv\d+\.(4s|2d)"},
}


def test_kernels_are_vector_code():
    """The compiler makes of the template what it is written for: in every unpacking
    kernel but few (whole words need no shift), on each kind of processor."""
    build = Path(_make("colcompress", "print-build-dir"))
    objects = ROOT / "common" / "build" / build.name / "core" / "bits"
    target = subprocess.check_output(["cc", "-dumpmachine"], text=True).split("-")[0]
    for isa, shift in VECTOR_SHIFTS[target].items():
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", objects / f"st_bitpack_{isa}.o"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        kernels = re.findall(r"<(unpack(?:32)?_\d+)>:\n(.*?)\n\n", listing + "\n", re.S)
        assert len(kernels) > 90
        plain = [name for name, code in kernels if not re.search(shift, code)]
        assert len(plain) <= 6, (isa, plain)
