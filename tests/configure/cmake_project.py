"""CMake projects that a test configures, at a few hundredths of a second each.

Compiler detection is done once per generator and process; each project starts from a copy of its result. Nothing of the
caller's environment is seen: PATH is the project's own `bin`, HOME is empty, and CMake's system prefixes are off.
"""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CMAKE = shutil.which("cmake")
PACKAGE_DIR = os.environ["TEENY_TEST_PACKAGE_DIR"]
SOURCE_DIR = os.environ["TEENY_TEST_SOURCE_DIR"]
KERNEL_TOOL = os.environ["TEENY_TEST_KERNEL_TOOL"]
GENERATORS = ("Ninja", "Unix Makefiles", "Ninja Multi-Config")

HEAD = """\
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX)
find_package(Teeny REQUIRED)
add_executable(app main.cpp)
"""

# A rustc that satisfies FindNvptxRustc. `{log}` gets one line per run.
RUSTC = """\
#!/bin/sh
echo "$0 $*" >> '{log}'
case "$*" in
  -vV) echo 'rustc {version} (0123abcd 2026-01-01)'; echo 'release: {version}' ;;
  '--print target-list') echo x86_64-unknown-linux-gnu; {targets} ;;
esac
"""

# A rustup with the toolchains of `{toolchains}`, whose `which` answers with the command `{which}`.
RUSTUP = """\
#!/bin/sh
case "$*" in
  'toolchain list'*) printf '{toolchains}' ;;
  which*) {which} ;;
  *) echo "no such proxy: $0 $*" >&2; exit 1 ;;
esac
"""

# A helper that logs its argv and makes what it is told to make.
TOOL = """\
#!{python} -IS
import json, sys
from pathlib import Path
with open({log!r}, "a", encoding="utf-8") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
for name, value in zip(sys.argv, sys.argv[1:]):
    if name in ("--output", "--stamp", "-o"):
        Path(value).parent.mkdir(parents=True, exist_ok=True)
        Path(value).write_text("made by the fake tool\\n", encoding="utf-8")
"""


@functools.lru_cache(maxsize=None)
def _seed(generator):
    """A configured empty project, as a TemporaryDirectory that lives as long as the process."""
    directory = tempfile.TemporaryDirectory()
    root = Path(directory.name)
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n", encoding="utf-8"
    )
    subprocess.run(
        [CMAKE, "-S", root, "-B", root / "b", "-G", generator, "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"],
        check=True,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": directory.name, "LC_ALL": "C.UTF-8"},
    )
    return directory


@dataclass
class Message:
    """One `CMake Error` or `CMake Warning`: its text in one line, and its call stack."""

    kind: str
    text: str
    stack: str


class Result:
    """What a configure run said. `output` is standard output and standard error as they came."""

    def __init__(self, returncode, output):
        self.returncode = returncode
        self.output = output
        self.text = " ".join(output.split())
        self.messages = []
        for block in re.split(r"(?m)^(?=CMake (?:Error|Warning|Deprecation Warning))", output)[1:]:
            head, _, rest = block.partition("\n")
            body, _, stack = rest.partition("Call Stack (most recent call first):")
            body = body.split("\n\n\n")[0].split("\n-- ")[0]
            self.messages.append(Message(head, " ".join(body.split()), " ".join(stack.split())))

    def of_kind(self, kind):
        return [message for message in self.messages if message.kind.startswith(f"CMake {kind}")]

    @property
    def error(self):
        """The text of the only error."""
        errors = self.of_kind("Error")
        assert self.returncode != 0 and len(errors) == 1, self.output
        return errors[0].text

    @property
    def warnings(self):
        return [message.text for message in self.messages if "Warning" in message.kind]


