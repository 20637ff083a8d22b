"""Mistakes between processes: two ranks on gloo, an audit running in each of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from loops_bank import Script, scripts
from packaging.version import Version

pytestmark = pytest.mark.turns


def audit_both_ranks(script: Script, folder: Path) -> list[dict[str, Any]]:
    """Run `course audit` on the script in two processes that meet over a file; the two reports."""
    if Version(torch.__version__) < Version("2.7") and "fully_shard" in script.path.read_text(encoding="utf-8"):
        pytest.skip("this torch shards on GPUs alone")
    options = ["--reference", "reference"] if script.header.get("needs") == "reference" else []
    ranks = []
    for rank in range(2):
        environment = {**os.environ, "RANK": str(rank), "RENDEZVOUS": f"file://{folder / 'meet'}"}
        environment |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        command = [sys.executable, "-m", "gradient_ledger.audit", str(script.path), "--json", *options]
        ranks.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    reports = []
    try:
        for rank in ranks:
            out, err = rank.communicate(timeout=120)
            assert rank.returncode in (0, 1), f"{out}\n{err[-3000:]}"
            reports.append(json.loads(out))
    finally:
        for rank in ranks:
            rank.kill()
    return reports


def some(ending: str, every: int) -> list[Any]:
    """The scripts with that ending; all but every so many of them are heavy, two interpreters each."""
    return [
        pytest.param(one, marks=[pytest.mark.heavy] if at % every else [], id=one.name)
        for at, one in enumerate(scripts("distributed", ending))
    ]


@pytest.mark.parametrize("script", some("__buggy", 2))
def test_a_mistake_between_ranks_is_found_in_each_rank(script: Script, tmp_path: Path) -> None:
    for report in audit_both_ranks(script, tmp_path):
        assert not report["trouble"]
        grave = [one for one in report["findings"] if one["severity"] != "info"]
        assert [one["misconception"] for one in grave] == [script.header["id"]]
        assert grave[0]["where"]["line"] in script.marked


@pytest.mark.parametrize("script", some("__fixed", 3))
def test_the_repaired_loop_is_clean_in_each_rank(script: Script, tmp_path: Path) -> None:
    for report in audit_both_ranks(script, tmp_path):
        assert not report["trouble"]
        assert [one for one in report["findings"] if one["severity"] != "info"] == []
        assert report["exit_status"] == 0
