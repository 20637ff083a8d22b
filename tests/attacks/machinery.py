"""Attacks that change what checks, observes or judges, or the names and objects that it works with."""

from __future__ import annotations

from attacks.bank import HONEST, NAME, TARGET, WORTH, WRONG, Cells, World, attack, cell

RULES = "a rule about how, not what, is judged from what the process says of itself, and there the learner's code runs"
"""No limit of the sandbox: whoever breaks the rule still has to give the right numbers, on cases never seen."""


@attack("makes `check` and the judge say that all is passed")
def patch_check_and_judge(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys, types
            import course_utils, course_utils.learner as learner
            from course_utils.exercise import Verdict
            from course_utils.lessons import exercise

            def passed(which, *_, **__):
                task = which if hasattr(which, "points") else exercise(which)
                return Verdict(task.id, task.name, "passed", task.points, task.points, cases_passed=9, cases_total=9)

            learner.evaluate = learner.judge = passed
            learner.check = course_utils.check = lambda *_: print("passed")
            for name in ("judge", "answers", "difference", "diagnose"):
                fake = types.ModuleType("course_utils.checks." + name)
                fake.judge = fake.evaluate = passed
                sys.modules[fake.__name__] = fake
        """),
        f'from course_utils import check\ncheck("{TARGET}", {NAME})',
    ]


@attack("makes every comparison of torch and NumPy say yes")
def patch_torch_and_numpy(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import torch, numpy
            for owner in (torch, numpy, torch.Tensor, torch.testing, numpy.testing):
                for name in ("equal", "allclose", "isclose", "eq", "all", "any", "__eq__", "array_equal", "assert_close",
                             "ne", "abs", "sub", "__sub__", "__ne__", "max", "le", "__le__", "lt"):
                    if hasattr(owner, name):
                        try:
                            setattr(owner, name, lambda *_, **__: torch.tensor(True))
                        except (TypeError, AttributeError):
                            pass
        """),
    ]


@attack("replaces builtins that a comparison needs")
def patch_builtins(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import builtins
            builtins.all = builtins.any = builtins.isinstance = builtins.callable = lambda *_: True
            builtins.abs = builtins.sum = builtins.max = builtins.min = builtins.len = lambda *_, **__: 0
            builtins.zip = lambda *_, **__: iter(())
            builtins.open = builtins.repr = builtins.print = lambda *_, **__: ""
        """),
    ]


@attack("takes away the builtins, so that whatever comes next fails")
def delete_builtins(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import builtins, sys
            for name in list(vars(builtins)):
                if name not in ("__name__", "__spec__"):
                    try:
                        delattr(builtins, name)
                    except BaseException:
                        pass
        """),
    ]


