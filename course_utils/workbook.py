"""The learner's workbook: notebooks copied out of the repository, where a later version never overwrites work.

`notebooks/` holds the lessons as they are published and is under version control; `workbook/` is
ignored by git and is where a learner works. `workbook/.course/pristine.json` remembers the sources of
each copy as it was handed out, so a copy nobody has edited can be refreshed and all others are kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_utils import record
from course_utils.standing import START, write_start_page
from gradient_ledger.errors import UserError
from gradient_ledger.files import write_atomically

WORKBOOK = "workbook"
RECORD_FOLDER = ".course"
MANIFEST = "pristine.json"
PROJECT_NAME = 'name = "gradient-ledger"'

Action = Literal["placed", "refreshed", "current", "kept", "newer exists", "unknown origin"]
"""What became of one notebook: see `prepare`."""


@dataclass(frozen=True)
class Handed:
    """What `prepare` did with one notebook of the workbook."""

    name: str
    action: Action


@dataclass(frozen=True)
class Reset:
    """What `reset` did: the notebook, and where the learner's version went (None when there was none to keep)."""

    notebook: Path
    backup: Path | None
    changed: bool


def find_repository(start: Path | None = None) -> Path:
    """The root of the course's repository that contains `start` (by default the current folder).

    Raises `UserError` outside one.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = (folder / "pyproject.toml").read_text(encoding="utf-8")
            if PROJECT_NAME in text.splitlines():
                return folder
    raise UserError(
        f"{start} is not inside the course's repository: change to the folder you cloned (it holds pyproject.toml "
        "and notebooks/) and run the command again"
    )


def pristine_notebooks(root: Path) -> list[Path]:
    """The published notebooks of the repository, in order. Raises `UserError` when there are none."""
    found = sorted(path for path in (root / "notebooks").glob("*.ipynb") if path.is_file())
    if not found:
        raise UserError(f"no notebooks in {root / 'notebooks'}: restore them with `git checkout notebooks`")
    return found


def prepare(root: Path) -> list[Handed]:
    """Bring `workbook/` up to date with `notebooks/`, in order, without ever losing a learner's work.

    A missing notebook is `placed`; one with the sources it was handed out with is `refreshed` when
    the published one has changed, else `current`: opening and running is no change. An edited one
    is left alone: `kept` when it was made from the version published now, `newer exists` when from
    an earlier one, and `unknown origin` when the manifest does not say. Raises `UserError` when a
    file cannot be written.
    """
    folder = root / WORKBOOK
    with _explained(folder):
        (folder / RECORD_FOLDER).mkdir(parents=True, exist_ok=True)
        manifest = _read_manifest(folder)
        handed = [_hand_out(source, folder / source.name, manifest) for source in pristine_notebooks(root)]
        _write_manifest(folder, manifest)
    return handed


def _hand_out(source: Path, target: Path, manifest: dict[str, str]) -> Handed:
    """Place, refresh or keep one notebook, and note in `manifest` what was handed out."""
    published = _published(source)
    digest = _digest(published)
    action: Action
    if not target.exists():
        action = "placed"
    elif _digest(target.read_bytes()) == digest:
        action = "current"
    elif source.name not in manifest:
        return Handed(source.name, "unknown origin")
    elif _untouched(target, manifest):
        action = "refreshed"
    else:
        return Handed(source.name, "kept" if manifest[source.name] == digest else "newer exists")
    if action != "current":
        _write_notebook(source, target, published)
    manifest[source.name] = digest
    return Handed(source.name, action)


def reset(root: Path, lesson: int) -> Reset:
    """Put the published notebook of `lesson` in the workbook, the learner's own kept beside it.

    It becomes `NAME.old-1.ipynb`, which every file browser sorts after the new one, or the first higher number that
    is free. Raises `UserError` when there is no such lesson or a file cannot be written.
    """
    published = pristine_notebooks(root)
    matching = [path for path in published if path.name.startswith(f"{lesson:02d}_")]
    if not matching:
        lessons = ", ".join(str(int(path.name[:2])) for path in published if path.name[:2].isdigit())
        raise UserError(f"there is no lesson {lesson}: the lessons are {lessons}")
    folder, source = root / WORKBOOK, matching[0]
    target = folder / source.name
    content = _published(source)
    with _explained(folder):
        (folder / RECORD_FOLDER).mkdir(parents=True, exist_ok=True)
        if target.exists() and target.read_bytes() == content:
            return Reset(target, None, changed=False)
        manifest = _read_manifest(folder)
        mine = target.exists() and _digest(target.read_bytes()) != _digest(content) and not _untouched(target, manifest)
        # The backup is complete before the notebook is touched: a crash leaves one of the two whole.
        backup = _back_up(target) if mine else None
        _write_notebook(source, target, content)
        manifest[source.name] = _digest(content)
        _write_manifest(folder, manifest)
    return Reset(target, backup, changed=True)


def _back_up(path: Path) -> Path:
    """Copy `path` to the first free `NAME.old-K.ipynb` and return that; never opens an existing file."""
    number = 1
    while True:
        backup = path.with_name(f"{path.stem}.old-{number}{path.suffix}")
        try:
            with path.open("rb") as source, backup.open("xb") as copy:
                shutil.copyfileobj(source, copy)
        except FileExistsError:
            number += 1
            continue
        shutil.copystat(path, backup)
        return backup


def _published(source: Path) -> bytes:
    """A published notebook as it is handed out: with the version of the Python that its kernel will be.

    JupyterLab writes that version into a notebook that holds another one, as soon as it is opened.
    """
    version = f'"version": "{platform.python_version()}"'.encode()
    return re.sub(rb'(?<!\\)"version": "[\d.]+"', version, source.read_bytes(), count=1)


def _write_notebook(source: Path, target: Path, content: bytes) -> None:
    write_atomically(target, content.decode("utf-8"))
    # A file written atomically is its owner's alone; a notebook is an ordinary file, to be handed in.
    shutil.copymode(source, target)


def _read_manifest(folder: Path) -> dict[str, str]:
    """{notebook's name: hash handed out}. A missing or damaged manifest reads as an empty one."""
    try:
        data = json.loads((folder / RECORD_FOLDER / MANIFEST).read_bytes())
        return {name: digest for name, digest in data["notebooks"].items() if isinstance(digest, str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_manifest(folder: Path, manifest: Mapping[str, str]) -> None:
    text = json.dumps({"version": 1, "notebooks": dict(sorted(manifest.items()))}, indent=2) + "\n"
    write_atomically(folder / RECORD_FOLDER / MANIFEST, text)


def _untouched(target: Path, manifest: Mapping[str, str]) -> bool:
    """Whether the copy is as it was handed out. Manifests of earlier versions hold the hash of all its bytes."""
    content = target.read_bytes()
    return manifest.get(target.name) in (_digest(content), hashlib.sha256(content).hexdigest())


def _digest(content: bytes) -> str:
    """A hash of what an author or a learner writes into a notebook; of all bytes, where they are no notebook.

    Outputs, counters and what a front end notes on saving are left out.
    """
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        written = [
            (cell["cell_type"], "".join(cell["source"]), cell.get("attachments"), cell["metadata"].get("nbgrader"))
            for cell in json.loads(content)["cells"]
        ]
        content = json.dumps(written, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn an operating system's refusal into a `UserError` that names the file."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise UserError(
            f"cannot prepare the workbook: {where}: {error.strerror}; free it or change its owner"
        ) from error


# ------------------------------------------------------------------ the two commands


def lab_command(root: Path, *, browser: bool, port: int | None, extra: Sequence[str]) -> int:
    """`course lab`: prepare the workbook, say what happened to it, and become JupyterLab on its start page.

    Where a JupyterLab already runs on the workbook, that one is named and opened.
    """
    for handed in prepare(root):
        number = handed.name.split("_")[0].lstrip("0") or handed.name
        match handed.action:
            case "placed" | "refreshed":
                print(f"{handed.name}: {handed.action}")
            case "newer exists":
                print(
                    f"{handed.name}: yours is kept. A newer version exists; "
                    f"`course reset {number}` gives it and keeps yours beside it"
                )
            case "unknown origin":
                print(
                    f"{handed.name}: yours is kept. It is not known which version it came from; "
                    f"`course reset {number}` gives the current one and keeps yours beside it"
                )
    folder = root / WORKBOOK
    environment = lab_environment(root)
    os.environ.update(environment)
    with _explained(folder):
        write_start_page(folder)
    running = running_lab(folder)
    if running:
        print(f"JupyterLab already runs on your workbook: {running}", flush=True)
        if browser:
            webbrowser.open(running)
        return 0
    sys.stdout.flush()
    return _become(lab_arguments(folder, browser=browser, port=port, extra=extra), environment)


def running_lab(folder: Path) -> str:
    """The address of a Jupyter server that runs rooted at `folder` and answers, empty when there is none."""
    try:
        from jupyter_server.serverapp import list_running_servers
    except ImportError:
        return ""
    for server in list_running_servers():
        with contextlib.suppress(OSError, KeyError, ValueError):
            if Path(server["root_dir"]).samefile(folder):
                urllib.request.urlopen(f"{server['url']}api", timeout=5).close()
                return f"{server['url']}lab/tree/{START}?token={server['token']}"
    return ""


def lab_arguments(folder: Path, *, browser: bool, port: int | None, extra: Sequence[str]) -> list[str]:
    """The command line of JupyterLab rooted at `folder`. Raises `UserError` when JupyterLab is not installed."""
    from importlib.util import find_spec

    if find_spec("jupyterlab") is None:
        raise UserError("JupyterLab is not installed in this environment: run `make lab`, or `pip install jupyterlab`")
    arguments = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]
    arguments.append(f"--LabApp.default_url=/lab/tree/{START}")
    if not browser:
        arguments.append("--no-browser")
    if port is not None:
        arguments.append(f"--ServerApp.port={port}")
    # In a container the user is often root, and JupyterLab then refuses to start. It listens on
    # localhost alone and asks for its token, whoever runs it.
    if getattr(os, "geteuid", lambda: 1)() == 0 and "--allow-root" not in extra:
        arguments.append("--allow-root")
    return [*arguments, *extra]


def lab_environment(root: Path) -> dict[str, str]:
    """This process's environment, with the folder of the learner's record and the course's settings of JupyterLab.

    They are defaults: what a learner set in JupyterLab, and a COURSE_HOME of theirs, stand.
    """
    settings = [str(Path(__file__).parent / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return {
        **os.environ,
        "COURSE_HOME": str(record_folder(root)),
        "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, settings)),
    }


def record_folder(root: Path) -> Path:
    """Where the record of a notebook is that `course lab` opened."""
    return record.home(root / WORKBOOK / RECORD_FOLDER)


def _become(arguments: list[str], environment: dict[str, str]) -> int:
    """Run the command in this process's place, so that Ctrl-C and its exit status are JupyterLab's own."""
    if os.name == "nt":  # exec on Windows starts a second process and gives the terminal back at once
        return subprocess.call(arguments, env=environment)
    os.execve(arguments[0], arguments, environment)


def reset_command(root: Path, lesson: int, *, clear_record: bool) -> int:
    """`course reset N [--record]`: `reset`, and say where the learner's version went, and what is with the record."""
    done = reset(root, lesson)
    notebook = done.notebook.relative_to(root)
    if done.backup is not None:
        print(f"Your version is now {done.backup.relative_to(root)}")
    if done.changed:
        print(f"{notebook} is the published version; if it is open in JupyterLab, close its tab and open it again")
    else:
        print(f"{notebook} is already as published")
    os.environ["COURSE_HOME"] = str(record_folder(root))
    if not clear_record:
        print(f"Your record of lesson {lesson} stays; `course reset {lesson} --record` clears that, too")
    elif kept := record.clear(lesson):
        print(f"Your record of lesson {lesson} is cleared; the old one is {kept}")
    else:
        print(f"There is no record of lesson {lesson} in {record.home()}")
    return 0
