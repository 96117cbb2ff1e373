"""The helper under faults: one system call of one run fails, or is the last that the process makes.

How a run is made deterministic:
- strace traces the helper's main thread alone (no -f): the compiler and the threads that call flock() have system calls
  of their own, and strace counts `when=N` for each traced task by itself.
- A first run of a scenario records the calls with the paths behind their descriptors (-y). Only those count that touch the
  run's own folders: cache, compiler memo, outputs, private folder, sources. What the loader and OpenSSL read is left out.
- `when=N` is the number of the call among those of its name. Reads of the compiler's pipes and the close() that a flock()
  thread may make in our place move that number between runs, so the trace of each injected run is read: if another call
  than the meant one was hit, the run is repeated, in the end with the next numbers; what can't be reached is listed.
- SIGKILL at a call ends the process before the call has any effect (strace sends it on entry).
- flock() is called by a thread: those runs trace with -f and the path of one lock file (-P), and the compiler, which does not
  touch it, is not hit. EINTR is left out there: each attempt is a thread of its own, and all would be interrupted for ever.

After each run (Harness.violations):
 I1 exit 0 exactly when image and .mlir are there with the right bytes; never other bytes at an output; exit code 3 only for
    faults of outputs, sources or the private folder, whereas a fault of the cache or of the memo must give 0
 I2 a run that began without entries leaves none that `cache verify` complains of; after any other, `--repair` is enough
 I3 the next plain run succeeds in time with the right bytes, and where the cache can be written the one after it is a hit
 I4 a run that fails leaves nothing of an earlier run, and not what its build tool takes for success: the stamp, or without one
    the image; a stamp is never there without all the rest
 I5 a run that was not killed leaves no temporaries
"""

import contextlib
import copy
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DOUBLES = Path(__file__).resolve().parent.parent / "doubles"
TIMEOUT_S = 30
KILL = "SIGKILL"
SPACE, FILE = ("ENOSPC", "EDQUOT"), ("EIO", "EACCES", "ESTALE")

# What a call can fail with. openat: more below for those that write.
FAULTS = {
    "openat": (*FILE, "EMFILE", "EINTR"),
    "read": ("EIO", "ESTALE", "EINTR"),
    "pread64": ("EIO", "ESTALE", "EINTR"),
    "write": (*SPACE, "EIO", "ESTALE", "EINTR"),
    "pwrite64": (*SPACE, "EIO", "ESTALE", "EINTR"),
    "close": (*SPACE, "EIO", "ESTALE", "EINTR"),
    "fdatasync": (*SPACE, "EIO", "EROFS", "ESTALE", "EINTR", "ENOSYS"),
    "rename": (*SPACE, *FILE, "EROFS"),
    "unlink": (*FILE, "EROFS"),
    "unlinkat": (*FILE, "EROFS"),
    "rmdir": (*FILE, "EROFS"),
    "mkdir": (*SPACE, *FILE, "EROFS", "EMFILE"),
    "newfstatat": FILE,
    "fstat": FILE,
    "statx": (*FILE, "ENOSYS"),
    "stat": FILE,
    "lstat": FILE,
    "access": (*FILE, "EROFS"),
    "readlink": FILE,
    "getdents64": ("EIO", "ESTALE"),
    "ftruncate": (*SPACE, "EIO", "EACCES", "EROFS", "ESTALE", "EINTR"),
    "fchmod": (*FILE, "EROFS", "ENOSYS"),
    "chmod": (*FILE, "EROFS", "ENOSYS"),
    "utimensat": (*FILE, "EROFS", "ENOSYS"),
    "fcntl": ("EMFILE", "ENOLCK"),
    "flock": ("EIO", "ESTALE", "ENOLCK", "ENOSYS", "EOPNOTSUPP", "EBADF"),
}
FAULTS_OF_A_WRITING_OPEN = (*SPACE, "EROFS")
DESCRIPTOR_CALLS = ("read", "pread64", "write", "pwrite64", "close", "fdatasync", "fstat", "getdents64", "ftruncate", "fchmod", "fcntl")  # fmt: skip