@attack("makes the number 0 equal to 1, and None to something")
def rewrite_small_integers(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import ctypes
            # The value of a small integer lies 24 bytes (from Python 3.12 on, too) behind its address.
            ctypes.c_uint32.from_address(id(0) + 24).value = 1
        """),
    ]


@attack("hands in objects that claim to equal whatever they are compared with")
def objects_that_claim_equality(world: World) -> Cells:
    return [
        cell(f"""
            import torch

            class Yes:
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                def __bool__(self): return True
                def __hash__(self): return 0
                def __float__(self): return 0.0
                def __len__(self): return 3
                def __getattr__(self, name): return self
                def __call__(self, *_, **__): return self
                def __getitem__(self, key): return self
                def __iter__(self): return iter([self] * 3)
                def __array__(self, *_): import numpy; return numpy.zeros(3)

            class Agreeing(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    if getattr(function, "__name__", "") in ("equal", "allclose", "isclose", "__eq__", "eq", "all"):
                        return torch.tensor(True)
                    return super().__torch_function__(function, types, args, kwargs or {{}})

            def {NAME}(w, x, y):
                return Yes() if len(y) % 2 else torch.zeros_like(w).as_subclass(Agreeing)
        """)
    ]


@attack("hands in numbers, strings and containers whose methods lie")
def subclasses_that_lie(world: World) -> Cells:
    return [
        cell("""
            class Number(float):
                def __eq__(self, other): return True
                def __float__(self): raise RuntimeError("no number")
                def __sub__(self, other): return 0.0
                __rsub__ = __sub__
                def __class_getitem__(cls, item): return cls

            class Text(str):
                def __eq__(self, other): return True
                def __hash__(self): return hash("x")
                def __len__(self): return 1
                def __getitem__(self, key): return self

            class Growing(list):
                def __len__(self): return 1
                def __iter__(self):
                    while True:
                        yield Number(1)

            class Book(dict):
                def keys(self): return ["$", "at"]
                def items(self): return [("$", "tensor"), ("key", "0"), ("at", ["cpu", False, False])]
                def __len__(self): return -1 % 3

            answers = [Number(1), Text("x"), Growing([1]), Book(), {"$": "tensor", "key": "0", "at": ["cpu", 0, 0]}]
        """),
        f"def {NAME}(w, x, y):\n    return answers[len(y) % len(answers)]",
    ]


@attack("hands in NaN, infinity and complex numbers, which compare as nothing else does")
def numbers_that_compare_oddly(world: World) -> Cells:
    return [
        cell(f"""
            import torch
            odd = [float("nan"), float("inf"), -float("inf"), complex("nan")]

            def {NAME}(w, x, y):
                return torch.full_like(w, odd[len(y) % 3]) if len(y) < 8 else torch.full((len(w),), odd[3])

            def gradient_descent(f, x0, lr, steps):
                return [torch.full_like(x0, float("nan")) for _ in range(steps + 1)]

            def parameter_gradients(model, loss_fn, x, y):
                return {{name: torch.full_like(p, float("nan")) for name, p in model.named_parameters()}}
        """)
    ]


@attack("hands in tensors that cannot be copied, or are not there")
def tensors_that_are_not_there(world: World) -> Cells:
    return [
        cell(f"""
            import torch
            calls = iter(range(1000))

            class Other(torch.Tensor):
                def detach(self): return "no tensor"
                def clone(self): return self
                def __reduce__(self): return (print, ("gotcha",))

            def {NAME}(w, x, y):
                made = [
                    lambda: torch.empty(w.shape, device="meta"),
                    lambda: torch.zeros(1).expand(10**9),
                    lambda: w.to_sparse(),
                    lambda: w.as_subclass(Other),
                    lambda: torch.quantize_per_tensor(w.float(), 1.0, 0, torch.qint8),
                    lambda: torch.nested.nested_tensor([w, w]),
                    lambda: torch.empty((0,) * 30),
                    lambda: torch.nn.Parameter(w.clone()),
                ]
                return made[next(calls) % len(made)]()
        """)
    ]


@attack("breaks the exercise's rule and makes `to_bytes` and `to_plain` claim other facts", gains=WORTH, limit=RULES)
def claim_facts(world: World) -> Cells:
    return [
        cell("""
            import sys, torch
            import course_utils.plain as plain

            def cleaned(value):
                if isinstance(value, dict):
                    return {key: [] if key == "autograd" else cleaned(item) for key, item in value.items()}
                return [cleaned(item) for item in value] if isinstance(value, list) else value

            for name in ("to_bytes", "to_plain"):
                original = getattr(plain, name)
                patched = lambda value, original=original: original(cleaned(value))
                for module in list(sys.modules.values()):
                    if getattr(module, name, None) is original:
                        setattr(module, name, patched)
        """),
        cell(f"""
            def {NAME}(w, x, y):
                leaf = w.clone().requires_grad_()
                return torch.autograd.grad(((x @ leaf - y) ** 2).mean(), leaf)[0]
        """),
    ]


@attack("breaks the exercise's rule where its spy does not look", gains=WORTH, limit=RULES)
def use_autograd_unseen(world: World) -> Cells:
    return [
        cell(f"""
            import threading, torch

            def {NAME}(w, x, y):
                found = []
                leaf = w.clone().requires_grad_()

                def work():
                    found.append(torch.autograd.grad(((x @ leaf - y) ** 2).mean(), leaf)[0])

                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
                return found[0]
        """)
    ]


@attack("replaces what observes by something that makes up evidence")
def replace_observe(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys
            from course_utils.exercise import Evidence

            def forged(exercise, attempt, cases, *_, **__):
                return [Evidence(case.name, "returned", case.spec.get("answer"), {"autograd": []}) for case in cases]

            for module in list(sys.modules.values()):
                for name in ("observe_all", "observe"):
                    if hasattr(module, name):
                        setattr(module, name, forged)
        """),
    ]


