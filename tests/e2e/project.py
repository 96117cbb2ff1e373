"""A private place for one test: the helper by hand, and a consumer's CMake project that takes Teeny by find_package."""

import functools
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 120
GENERATORS = ("Ninja", "Unix Makefiles", "Ninja Multi-Config")
OLDEST_RUSTC = (1, 90)
ENTRY_FILE = re.compile(r"\w+_[0-9a-f]{64}\.(rs|o|mlir|json|lock)")
VARIABLES = ("TEENY_TEST_KERNEL_TOOL", "TEENY_TEST_PACKAGE_DIR", "TEENY_TEST_SOURCE_DIR")


@dataclass(frozen=True)
class Installation:
    """What is under test."""

    tool: Path
    package: Path
    source: Path

    @classmethod
    def from_environment(cls):
        """Raises RuntimeError, with a text for people, when a variable is missing or wrong."""
        missing = [name for name in VARIABLES if not os.environ.get(name)]
        if missing:
            raise RuntimeError(f"set {', '.join(missing)} (the path of teeny-kernel, the build tree's folder with"
                               " TeenyConfig.cmake, and the root of this repository), or run ctest, which does")  # fmt: skip
        tool, package, source = (Path(os.environ[name]).resolve() for name in VARIABLES)
        for name, file in zip(VARIABLES, (tool, package / "TeenyConfig.cmake", source / "modules" / "Teeny.cmake")):
            if not file.is_file():
                raise RuntimeError(f"{name} is {os.environ[name]}, and there is no {file}")
        return cls(tool, package, source)


@dataclass(frozen=True)
class Result:
    command: list
    returncode: int
    stdout: str
    stderr: str

    @property
    def output(self):
        return self.stdout + self.stderr

    def __str__(self):
        shown = " ".join(map(str, self.command))
        return f"{shown}\nended with {self.returncode}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


class Failed(AssertionError):
    """A command that should have succeeded; shows all that it said."""


class Sandbox:
    """A folder whose path has a space and a letter that is not ASCII, with its own cache, TMPDIR and environment.

    HOME may be shared: the helper remembers there what it read of a toolchain.
    """

    def __init__(self, installation, directory, home):
        self.installation = installation
        self.root = Path(directory) / "pläce of work"
        self.home = Path(home)
        self.cache = self.root / "cache"
        self.temporary = self.root / "tmp"
        self.temporary.mkdir(parents=True)

    def environment(self, changes=None):
        """`changes` adds variables; None takes one away."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.temporary),
            "TEENYC_CACHE_DIR": str(self.cache),
            **(changes or {}),
        }
        return {name: str(value) for name, value in environment.items() if value is not None}

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *command, env=None, cwd=None, **options):
        """In a process group of its own."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([str(word) for word in command], env=self.environment(env), cwd=cwd or self.root,
                                encoding="utf-8", errors="replace", start_new_session=True, **options)  # fmt: skip

    def run(self, *command, check=True, timeout=TIMEOUT_S, **options):
        child = self.start(*command, **options)
        try:
            stdout, stderr = child.communicate(timeout=timeout)
        except BaseException:
            end_group(child)
            raise
        result = Result(list(command), child.returncode, stdout or "", stderr or "")
        if check and result.returncode != 0:
            raise Failed(str(result))
        return result

    def tool(self, *arguments, **options):
        """teeny-kernel."""
        return self.run(self.installation.tool, *arguments, **options)

    def members(self, *endings):
        """Paths of the files of entries in the cache, by default all but locks."""
        endings = endings or (".rs", ".o", ".mlir", ".json")
        found = self.cache.iterdir() if self.cache.is_dir() else ()
        return sorted(p for p in found if ENTRY_FILE.fullmatch(p.name) and p.suffix in endings)

    def cached(self, *endings):
        """{name: bytes} of members()."""
        return {path.name: path.read_bytes() for path in self.members(*endings)}

    def temporaries(self):
        """What a run must not leave behind: anything in TMPDIR, and files on their way to their name."""
        left = list(self.temporary.rglob("*"))
        left += [p for p in self.root.rglob("*") if ".tmp" in p.name and self.temporary not in p.parents]
        return sorted(str(p.relative_to(self.root)) for p in left)


