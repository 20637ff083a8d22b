"""Audits in fresh processes without the price of importing a framework each time.

`python audit_server.py MODULE…` imports the modules once; then each line on standard input is a JSON object
{"arguments": […], "folder": …}, for which it forks a child that runs `course audit` there, and answers with a line
{"status": …, "out": …, "err": …}.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def serve(modules: list[str]) -> None:
    # The first optimizer of a process would import torch._dynamo.
    for name in (*modules, "torch._dynamo"):
        importlib.import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            child = os.fork()
            if child == 0:
                _run(job, out, err)
            _, code = os.waitpid(child, 0)
            answer = {"status": os.waitstatus_to_exitcode(code), "out": out.read_text(), "err": err.read_text()}
        print(json.dumps(answer), flush=True)


def _run(job: dict[str, Any], out: Path, err: Path) -> None:
    status = 70
    try:
        os.chdir(str(job["folder"]))
        for number, path in ((1, out), (2, err)):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.dup2(handle, number)
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        from course_utils.cli import main

        status = main(job["arguments"])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1:])