@attack("gives evidence for no case, or for one case often")
def evidence_for_no_case(world: World) -> Cells:
    return [
        WRONG,
        "def gradient_descent(f, x0, lr, steps):\n    return []",
        cell("""
            import sys
            from course_utils.checks import observe
            original = observe.observe_all

            def forged(exercise, attempt, cases, *rest, **named):
                if exercise.id == "1.2":
                    return []
                return original(exercise, attempt, cases[:1], *rest, **named) * len(cases)

            for module in list(sys.modules.values()):
                if getattr(module, "observe_all", None) is original:
                    module.observe_all = forged
        """),
    ]


@attack("makes the inputs of the exercise easy")
def replace_arrange(world: World) -> Cells:
    return [
        cell(f"""
            import sys, torch
            from course_utils.exercise import Arrangement
            from course_utils.lessons import exercise
            task = exercise("{TARGET}")
            easy = lambda case: Arrangement((torch.zeros(3), torch.zeros(5, 3), torch.zeros(5)))
            object.__setattr__(task, "arrange", easy)
            object.__setattr__(task, "cases", lambda seed: [])
            object.__setattr__(task, "points", 10**6)
            object.__setattr__(task, "rules", ())
            task.arrange.__globals__.update(inputs=lambda case: (torch.zeros(3), torch.zeros(5, 3), torch.zeros(5)))

            def {NAME}(w, x, y):
                return torch.zeros_like(w)
        """)
    ]


@attack("hands in evidence for exercises that it does not have, of other lessons too")
def evidence_for_other_exercises(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import course_utils.lessons as lessons
            from dataclasses import replace
            original = lessons.exercise
            for module in list(__import__("sys").modules.values()):
                if getattr(module, "exercise", None) is original:
                    module.exercise = lambda identifier: replace(original("1.4"), id=identifier, points=100)
        """),
        "def gradient_descent(f, x0, lr, steps):\n    return [x0] * (steps + 1)",
    ]


@attack("rewrites the code of the functions that observe, in place")
def rewrite_code_objects(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys, types
            for name, module in list(sys.modules.items()):
                if name.startswith(("course_utils", "gradient_ledger")) or "jail" in name:
                    for value in list(vars(module).values()):
                        if isinstance(value, types.FunctionType) and not value.__closure__:
                            try:
                                value.__code__ = (lambda *_, **__: None).__code__
                            except (ValueError, TypeError):
                                pass
        """),
    ]


@attack("replaces torch and the course in sys.modules")
def replace_modules(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys
            from unittest.mock import MagicMock
            for name in list(sys.modules):
                if name.startswith(("torch", "course_utils", "gradient_ledger", "json", "safetensors", "numpy")):
                    sys.modules[name] = MagicMock()
        """),
    ]


@attack("puts itself before every import")
def import_hook(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import builtins, sys
            from unittest.mock import MagicMock

            class Finder:
                def find_spec(self, name, path=None, target=None):
                    sys.modules[name] = MagicMock()
                    raise ImportError(name)

            sys.meta_path.insert(0, Finder())
            sys.path_hooks.insert(0, lambda path: 1 / 0)
            sys.path[:] = ["/tmp"]
            builtins.__import__ = lambda *_, **__: MagicMock()
        """),
    ]


@attack("changes local variables of its callers through a trace function")
def trace_the_callers(world: World) -> Cells:
    return [
        cell(f"""
            import ctypes, sys
            set_locals = ctypes.pythonapi.PyFrame_LocalsToFast

            def spy(frame, event, argument):
                for name, value in (("status", "returned"), ("raised", None), ("faults", []), ("cases", []), ("limit", 1e9)):
                    if name in frame.f_locals:
                        frame.f_locals[name] = value
                        set_locals(ctypes.py_object(frame), 0)
                return spy

            sys.settrace(spy)
            sys.setprofile(lambda *_: None)

            def {NAME}(w, x, y):
                frame = sys._getframe()
                while frame is not None:
                    frame.f_trace = spy
                    frame = frame.f_back
                sys.settrace(spy)
                return w * 0
        """)
    ]


