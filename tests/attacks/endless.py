"""Attacks that never end, in every place where somebody waits for them; and output without end."""

from __future__ import annotations

from attacks.bank import HONEST, NAME, WORTH, WRONG, Cells, World, attack, cell


@attack("loops in a cell", earns=WORTH, keeps=WORTH)
def loop_in_a_cell(world: World) -> Cells:
    return [HONEST, "while True:\n    pass"]


@attack("loops in a call of C that answers no signal", earns=WORTH, keeps=WORTH, heavy=True)
def loop_in_c(world: World) -> Cells:
    return [HONEST, "import itertools\nsum(itertools.repeat(1))"]


@attack("loops in calls of C while it is observed", heavy=True)
def loop_in_c_while_observed(world: World) -> Cells:
    return [
        cell(f"""
            def {NAME}(w, x, y):
                return pow(3, 10**9)

            def find_cuts(stations, x):
                import re
                return re.match("(a+)+$", "a" * 40 + "b")
        """)
    ]


@attack("catches whatever would stop it", heavy=True)
def loop_that_swallows(world: World) -> Cells:
    return [
        cell(f"""
            def swallow():
                while True:
                    try:
                        while True:
                            pass
                    except:
                        pass
                    finally:
                        swallow()

            def {NAME}(w, x, y):
                swallow()
        """),
        "swallow()",
    ]


@attack("loops when it is taken away, shown or turned to text", heavy=True)
def loop_in_special_methods(world: World) -> Cells:
    return [
        cell(f"""
            def forever(*_):
                while True:
                    pass

            class Result:
                __repr__ = __str__ = __iter__ = __len__ = __bool__ = __del__ = forever

            class Error(Exception):
                __str__ = __repr__ = forever

            def {NAME}(w, x, y):
                return Result()

            def find_cuts(stations, x):
                raise Error
        """),
    ]


@attack("loops in `__del__`, after the call is long over", heavy=True)
def loop_in_del(world: World) -> Cells:
    return [
        cell("""
            class Last:
                def __del__(self):
                    while True:
                        pass
            last = Last()
        """),
        WRONG,
        "del last",
    ]


@attack("loops in an exception's text, raised in a cell", heavy=True)
def loop_in_an_exception(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            class Error(Exception):
                def __str__(self):
                    while True:
                        pass
                __repr__ = __str__
                def _render_traceback_(self):
                    while True:
                        pass
            raise Error
        """),
    ]


@attack("loops when its name is looked up, or it is asked what it is")
def loop_in_lookups(world: World) -> Cells:
    return [
        cell(f"""
            class Strange:
                def __getattribute__(self, name):
                    while True:
                        pass

            {NAME} = Strange()
        """)
    ]


@attack("gives results without an end", heavy=True)
def results_without_end(world: World) -> Cells:
    return [
        cell(f"""
            import collections.abc, itertools

            class Endless(collections.abc.Mapping):
                def __len__(self): return 3
                def __iter__(self): return itertools.count()
                def __getitem__(self, key): return key

            def {NAME}(w, x, y):
                return Endless()

            def gradient_descent(f, x0, lr, steps):
                while True:
                    yield x0
        """)
    ]


@attack("sleeps, waits for input, a lock and a child that never ends")
def wait_for_ever(world: World) -> Cells:
    return [
        cell(f"""
            import threading
            lock = threading.Lock()
            lock.acquire()

            def {NAME}(w, x, y):
                lock.acquire()
        """),
        "answer = input('your name? ')",
        "import time\ntime.sleep(10**8)",
    ]


@attack("never ends its threads, and waits for them at the end")
def wait_at_the_end(world: World) -> Cells:
    return [
        cell(f"""
            import atexit, threading, time

            def forever():
                while True:
                    time.sleep(0.001)

            atexit.register(forever)
            threading._register_atexit(forever) if hasattr(threading, "_register_atexit") else None

            def {NAME}(w, x, y):
                threading.Thread(target=forever).start()
                return w * 0
        """)
    ]


@attack("goes on counting in a fork while the parent answers")
def burn_in_the_background(world: World) -> Cells:
    return [
        cell("""
            import os, threading
            for _ in range(4):
                if os.fork() == 0:
                    while True:
                        pass
        """),
        WRONG,
    ]


@attack("takes a little less than each limit, often", heavy=True)
def just_below_the_limit(world: World) -> Cells:
    return ["import time\nuntil = time.monotonic() + 0.7\nwhile time.monotonic() < until: pass"] * 40 + [WRONG]


@attack("prints without end", earns=WORTH)
def print_without_end(world: World) -> Cells:
    return [HONEST, "while True:\n    print('x' * 1_000_000)"]


@attack("prints a gigabyte while it is observed", heavy=True)
def print_while_observed(world: World) -> Cells:
    return [
        cell(f"""
            import sys

            def {NAME}(w, x, y):
                for _ in range(1000):
                    sys.stderr.write("x" * 1_000_000)
                    print("y" * 1_000_000)
                return w * 0
        """)
    ]


@attack("writes to the raw descriptors of output without end", heavy=True)
def write_raw_without_end(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import os
            while True:
                for descriptor in (1, 2):
                    try:
                        os.write(descriptor, b"x" * 65536)
                    except OSError:
                        pass
        """),
    ]


@attack("shows, warns and logs without end", heavy=True)
def show_without_end(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import logging, warnings
            warnings.simplefilter("always")
            number = 0
            while True:
                number += 1
                warnings.warn("w" * 100_000 + str(number))
                logging.warning("l" * 100_000)
                try:
                    display({"text/html": "h" * 1_000_000}, raw=True)
                except NameError:
                    pass
        """),
    ]