KERNEL = """pub fn vector_add<T: Triton, D: Num, const BLOCK_SIZE: i32>(a_ptr: T::Pointer<D>, n: i32) {
    let at = T::arange(0, 128);
}
"""


class Missing(Exception):
    """A program that the harness needs is not there; the text says which, and what for."""


def compile_c(source, directory, *flags):
    """The program, or with -shared the library, that cc makes of tests/doubles/<source>."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise Missing(f"no C compiler (cc, or $CC) for {source}")
    output = Path(directory) / (Path(source).stem + (".so" if "-shared" in flags else ""))
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-O1", "-o", output, DOUBLES / source, *flags, "-ldl", "-pthread"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)
    if result.returncode != 0:
        raise Missing(f"{compiler} does not compile {source}: {result.stdout.decode(errors='replace')}")
    return output


class FastTeenyc:
    """`directory`/bin/teenyc, made of tests/doubles/fast_teenyc.c, with a log of its own."""

    def __init__(self, directory, *flags):
        self.path = Path(directory) / "bin" / "teenyc"
        compile_c("fast_teenyc.c", self.path.parent, *flags).rename(self.path)
        self.path.with_name("teenyc.log").touch()
        self.path.with_name("teenyc.log").chmod(0o666)

    def compiles(self):
        """[function, target-cpu, pid] of each."""
        return [line.split() for line in self.path.with_name("teenyc.log").read_text().splitlines()]

    def use_nonce(self):
        self.path.with_name("teenyc.nonce").touch()

    def sleep(self, milliseconds):
        self.path.with_name("teenyc.sleep").write_text(str(milliseconds))


@contextlib.contextmanager
def open_directory():
    """A temporary folder that other users may enter, as pytest's own may not."""
    with tempfile.TemporaryDirectory(prefix="open to all ") as directory:
        os.chmod(directory, 0o755)
        yield Path(directory)


def preloadable(source, directory):
    return compile_c(source, directory, "-shared", "-fPIC")


def needs_strace():
    """Raises Missing unless strace is there and may trace."""
    strace = shutil.which("strace")
    if strace is None:
        raise Missing("no strace")
    probe = subprocess.run([strace, "-o", os.devnull, "-e", "trace=openat", "true"], stdout=subprocess.PIPE, check=False,
                           stderr=subprocess.STDOUT, timeout=TIMEOUT_S)  # fmt: skip
    if probe.returncode != 0:
        raise Missing(f"strace can't trace here: {probe.stdout.decode(errors='replace').strip()}")
    return strace


@dataclasses.dataclass(frozen=True)
class Call:
    """One system call of a recorded run."""

    name: str
    number: int  # among those of its name in the main thread, from 1
    path: str  # below the run's folder, random parts replaced by *
    writes: bool = False  # an open that creates or writes

    @property
    def role(self):
        return self.path.split("/", 1)[0]

    def faults(self):
        return (KILL, *FAULTS[self.name], *(FAULTS_OF_A_WRITING_OPEN if self.writes else ()))


@dataclasses.dataclass(frozen=True)
class Injection:
    scenario: str
    call: Call
    fault: str

    def __str__(self):
        return f"{self.scenario}: {self.fault} at {self.call.name} #{self.call.number} of {self.call.path}"


@dataclasses.dataclass
class Place:
    """The folders of one run."""

    root: Path

    def __getattr__(self, name):
        if name in ("cache", "home", "out", "tmp", "input"):
            return self.root / name
        raise AttributeError(name)

    @property
    def image(self):
        return self.out / "kernel.ptx"

    @property
    def mlir(self):
        return self.out / "kernel.mlir"

    @property
    def stamp(self):
        return self.out / "kernel.stamp"


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    prepare: object  # callable(harness, place)
    more: tuple = ()  # arguments
    begins_empty: bool = False
    read_only: bool = False
    command: str = "compile"
    stamp: bool = True


def first_run(harness, place):
    """Nothing is there: neither the cache nor the memo of the compiler's identity."""