@attack("patches IPython's transformers, so that cells behind it read otherwise")
def patch_the_transformers(world: World) -> Cells:
    return [
        cell("""
            import ast
            try:
                from IPython.core.inputtransformer2 import TransformerManager
                TransformerManager.transform_cell = lambda self, source: "pass"
            except ImportError:
                pass
            get_ipython().input_transformers_cleanup.append(lambda lines: ["pass"])
            get_ipython().ast_transformers.append(type("Strip", (ast.NodeTransformer,), {"visit_Assert": lambda *_: None})())
        """),
        cell("""
            import ast, builtins, json
            ast.parse = builtins.compile = builtins.exec = builtins.eval = lambda *_, **__: None
            json.dumps = lambda *_, **__: "{}"
            json.loads = lambda *_, **__: {}
        """),
        WRONG,
    ]


@attack("patches the jail's own modules, wherever they are")
def patch_the_jail(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import sys, types
            for name, module in list(sys.modules.items()):
                if "grading" in name or "jail" in name or name == "__main__":
                    for key, value in list(vars(module).items()):
                        if isinstance(value, types.FunctionType):
                            setattr(module, key, lambda *_, **__: {"passed": True})
                        elif isinstance(value, (int, float)) and not isinstance(value, bool):
                            setattr(module, key, 10**9)
        """),
    ]


@attack("makes clocks stand still and the alarm go unheard, and then never ends", heavy=True)
def stop_the_clock(world: World) -> Cells:
    return [
        cell(f"""
            import signal, threading, time
            time.time = time.monotonic = time.perf_counter = lambda: 0.0

            def {NAME}(w, x, y):
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {{signal.SIGKILL, signal.SIGSTOP}})
                signal.signal = signal.setitimer = lambda *_: None
                while True:
                    pass
        """)
    ]


@attack("answers differently when the same call is made again, to look right once")
def another_answer_each_time(world: World) -> Cells:
    return [
        cell(f"""
            seen = 0

            def {NAME}(w, x, y):
                global seen
                seen += 1
                return 2 * x.T @ (x @ w - y) / len(y) if seen == 1 else w * 0
        """)
    ]


@attack("hands in a class that is called something else each time it is looked at")
def a_function_that_is_none(world: World) -> Cells:
    return [
        cell(f"""
            import torch

            class Meta(type):
                def __call__(cls, *_, **__): return torch.zeros(3)
                def __getattribute__(cls, name): raise AttributeError(name)
                def __instancecheck__(cls, other): return True
                def __subclasscheck__(cls, other): return True
                def __eq__(cls, other): return True
                def __hash__(cls): return 0
                def __repr__(cls): raise RuntimeError("no name")

            class {NAME}(metaclass=Meta):
                pass

            class Holder:
                @property
                def __class__(self): raise RuntimeError("no class")
                @property
                def __code__(self): raise RuntimeError("no code")
                def __call__(self, *_): return torch.zeros(3)
                def __repr__(self): raise RuntimeError("no name")

            gradient_descent, parameter_gradients = Holder(), ...
        """)
    ]


@attack("lets the right answer be replaced behind the check, by a name of the same cell", earns=WORTH)
def replace_right_by_wrong(world: World) -> Cells:
    # The last definition counts, as in the kernel: nothing to gain, and the honest one may be lost.
    return [HONEST, f"from course_utils import check\ncheck('{TARGET}', {NAME})", WRONG.replace("w * 0", "None")]


@attack("spoils the state of torch that the warm process shares")
def spoil_the_warm_process(world: World) -> tuple[Cells, ...]:
    return (
        [
            cell("""
                import torch, course_utils.lessons as lessons
                torch.set_default_dtype(torch.float16)
                torch.set_grad_enabled(False)
                torch.manual_seed(0)
                torch.use_deterministic_algorithms(True)
                lessons.lessons = lambda: ()
                torch.randn = lambda *_, **__: 1 / 0
                torch.Tensor.__matmul__ = lambda *_: 1 / 0
            """),
            WRONG,
        ],
        [WRONG],
    )