class Project:
    """A source and a build folder below `directory`, and fake programs in `bin`, which is all of PATH."""

    def __init__(self, directory, generator="Ninja"):
        self.root = Path(directory) / "prøject of tests"
        self.source = self.root / "source"
        self.build_dir = self.root / "build"
        self.bin = self.root / "bin"
        self.home = self.root / "home"
        self.tool_log = self.root / "tool.log"
        self.rustc_log = self.root / "rustc.log"
        self.generator = generator
        for folder in (self.source, self.bin, self.home):
            folder.mkdir(parents=True)
        for name in ("main.cpp", "k.rs", "k2.rs", "prelude.rs"):
            self.write(name)
        self.rustc = self.program("private/rustc", self.rustc_text())

    def write(self, name, text=""):
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self, name, text="#!/bin/sh\nexit 1\n"):
        """An executable file `name` below bin."""
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def rustc_text(self, version="1.95.0", targets="echo nvptx64-nvidia-cuda"):
        return RUSTC.format(log=self.rustc_log, version=version, targets=targets)

    def lists(self, text, name="CMakeLists.txt", head=HEAD):
        self.write(name, head + text)

    @property
    def defaults(self):
        """Settings with which kernels of both frontends can be added."""
        return (
            f"-DTEENY_RUSTC_EXECUTABLE={self.rustc}",
            "-DTEENYC_EXECUTABLE=NONE",
            f"-DTEENY_PRELUDE={self.source / 'prelude.rs'}",
        )

    def fake_tool(self):
        """The argument that makes a fake helper do the work; see `tool_calls`."""
        path = self.program("private/tool", TOOL.format(python=os.path.realpath(sys.executable), log=str(self.tool_log)))
        return f"-DTEENY_KERNEL_EXECUTABLE={path}"

    def configure(self, *arguments, env=None):
        if not self.build_dir.exists():
            self._start_from_seed()
        done = subprocess.run(
            [CMAKE, "-S", self.source, "-B", self.build_dir, "-G", self.generator, "--no-warn-unused-cli", f"-DTeeny_DIR={PACKAGE_DIR}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env=self.environment(env),
            check=False,
        )
        return Result(done.returncode, done.stdout)

    def build(self, *targets, config=None):
        """Builds targets; the result's output is that of the build tool."""
        command = [CMAKE, "--build", self.build_dir, "--target", *targets]
        if config:
            command += ["--config", config]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=self.environment(), check=False
        )
        return Result(done.returncode, done.stdout)

    def environment(self, extra=None):
        return {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8", **(extra or {})}

    def _start_from_seed(self):
        seed = Path(_seed(self.generator).name).resolve() / "b"
        self.build_dir.mkdir()
        for version in (seed / "CMakeFiles").glob("[0-9]*"):
            shutil.copytree(version, self.build_dir / "CMakeFiles" / version.name)
        cache = (seed / "CMakeCache.txt").read_text(encoding="utf-8")
        cache = re.sub(r"(?m)^CMAKE_CACHEFILE_DIR:.*$", f"CMAKE_CACHEFILE_DIR:INTERNAL={self.build_dir}", cache)
        cache = re.sub(r"(?m)^CMAKE_HOME_DIRECTORY:.*$", f"CMAKE_HOME_DIRECTORY:INTERNAL={self.source}", cache)
        cache = re.sub(r"(?m)^//Value Computed by CMake\np_[A-Z_]+:.*\n", "", cache)
        (self.build_dir / "CMakeCache.txt").write_text(cache, encoding="utf-8")

    def call_line(self, name="CMakeLists.txt"):
        """The line of the last teeny_add_kernel call."""
        lines = (self.source / name).read_text(encoding="utf-8").splitlines()
        return max(number for number, line in enumerate(lines, 1) if line.lstrip().startswith("teeny_add_kernel("))

    def cache(self, variable):
        """The value of a cache variable, or None."""
        text = (self.build_dir / "CMakeCache.txt").read_text(encoding="utf-8")
        found = re.search(rf"(?m)^{re.escape(variable)}:[A-Z]+=(.*)$", text)
        return found and found.group(1)

    def manifest(self, target="app", file="embed.json"):
        path = self.build_dir / "teeny" / target / file
        return json.loads(path.read_text(encoding="utf-8"))

    def images(self, target="app"):
        """The architectures of the first kernel's images, as in sm_90."""
        return [name.split(".")[-2] for name in self.manifest(target)["kernels"][0]["images"]]

    def ninja_commands(self, subcommand):
        """The argv of each rule that runs the helper with `subcommand`, without the helper. Ninja only."""
        ninja = self.cache("CMAKE_MAKE_PROGRAM")
        lines = subprocess.run(
            [ninja, "-C", self.build_dir, "-t", "commands", "all"],
            check=True, stdout=subprocess.PIPE, encoding="utf-8", env=self.environment(),
        ).stdout.splitlines()
        found = []
        for line in lines:
            words = _shell_words(line)
            starts = [0] + [index + 1 for index, word in enumerate(words) if word == "&&"]
            for start in starts:
                if words[start + 1 : start + 2] == [subcommand]:
                    end = words.index("&&", start) if "&&" in words[start:] else len(words)
                    found.append(words[start + 1 : end])
        return found

    def ninja_inputs(self, output):
        """The explicit and order-only inputs of the Ninja rule of an output, given relative to the build folder."""
        text = (self.build_dir / "build.ninja").read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if line.startswith(f"build {output} "))
        inputs, _, order = line.split(": CUSTOM_COMMAND", 1)[1].partition("||")
        return _ninja_words(inputs), _ninja_words(order)

    def tool_calls(self, subcommand):
        """The argv of each run of the fake helper with `subcommand`."""
        if not self.tool_log.exists():
            return []
        calls = [json.loads(line) for line in self.tool_log.read_text(encoding="utf-8").splitlines()]
        return [call for call in calls if call[0] == subcommand]


def _shell_words(line):
    # shlex leaves the backslash of \$ and \` in double quotes, a shell doesn't.
    return shlex.split(re.sub(r"\\(.)", lambda pair: pair[1] if pair[1] in "$`" else pair[0], line))


def _ninja_words(text):
    return [re.sub(r"\$(.)", r"\1", word) for word in re.findall(r"(?:\$.|[^\s$])+", text)]


FLAGS = ("--cache-shared", "--force")


def compile_arguments(argv):
    """`compile`'s arguments by name, as lists. Fails for a word that is no option and no option's value."""
    assert argv[0] == "compile"
    found = {}
    words = iter(argv[1:])
    for word in words:
        assert word.startswith("--"), f"a stray word {word!r} in {argv}"
        name, equals, value = word.partition("=")
        if name in FLAGS:
            value = True
        elif not equals:
            value = next(words)
        found.setdefault(name, []).append(value)
    return found


def assert_refused(project, result, *words, call="teeny_add_kernel(app", lists="CMakeLists.txt"):
    """FATAL_ERROR at the last call: it names the call, and has the words in its one message."""
    error = result.error
    assert error.startswith(call), error
    for word in words:
        assert word in error, error
    assert f"{lists}:{project.call_line(lists)} (teeny_add_kernel)" in result.of_kind("Error")[0].stack, result.output


def assert_accepted(result, warnings=0):
    assert result.returncode == 0, result.output
    assert not result.of_kind("Error"), result.output
    assert len(result.warnings) == warnings, result.output