class Project:
    """A CMake project in a sandbox. Each step returns a Result, and raises with the full output unless `check` is false."""

    def __init__(self, sandbox, generator="Ninja", name="projéct", double=None, rustc=None):
        self.sandbox, self.generator = sandbox, generator
        self.source = sandbox.root / name
        self.binary = sandbox.root / f"{name} build"
        self.source.mkdir()
        self.multi_config = generator == "Ninja Multi-Config"
        self.definitions = {"Teeny_DIR": sandbox.installation.package}
        if double is not None:
            self.definitions["TEENYC_EXECUTABLE"] = double.path
        if rustc is not None:
            self.definitions["TEENY_RUSTC_EXECUTABLE"] = rustc
        if not self.multi_config:
            self.definitions["CMAKE_BUILD_TYPE"] = "Debug"

    def write(self, name, text):
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def replace(self, name, old, new):
        """Edits a source file; the text must be there."""
        text = (self.source / name).read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        return self.write(name, text.replace(old, new))

    def configure(self, *arguments, **options):
        definitions = [f"-D{name}={value}" for name, value in self.definitions.items()]
        return self.sandbox.run("cmake", "-S", self.source, "-B", self.binary, "-G", self.generator, *definitions,
                                *arguments, **options)  # fmt: skip

    def build(self, *arguments, config="Debug", jobs=4, **options):
        """`arguments` go to `cmake --build`. Output and errors are in `stdout`, in their order."""
        chosen = ["--config", config] if self.multi_config else []
        return self.sandbox.run("cmake", "--build", self.binary, "-j", jobs, *chosen, *arguments,
                                stderr=subprocess.STDOUT, **options)  # fmt: skip

    def program(self, name="app", config="Debug", directory="."):
        return self.binary / directory / (config if self.multi_config else "") / name

    def run(self, *arguments, name="app", config="Debug", directory=".", **options):
        return self.sandbox.run(self.program(name, config, directory), *arguments, **options)

    def is_quiet(self, **options):
        """Whether one more build finds nothing to do. Shows what it said when there was something."""
        result = self.build(**options)
        if self.generator.startswith("Ninja"):
            quiet = "no work to do" in result.stdout
        else:
            quiet = not re.search(r"Building|Linking|Compiling|Embedding|Declaring|Assembling|Generating|Re-run", result.stdout)
        if not quiet:
            print(result.stdout)
        return quiet

    def times(self):
        """{path in the build tree: mtime in ns} of what rules of the user's targets and ours write."""
        endings = (".ptx", ".stamp", ".cpp", ".hpp", ".o", ".a", ".so", ".rs")
        found = {}
        for path in self.binary.rglob("*"):
            name = path.name
            if "CMakeFiles" in path.parts and not name.endswith(".o") or not path.is_file():
                continue
            executable = path.suffix == "" and os.access(path, os.X_OK)
            if name.endswith(endings) or executable:
                found[str(path.relative_to(self.binary))] = path.stat().st_mtime_ns
        return found

    def rewritten(self, before):
        """Names of the files that are new or were written since `before`, which times() gave."""
        return sorted(Path(name).name for name, time in self.times().items() if before.get(name) != time)


def end_group(child):
    """Ends a child of Sandbox.start() with all that it started in its group."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream:
            stream.close()


@functools.lru_cache(maxsize=None)
def real_rustc():
    """The rustc that a build may use, never a rustup proxy; None without one of 1.90 or newer."""
    for candidate in (os.environ.get("TEENY_RUSTC_EXECUTABLE"), shutil.which("rustc"), "/usr/bin/rustc"):
        if not candidate or not os.access(candidate, os.X_OK):
            continue
        path = Path(candidate).resolve()
        if path.name == "rustup" or (Path(candidate).parent / "rustup").exists():
            found = _output_of("rustup", "which", "rustc").strip()
            path = Path(found) if found else path
        version = re.search(r"^release: (\d+)\.(\d+)", _output_of(path, "-vV"), re.MULTILINE)
        if path.name != "rustup" and version and (int(version[1]), int(version[2])) >= OLDEST_RUSTC:
            return path
    return None


def _output_of(*command):
    try:
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.DEVNULL, encoding="utf-8", timeout=TIMEOUT_S).stdout  # fmt: skip
    except OSError:
        return ""


def kernel_text(name="vector_add", factor="128"):
    """A kernel that the double compiles; another `factor` gives other bytes of the same length."""
    return f"""pub fn {name}<T: Triton, D: Num, const BLOCK_SIZE: i32>(
    a_ptr: T::Pointer<D>,
    b_ptr: T::Pointer<D>,
    n: i32,
) {{
    let at = T::arange(0, {factor});
    T::store::<D>(b_ptr, at, n, T::load::<D>(a_ptr, at, n));
}}
"""


RUST_KERNEL = """#[no_mangle]
pub unsafe extern "ptx-kernel" fn scale(n: u32, x: *mut f32) {
    for i in grid_stride(n as usize) {
        *x.add(i) = *x.add(i) * 2.0;
    }
}
"""
