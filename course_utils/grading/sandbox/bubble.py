"""The command that starts the warm process under bubblewrap, and what to do where it cannot be started."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.util import find_spec
from pathlib import Path

from course_utils.grading.sandbox import staging

COURSE = "/course"
"""Where the copy of the course lies inside."""
_OF_THE_NOTEBOOKS = ("IPython", "ipywidgets", "matplotlib", "numpy", "torch")
_EXTRA = "python -m pip install -c constraints.txt -e '.[grading]'"
_INSTALL = "install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`)"


def why_not(isolation: str) -> str:
    """Why nothing can be graded here; empty where it can be tried."""
    for module in _OF_THE_NOTEBOOKS:
        if find_spec(module) is None:  # a cell of the course's own would fail, and that costs learners their points
            return f"The notebooks import {module}, which is not installed: `{_EXTRA}` brings it, in a clone."
    if isolation == "none":
        return "" if hasattr(os, "fork") else f"Grading forks processes, which {platform.system()} cannot: use Linux."
    if platform.system() != "Linux":
        return f"Isolation needs Linux, and this is {platform.system()}. Grade in a Linux machine or container."
    if shutil.which("bwrap") is None:
        return f"There is no `bwrap` on the PATH. To isolate, {_INSTALL}."
    if not hasattr(os, "pidfd_open"):
        return "Isolation needs Linux 5.3 or newer, and a Python built on it."
    return ""


def advice(said: str) -> str:
    """What to say where it was tried and failed: `said` is what it wrote, of a traceback the last line."""
    words = said.strip().rpartition("\n")[2] if "Traceback (most" in said else said.strip()[-600:]
    lines = [f"The sandbox could not be started: {words.rstrip('.') or 'it ended without a word'}."]
    limit = _read("/proc/sys/user/max_user_namespaces")
    if limit == "0":
        lines.append("This machine has user namespaces switched off: `sysctl user.max_user_namespaces=15000`.")
    if _read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        lines.append("User namespaces are for root alone here: `sysctl kernel.unprivileged_userns_clone=1`.")
    if _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        lines.append("AppArmor restricts user namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`.")
    if len(lines) == 1:
        lines.append(
            "It needs bubblewrap 0.5 or newer, user namespaces and a /proc that can be mounted. In Docker: "
            "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or podman."
        )
    return " ".join(lines)


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def scratch() -> str:
    """The folder inside that may be written to: /tmp, but where Python itself lies there."""
    return "/scratch" if any(Path(path).is_relative_to("/tmp") for path in staging.visible()) else "/tmp"


def command(staged: Path) -> list[str]:
    """bubblewrap with its options; the program to be run in it follows."""
    found = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    found += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "grading", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # What it takes to become nobody, and to mount a /proc that is whole; gone before anything else is done.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN"):
            found += ["--cap-add", capability]
    else:
        found += ["--unshare-user"]
    found += _mounts(staged)
    return found


def _mounts(staged: Path) -> list[str]:
    found = ["--perms", "1777", "--tmpfs", scratch()]
    made, masked = {scratch()}, list[str]()

    def parents(path: str) -> None:
        # Made by hand: those that bubblewrap makes are for root alone where it runs as root.
        for parent in reversed(Path(path).parents):
            if str(parent) not in (*made, "/"):
                made.add(str(parent))
                found.extend(["--perms", "0755", "--dir", str(parent)])

    clone = staging.clone()
    for path in staging.visible():
        parents(path)
        if clone is not None and clone.is_relative_to(path):
            found += ["--ro-bind", path, path, "--tmpfs", str(clone)]
            masked.append(str(clone))
        elif os.path.islink(path) and not os.path.isabs(os.readlink(path)):
            found += ["--symlink", os.readlink(path), path]
        else:
            found += ["--ro-bind", path, path]
    folders, files = staging.hidden()
    for folder in folders:
        found += ["--tmpfs", folder]
        masked.append(folder)
    for file in files:
        found += ["--ro-bind", os.devnull, file]
    found += ["--ro-bind", str(staged), COURSE, "--proc", "/proc", "--dev", "/dev"]
    for folder in (*masked, "/dev", "/"):  # what one submission could write, the next could read
        found += ["--remount-ro", folder]
    return [*found, "--chdir", scratch()]
