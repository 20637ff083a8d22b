"""System calls that no notebook needs and that would reach around the other walls, denied by a seccomp filter.

Memory that no process maps (memfd, System V segments) counts for nobody; vsock leads out of a virtual machine whatever
the network namespace; keys of the grading user, new namespaces, io_uring, bpf and ptrace widen what can be attacked.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

# Numbers by machine, from the kernel's tables; since 2019 new calls have one number everywhere.
_NUMBERS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "add_key": 248,
            "bpf": 321,
            "clone": 56,
            "keyctl": 250,
            "memfd_create": 319,
            "msgget": 68,
            "perf_event_open": 298,
            "ptrace": 101,
            "request_key": 249,
            "semget": 64,
            "setns": 308,
            "shmget": 29,
            "socket": 41,
            "unshare": 272,
            "userfaultfd": 323,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "add_key": 217,
            "bpf": 280,
            "clone": 220,
            "keyctl": 219,
            "memfd_create": 279,
            "msgget": 186,
            "perf_event_open": 241,
            "ptrace": 117,
            "request_key": 218,
            "semget": 190,
            "setns": 268,
            "shmget": 194,
            "socket": 198,
            "unshare": 97,
            "userfaultfd": 282,
        },
    ),
}
_EVERYWHERE = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "memfd_secret": 447}
_CLONE3 = 435
_NAMESPACES = 0x7E020000
"""The flags of `clone` that make namespaces."""
_FAMILIES = (1, 2, 10, 16)
"""Sockets that may be made: local, IPv4 and IPv6 (there is only a loopback), netlink (how it is found)."""
_X32 = 0x40000000

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
"""Where the filter finds the call's number, the machine's, and the low half of the first argument."""
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_KEYCTL_JOIN = 1


def leave_keys() -> None:
    """A session keyring of one's own in place of the one inherited. Does nothing on a machine not known here."""
    known = _NUMBERS.get(platform.machine())
    if known is not None:
        ctypes.CDLL(None).syscall(known[1]["keyctl"], _KEYCTL_JOIN, None)


def deny() -> None:
    """From now on, in this process and all that it starts. Raises `OSError`; does nothing on a machine not known."""
    known = _NUMBERS.get(platform.machine())
    if known is None:
        return
    program = b"".join(struct.pack("HBBI", *step) for step in _filter(*known))
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HP", len(program) // 8, ctypes.addressof(held))
    set_seccomp, with_filter = 22, 2
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(set_seccomp, ctypes.c_ulong(with_filter), described, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {errno.errorcode.get(number, number)}")


def _filter(machine: int, numbers: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """The filter as steps (what, jump if so, jump if not, with what)."""
    refuse, no_such_call = _ERROR | errno.EPERM, _ERROR | errno.ENOSYS
    steps = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if machine == _NUMBERS["x86_64"][0]:
        steps += [(_GREATER, 0, 1, _X32), (_RETURN, 0, 0, no_such_call)]
    # glibc then takes `clone`, whose flags can be read here.
    steps += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, no_such_call)]
    steps += [(_EQUAL, 0, 3, numbers["clone"]), (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NAMESPACES)]
    steps += [(_RETURN, 0, 0, refuse), (_LOAD, 0, 0, _NUMBER)]
    steps += [(_EQUAL, 0, len(_FAMILIES) + 2, numbers["socket"]), (_LOAD, 0, 0, _FIRST)]
    steps += [(_EQUAL, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)]
    steps += [(_RETURN, 0, 0, refuse), (_LOAD, 0, 0, _NUMBER)]
    for name, number in {**numbers, **_EVERYWHERE}.items():
        if name not in ("clone", "socket"):
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]
