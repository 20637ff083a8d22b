"""Attacks that call out: to the host's own services, to the network, to names."""

from __future__ import annotations

from attacks.bank import LOOT, SMUGGLE, WRONG, Cells, World, attack, cell


@attack("connects to what the host listens on, TCP and UDP", real=True)
def localhost(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            for where in ("127.0.0.1", "localhost", "0.0.0.0"):
                for port in ({world.port}, 22, 80, 8888, 2375, 6379):
                    with contextlib.suppress(OSError), socket.create_connection((where, port), 0.2) as line:
                        look(line.recv(1000))
                with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                    line.settimeout(0.2)
                    line.sendto(b"ask", (where, {world.port}))
                    look(line.recv(1000))
        """),
        SMUGGLE,
    ]


@attack("connects to Unix sockets of the host, by file and by abstract name", real=True)
def unix_sockets(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            import tempfile
            DISPLAY = tempfile.gettempdir() + "/.X11-unix/X0"
            names = [{str(world.unix)!r}, "\\0" + {world.abstract!r}, "/var/run/docker.sock", "/run/dbus/system_bus_socket",
                     "/run/systemd/private", DISPLAY, "\\0" + DISPLAY, "/run/containerd/containerd.sock"]
            with contextlib.suppress(OSError):
                names += [line.split()[-1].replace("@", "\\0") for line in open("/proc/net/unix").read().splitlines()[1:] if " @" in line or "/" in line]
            for name in names:
                with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
                    line.settimeout(0.2)
                    line.connect(name)
                    look(line.recv(1000))
        """),
        SMUGGLE,
    ]


@attack("calls the network: names, addresses, the cloud's metadata, IPv6, broadcasts, raw packets")
def the_network(world: World) -> Cells:
    return [
        LOOT,
        cell(f"""
            import urllib.request
            socket.setdefaulttimeout(0.1)
            reached = []
            for action in (
                lambda: urllib.request.urlopen("http://localhost:{world.port}/", timeout=0.1),
                lambda: socket.create_connection(("1.1.1.1", 53), 0.1),
                lambda: socket.create_connection(("169.254.169.254", 80), 0.1),
                lambda: socket.create_connection(("::1", {world.port}), 0.1),
                lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)),
                lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("255.255.255.255", 9)),
                lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
                lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
                lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0xFFFF)) or 1 / 0,
                lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).connect((2, 22)),
                lambda: socket.gethostbyname("localhost.localdomain") and 1 / 0,
            ):
                with contextlib.suppress(OSError, ZeroDivisionError):
                    action()
                    reached.append(action.__code__.co_firstlineno)
            print(reached)
            if reached:
                succeeded()
        """),
        SMUGGLE,
    ]


@attack("listens on the ports of the host, for others to call in")
def listen(world: World) -> Cells:
    return [
        WRONG,
        cell("""
            import socket, threading
            held = []
            for family, where in ((socket.AF_INET, ("0.0.0.0", 54321)), (socket.AF_UNIX, "\\0attack-listens"), (socket.AF_UNIX, "attack")):
                try:
                    line = socket.socket(family)
                    line.bind(where)
                    line.listen()
                    held.append(line)
                    threading.Thread(target=line.accept, daemon=True).start()
                except OSError:
                    pass
        """),
    ]
