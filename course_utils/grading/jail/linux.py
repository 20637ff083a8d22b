"""What Linux offers to shut a process in: namespaces, mounts, capabilities and resource limits, through libc.

Nothing here runs on import, so that the module can be imported anywhere.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import socket
import struct
from pathlib import Path
from typing import Any

from course_utils.grading.jail import calls

_NOBODY = 65534
_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x40000
_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 24, 38
_CAPABILITIES_VERSION_3 = 0x20080522
INODES = 20_000
"""Most files and folders in the scratch folder of a child."""
OPEN_FILES = 512
"""Most files that a process may hold open."""


def _libc(name: str, *arguments: Any) -> None:
    """Call a function of libc that gives 0 when all went well. Raises `OSError` with its name."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _unshare(flags: int) -> None:
    _libc("unshare", flags)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _libc("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def _prctl(option: int, value: int) -> None:
    _libc("prctl", option, ctypes.c_ulong(value), 0, 0, 0)


def _map_myself(uid: int, gid: int) -> None:
    """In a new user namespace: be who one was outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


class Nursery:
    """A user namespace of our own, in which pid namespaces for children can be made; made once, by the warm process."""

    def __init__(self) -> None:
        """Enter it. The calling process forks: what goes on is the fork, and the caller ends when the fork does."""
        if os.getuid() == 0:
            # Never as root of the host, to whom files under /proc/sys belong. bubblewrap has covered parts of /proc;
            # a namespace may mount a /proc of its own only where one can be seen whole.
            _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            _prctl(_SET_DUMPABLE, 1)  # else /proc/self stays root's
        self.uid, self.gid = os.getuid(), os.getgid()
        _unshare(_NEWUSER | _NEWPID)
        _map_myself(self.uid, self.gid)
        server = os.fork()
        if server:
            _, status = os.waitpid(server, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 255)
        self._mine = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def fork(self) -> int:
        """`os.fork`, the child being the first of a new pid namespace."""
        _unshare(_NEWPID)
        child = os.fork()
        if child:
            _libc("setns", self._mine, _NEWPID)
        return child


def shut_in(nursery: Nursery, scratch: str, disk: int) -> None:
    """In a child of `Nursery.fork`: own mounts, `disk` bytes of scratch, /proc and network; no rights left."""
    _unshare(_NEWNS | _NEWUTS | _NEWIPC | _NEWNET)
    _mount("none", "/", "none", _REC | _PRIVATE)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _mount("scratch", scratch, "tmpfs", _NOSUID | _NODEV, f"size={disk},nr_inodes={INODES},mode=0700")
    for name in ("work", ".shm"):
        os.mkdir(f"{scratch}/{name}", 0o700)
    _mount(f"{scratch}/.shm", "/dev/shm", "none", _BIND)
    socket.sethostname("jail")
    _loopback_up()
    # A user namespace inside the one that owns the mounts and the network: nothing in it can change them.
    _unshare(_NEWUSER)
    _map_myself(nursery.uid, nursery.gid)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    Path("/proc/self/oom_score_adj").write_text("1000")
    calls.leave_keys()
    _drop_capabilities()
    _prctl(_SET_NO_NEW_PRIVS, 1)
    calls.deny()
    _prctl(_SET_DUMPABLE, 1)  # so that its memory can be watched from outside


def end_with_parent() -> None:
    """Be killed when the process that forked this one ends. Does nothing on other systems."""
    if platform.system() == "Linux":
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def _loopback_up() -> None:
    import fcntl

    set_flags, up, name = 0x8914, 1, b"lo"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", name, up))


def _drop_capabilities() -> None:
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        _prctl(_CAPBSET_DROP, capability)
    head = struct.pack("Ii", _CAPABILITIES_VERSION_3, 0)
    _libc("capset", head, bytes(24))


def limit_resources(seconds: float, memory: int, processes: int, disk: int) -> None:
    """Resource limits of this process and all that it starts; `memory` is on top of what it holds already."""
    import resource as r

    def put(kind: int, soft: int, hard: int | None = None) -> None:
        most = r.getrlimit(kind)[1]
        wanted = soft if hard is None else hard
        wanted = wanted if most == r.RLIM_INFINITY else min(wanted, most)
        r.setrlimit(kind, (min(soft, wanted), wanted))

    put(r.RLIMIT_CORE, 0)
    put(r.RLIMIT_CPU, int(seconds) + 1, int(seconds) + 2)
    put(r.RLIMIT_NOFILE, OPEN_FILES)
    put(r.RLIMIT_FSIZE, disk)
    put(r.RLIMIT_STACK, 8 * 2**20, 64 * 2**20)
    put(r.RLIMIT_MEMLOCK, 2**20)
    for more in ("RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"):
        if hasattr(r, more):
            put(getattr(r, more), 0)
    put(r.RLIMIT_NPROC, processes)
    put(r.RLIMIT_DATA, _data() + memory)


def _data() -> int:
    """Bytes of private writable memory that this process has mapped."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith("VmData:"):
            return int(row.split()[1]) * 1024
    return 0