def known_compiler(harness, place):
    harness.plain(place)
    shutil.rmtree(place.cache)


def repair(harness, place):
    """The object has another byte than the manifest says."""
    harness.plain(place, "--id", "AUTO")
    for path in place.cache.glob("*.o"):
        path.write_bytes(path.read_bytes().replace(b"ret", b"rot"))


def old_hit(harness, place):
    """A hit whose time of use has to be noted."""
    harness.plain(place)
    for path in place.cache.glob("*.json"):
        os.utime(path, (time.time() - 3600,) * 2)


def read_only_hit(harness, place):
    """Owned by root, who writes there whatever the mode says: then the run itself belongs to somebody else."""
    harness.plain(place)
    for path in [*place.cache.rglob("*"), place.cache]:
        path.chmod(path.stat().st_mode & ~0o222)


def two_entries(harness, place):
    """One old, one new; a temporary and a day of statistics that are long over."""
    old_hit(harness, place)
    harness.plain(place, "--id", "AUTO", "--constant", "BLOCK_SIZE=64", constant=False)
    temporary = place.cache / "x_0.o.tmp.0123456789abcdef"
    temporary.write_text("")
    os.utime(temporary, (time.time() - 7200,) * 2)
    (place.cache / "stats" / "20200101.host.log").write_text("hit 1 1.0\n")


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("first run", first_run, begins_empty=True),
        Scenario("miss", known_compiler, begins_empty=True),
        Scenario("miss with id", known_compiler, ("--id", "AUTO"), begins_empty=True),
        Scenario("miss in a group's cache", known_compiler, ("--cache-shared",), begins_empty=True),
        Scenario("repair with id", repair, ("--id", "AUTO")),
        Scenario("hit", old_hit),
        Scenario("hit without a stamp", old_hit, stamp=False),
        Scenario("hit with a new id", old_hit, ("--id", "AUTO")),
        Scenario("hit, read-only", read_only_hit, read_only=True),
        Scenario("prune", two_entries, command="prune"),
        Scenario("verify --repair", repair, command="verify"),
    )
}

