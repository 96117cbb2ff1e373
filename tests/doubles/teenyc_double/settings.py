"""What a test asks of the double, and the log in which the double says what it was asked."""

import fcntl
import json
import os
import stat
import time

MODES = (
    "ok", "exit1", "panic101", "abort", "segv", "trunc", "empty", "missing", "nosidecar", "scratch", "rereadsrc",
    "daemon", "noisy", "partial_fail", "wrong_target", "no_entry", "huge",
)  # fmt: skip

# name: (default, accepted types). Documented in the program's docstring.
KNOWN = {
    "log": (None, (str, type(None))),
    "generation": ("CB3", (str,)),
    "mode": ("ok", (str,)),
    "bytes": (1 << 20, (int,)),
    "sleep": (0, (int, float)),
    "sleep_mid": (0, (int, float)),
    "reread_seconds": (1.0, (int, float)),
    "daemon_seconds": (60, (int, float)),
    "nonce": (False, (bool,)),
    "stage_tag": (None, (str, type(None))),
    "max_level_info": (False, (bool,)),
    "libdevice": ("auto", (str,)),
    "generate_bin": (False, (bool, str)),
    "ptx_version": (None, (int, type(None))),
    "version": ("1.97.1", (str,)),
    "meta": ({}, (dict,)),
    "overrides": ({}, (dict,)),
}
CHOICES = {
    "mode": MODES,
    "generation": ("CB1", "CB2", "CB3"),
    "stage_tag": (None, "ptx", "asm"),
    "libdevice": ("auto", "referenced", "missing"),
    "generate_bin": (False, True, "no_ptxas"),
}


class BadSettings(Exception):
    """The configuration file is wrong: a defect of the test, never taken for the compiler's answer."""


class Settings:
    def __init__(self, values):
        self.__dict__.update({name: default for name, (default, _) in KNOWN.items()})
        self.merge(values)

    def merge(self, values):
        for name, value in values.items():
            if name not in KNOWN:
                raise BadSettings(f"unknown setting {name!r}; known: {', '.join(sorted(KNOWN))}")
            if not isinstance(value, KNOWN[name][1]):
                raise BadSettings(f"setting {name!r}: {value!r} is of the wrong type")
            if name in CHOICES and value not in CHOICES[name]:
                raise BadSettings(f"setting {name!r}: {value!r} is not one of {CHOICES[name]}")
            setattr(self, name, value)

    def for_target_cpu(self, cpu):
        """Applies the overrides for one -Ctarget-cpu (\"\" stands for none given)."""
        self.merge(self.overrides.get(cpu or "", {}))


def load(invoked):
    """The settings file lies beside the program: beside the path as invoked first, then beside what that resolves to."""
    values = {}
    for path in (invoked, os.path.realpath(invoked)):
        try:
            with open(path + ".json", encoding="utf-8") as file:
                values = json.load(file)
        except FileNotFoundError:
            continue
        except ValueError as error:
            raise BadSettings(f"{path}.json: {error}") from None
        break
    settings = Settings(values)
    settings.log = os.environ.get("TEENYC_DOUBLE_LOG") or settings.log
    return settings


def initial_environment():
    """The environment as execve passed it: Python itself may add LC_CTYPE to os.environ."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [pair.split(b"=", 1) for pair in file.read().split(b"\0") if b"=" in pair]
        return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}
    except OSError:
        return dict(os.environ)


def standard_input():
    """null, closed, pipe, file, terminal or other."""
    try:
        status = os.fstat(0)
    except OSError:
        return "closed"
    null = os.stat(os.devnull)
    if stat.S_ISCHR(status.st_mode):
        if status.st_rdev == null.st_rdev:
            return "null"
        return "terminal" if os.isatty(0) else "other"
    if stat.S_ISFIFO(status.st_mode):
        return "pipe"
    return "file" if stat.S_ISREG(status.st_mode) else "other"


def inherited_descriptors():
    """Descriptors above 2 that the parent leaked into us; Python's own are close-on-exec."""
    leaked = []
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            if int(name) > 2 and not fcntl.fcntl(int(name), fcntl.F_GETFD) & fcntl.FD_CLOEXEC:
                leaked.append(int(name))
        except OSError:
            pass  # the descriptor of the listing itself
    return sorted(leaked)


class Log:
    """One JSON object a line, each appended by a single write, so that racing doubles do not mix."""

    def __init__(self, path):
        self.path = path
        self.pid = os.getpid()

    def add(self, event, **fields):
        if not self.path:
            return
        line = json.dumps({"event": event, "pid": self.pid, **fields}) + "\n"
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.write(fd, line.encode("ascii"))
        finally:
            os.close(fd)

    def start(self, argv, **fields):
        if self.path:
            self.add("start", ppid=os.getppid(), started=time.time(), cwd=os.getcwd(), argv=argv, **fields,
                     stdin=standard_input(), descriptors=inherited_descriptors(), env=initial_environment())  # fmt: skip