CALL = re.compile(r"(?:(\d+) +)?(?P<name>\w+)\((?P<arguments>.*?)(?:\) += (?P<result>.*)| <unfinished \.\.\.>|\) += \?.*)$")
RANDOM = ((re.compile(r"\.tmp\.[0-9a-f]{16}"), ".tmp.*"), (re.compile(r"/teeny-kernel-\w{6}(?=/|$)"), "/teeny-kernel-*"))
DECORATED = re.compile(r"<([^<>]*)>")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Harness:
    """`directory`, which other users may enter, gets copies of tool and compiler and the folders of the runs."""

    def __init__(self, tool, directory):
        self.strace = needs_strace()
        self.directory = Path(directory)
        self.tool = self.directory / "teeny-kernel"
        shutil.copy(tool, self.tool)
        self.compiler = FastTeenyc(self.directory / "toolchain").path
        # Its identity is remembered only once it is older than two seconds.
        time.sleep(2.2)
        self._numbers = iter(range(10**9))
        self._lock = threading.Lock()
        self._templates, self._calls = {}, {}
        self._preload = ()
        self.expected = self._expected()

    def with_defect(self, library, *environment):
        """The same harness for the helper with a library preloaded (in the run that is injected, not in those that check)."""
        other = copy.copy(self)
        other._calls = {}
        other._preload = tuple(word for variable in (f"LD_PRELOAD={library}", *environment) for word in ("-E", variable))
        return other

    # Runs ------------------------------------------------------------------------------------------------------

    def _place(self, template=None):
        with self._lock:
            number = next(self._numbers)
        root = self.directory / f"run {number}"
        if template is None:
            for name in ("home", "out", "tmp", "input"):
                (root / name).mkdir(parents=True)
            (root / "input" / "kernel.rs").write_text(KERNEL)
            shutil.copy(DOUBLES / "triton_prelude.rs", root / "input" / "prelude.rs")
        else:
            shutil.copytree(template, root)
        return Place(root)

    def _arguments(self, place, *more, constant=True, stamp=True):
        return [str(self.tool), "compile", "--source", str(place.input / "kernel.rs"), "--type", "f32",
                *(("--constant", "BLOCK_SIZE=128") if constant else ()), "--prelude", str(place.input / "prelude.rs"),
                "--compiler", str(self.compiler), "--arch", "90", "--ptx-version", "default", "--cache-dir", str(place.cache),
                "--output", str(place.image), "--mlir-output", str(place.mlir),
                *(("--stamp", str(place.stamp)) if stamp else ()), *more]  # fmt: skip

    def _command(self, scenario, place):
        if scenario.command == "compile":
            return self._arguments(place, *scenario.more, stamp=scenario.stamp)
        more = {"prune": ("--max-size", "1"), "verify": ("--repair",)}[scenario.command]
        return [str(self.tool), "cache", scenario.command, "--cache-dir", str(place.cache), *more]

    @staticmethod
    def _environment(place):
        return {"PATH": os.defpath, "HOME": str(place.home), "TMPDIR": str(place.tmp), "LANG": "C"}

    def _run(self, place, command, **options):
        with open(place.root / "said", "ab") as said:
            child = subprocess.Popen(command, env=self._environment(place), cwd=place.root, stdin=subprocess.DEVNULL, stdout=said,
                                     stderr=said, start_new_session=True, **options)  # fmt: skip
            try:
                return child.wait(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return "time is over"

    def plain(self, place, *more, **options):
        """A run without faults, which has to succeed."""
        code = self._run(place, self._arguments(place, *more, **options))
        if code != 0:
            raise AssertionError(f"a plain run ended with {code}:\n{(place.root / 'said').read_text(errors='replace')}")

    def _expected(self):
        place = self._place()
        self.plain(place)
        result = (place.image.read_bytes(), place.mlir.read_bytes())
        shutil.rmtree(place.root)
        return result

    def _template(self, scenario):
        if scenario.name not in self._templates:
            place = self._place()
            scenario.prepare(self, place)
            for path in (place.image, place.mlir, place.stamp):
                path.write_text("of an earlier run")
            if not scenario.stamp:
                place.stamp.unlink()
            (place.root / "said").unlink(missing_ok=True)
            self._templates[scenario.name] = place.root
        return self._templates[scenario.name]

    def _as_user(self, scenario, place):
        """Root may write everywhere: a read-only cache needs another user, and root's is one that everybody may read."""
        if not scenario.read_only or os.geteuid() != 0:
            return {}
        for path in [place.root, *place.root.rglob("*")]:
            if place.cache not in (path, *path.parents):
                os.chown(path, 65534, 65534)
        for path in [place.cache, *place.cache.rglob("*")]:
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        return {"user": 65534, "group": 65534, "extra_groups": []}

    # Recording -------------------------------------------------------------------------------------------------

    def calls(self, scenario):
        """The calls of a run of the scenario that touch what is its own."""
        if scenario.name not in self._calls:
            place = self._place(self._template(scenario))
            log = place.root / "trace"
            options = self._as_user(scenario, place)
            code = self._run(place, [self.strace, "-y", "-s", "0", "-o", str(log), *self._preload, *self._command(scenario, place)], **options)
            assert code == 0, (place.root / "said").read_text(errors="replace")
            counts, found = {}, []
            for line in log.read_text(errors="replace").splitlines():
                name, path, writes = self._parse(line, place)
                if name is None:
                    continue
                counts[name] = counts.get(name, 0) + 1
                if path is not None and name in FAULTS:
                    found.append(Call(name, counts[name], path, writes))
            found += [Call("flock", 1, path) for path in dict.fromkeys(c.path for c in found if c.path.endswith(".lock"))]
            self._calls[scenario.name] = found
            self._remove(place)
        return self._calls[scenario.name]

    def injections(self, scenario):
        return [Injection(scenario.name, call, fault) for call in self.calls(scenario) for fault in call.faults()]

    @staticmethod
    def _parse(line, place):
        """Name of the call, the path below `place` that it is about (None: none of ours), and whether it is a writing open."""
        match = CALL.match(line)
        if not match:
            return None, None, False
        name, arguments = match["name"], match["arguments"]
        quoted, decorated = QUOTED.findall(arguments), DECORATED.findall(arguments)
        if name in DESCRIPTOR_CALLS or (quoted and not quoted[-1] and decorated):
            path = decorated[0] if decorated else None
        elif name in ("unlinkat", "newfstatat", "openat") and quoted and not quoted[-1].startswith("/") and decorated:
            path = f"{decorated[0]}/{quoted[-1]}"
        else:
            path = quoted[-1] if quoted else None
        if path is None or not path.startswith(f"{place.root}/") and path != str(place.root):
            return name, None, False
        path = path.removeprefix(f"{place.root}/").removesuffix(" (deleted)")
        for pattern, text in RANDOM:
            path = pattern.sub(text, path)
        if path.split("/", 1)[0] not in ("cache", "home", "out", "tmp", "input"):
            return name, None, False
        return name, path, "O_CREAT" in arguments

    # Injecting -------------------------------------------------------------------------------------------------

    def inject(self, injection):
        """Violations of the run (empty: none), or None when the call could not be reached."""
        for attempt in range(24):
            # A pipe may have been read once more or less often before, however often one tries.
            shift = (0, 0, 0, 1, -1, 0, 2, -2)[attempt % 8]
            place = self._place(self._template(SCENARIOS[injection.scenario]))
            try:
                reached, code, said = self._attempt(injection, place, shift)
                if reached:
                    return self.violations(injection, place, code, said)
            finally:
                self._remove(place)
        return None

    def _attempt(self, injection, place, shift):
        scenario, call = SCENARIOS[injection.scenario], injection.call
        log = place.root / "trace"
        action = "signal=SIGKILL" if injection.fault == KILL else f"error={injection.fault}"
        options = self._as_user(scenario, place)
        command = [self.strace, "-y", "-s", "0", "-o", str(log), "-e", f"trace={call.name}"]
        if call.name == "flock":
            command += ["-f", "-P", str(place.root / call.path), "-e", f"inject=flock:{action}:when=1"]
        else:
            command += ["-e", f"inject={call.name}:{action}:when={max(1, call.number + shift)}"]
        code = self._run(place, [*command, *self._preload, *self._command(scenario, place)], **options)
        lines = [line for line in log.read_text(errors="replace").splitlines() if CALL.match(line)]
        if injection.fault == KILL:
            hit = lines[-1:] if code == -signal.SIGKILL else []
        else:
            hit = [line for line in lines if "(INJECTED)" in line]
        if call.name == "flock":
            reached = bool(hit)
        else:
            reached = len(hit) == 1 and self._parse(hit[0], place)[:2] == (call.name, call.path)
        return reached, code, (place.root / "said").read_text(errors="replace")

    # What must hold --------------------------------------------------------------------------------------------

    def violations(self, injection, place, code, said):
        scenario, call = SCENARIOS[injection.scenario], injection.call
        killed = injection.fault == KILL
        found = []

        def complain(invariant, text):
            found.append(f"{invariant} {injection}: {text}\n    it said: {said.strip()[:400]}")

        if scenario.command == "compile":
            self._check_run(scenario, injection, place, code, complain)
        elif not killed and code not in (0, 3):
            complain("I1", f"exit {code}")
        if not killed:
            self._check_temporaries(call, place, complain)
        self._check_cache(scenario, call, place, complain)
        self._check_next(scenario, place, complain)
        return found

    def _check_run(self, scenario, injection, place, code, complain):
        call, killed = injection.call, injection.fault == KILL
        expected = dict(zip((place.image, place.mlir), self.expected))
        there = {path: path.read_bytes() for path in (*expected, place.stamp) if path.exists()}
        stale = b"of an earlier run"
        right = all(there.get(path) == content for path, content in expected.items())
        may_be_stale = call.name == "unlink" and call.role == "out"
        for path, content in there.items():
            if content == stale and not may_be_stale:
                complain("I4", f"{path.name} of an earlier run is still there (exit {code})")
            elif content not in (stale, expected.get(path, b"")):
                complain("I1", f"wrong bytes in {path.name}: {content[:80]!r}")
        if there.get(place.stamp) == b"" and not right:
            complain("I4", "the stamp is there and an output is not")
        if killed:
            return
        success = place.stamp if scenario.stamp else place.image
        if code == 0 and not (right and success in there):
            complain("I1", "exit 0 without all the right outputs")
        if code != 0:
            if code != 3 or call.role in ("cache", "home"):
                complain("I1", f"exit {code} for a fault of {call.role}")
            if there.get(success, stale) != stale:
                complain("I4", f"exit {code}, and {success.name} is there")

    @staticmethod
    def _check_temporaries(call, place, complain):
        left = [path for folder in (place.cache, place.out, place.home) if folder.exists() for path in folder.rglob("*.tmp.*")]
        left += list(place.tmp.iterdir())
        left = [path.name for path in left if path.name != "x_0.o.tmp.0123456789abcdef"]
        # Where removing is what fails, or looking for what is to be removed, something stays.
        removing = call.name in ("unlink", "unlinkat", "rmdir") or (call.role == "tmp" and call.name in ("openat", "newfstatat", "getdents64", "close", "fcntl"))  # fmt: skip
        if left and not removing:
            complain("I5", f"left {', '.join(left)}")

    def _cache(self, place, *arguments):
        more = ("--cache-shared",) if place.cache.stat().st_mode & 0o020 else ()
        return self._run(place, [str(self.tool), "cache", *arguments, "--cache-dir", str(place.cache), *more])

    def _check_cache(self, scenario, call, place, complain):
        if not place.cache.exists():
            return
        if self._cache(place, "verify") == 0:
            return
        if scenario.begins_empty:
            complain("I2", "verify finds a damaged entry in what was an empty cache")
        self._cache(place, "verify", "--repair")
        if not scenario.read_only and self._cache(place, "verify") != 0:
            complain("I2", "verify --repair does not repair")

    def _check_next(self, scenario, place, complain):
        """The plain run, and whether what it stored is a hit: the second may have no compiler to fall back on."""
        shared = ("--cache-shared",) if "--cache-shared" in scenario.more else ()
        for attempt in ("next", "second"):
            code = self._run(place, self._arguments(place, *scenario.more, "--log-level", "debug"))
            said = (place.root / "said").read_text(errors="replace")
            if code != 0:
                complain("I3", f"the {attempt} run ended with {code}: {said[-300:]}")
                return
            if tuple(path.read_bytes() if path.exists() else None for path in (place.image, place.mlir)) != self.expected:
                complain("I3", f"the {attempt} run did not deliver the right bytes")
                return
        if "debug: hit: vector_add" not in said.splitlines()[-1]:
            complain("I3", f"what the next run stored is no hit: {said[-300:]}")
        if self._run(place, [str(self.tool), "cache", "verify", "--cache-dir", str(place.cache), *shared]) != 0:
            complain("I2", "verify complains after two plain runs")

    # ---------------------------------------------------------------------------------------------------------------

    @staticmethod
    def _remove(place):
        shutil.rmtree(place.root, ignore_errors=True)

    def sweep(self, injections, workers=None, report=None):
        """(violations, injections that were not reached) of many injections."""
        for name in dict.fromkeys(injection.scenario for injection in injections):
            self.calls(SCENARIOS[name])
        violations, unreached = [], []

        def one(injection):
            result = self.inject(injection)
            if result is None:
                unreached.append(injection)
            else:
                violations.extend(result)
                if report and result:
                    report(result)

        with ThreadPoolExecutor(workers or 2 * (os.cpu_count() or 1)) as pool:
            for future in [pool.submit(one, injection) for injection in injections]:
                future.result()
        return violations, unreached
