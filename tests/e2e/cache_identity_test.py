"""What makes two compiles the same and what does not: compilers by content, options, architectures, environment."""

import json
import os
import re
import time

import pytest
from double import TeenycDouble
from fault_harness import FastTeenyc, Missing, compile_c
from project import kernel_text

KEY = re.compile(r"^vector_add_[0-9a-f]{64}\n$")


@pytest.fixture
def kernel(sandbox):
    return sandbox.write("vector_add.rs", kernel_text())


@pytest.fixture
def arguments(kernel, prelude):
    return ["--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", prelude]


@pytest.fixture
def home(sandbox):
    """Of this test alone: nothing is remembered of compilers that other tests have changed."""
    sandbox.home = sandbox.root / "home"
    sandbox.home.mkdir()
    return sandbox.home


@pytest.fixture
def key(sandbox, arguments):
    def run(compiler, *more, **options):
        result = sandbox.tool("key", *arguments, "--compiler", compiler, *more, **options)
        assert KEY.match(result.stdout)
        return result.stdout

    return run


@pytest.fixture
def build(sandbox, arguments):
    def run(compiler, *more, arch="90", **options):
        output = sandbox.root / "out.ptx"
        sandbox.tool("compile", *arguments, "--compiler", compiler, "--arch", arch, "--output", output, *more, **options)
        return output.read_bytes()

    return run


def age(*paths):
    """Old enough for the compiler's identity to be remembered; the change time can't be set, only waited for."""
    newest = max(max(os.stat(path).st_mtime, os.stat(path).st_ctime) for path in paths)
    time.sleep(max(0, newest + 2.1 - time.time()))


def swap(path, old, new):
    """Other bytes in the same file: size, inode and time of modification stay."""
    status, data = path.stat(), path.read_bytes()
    assert data.count(old) >= 1 and len(old) == len(new)
    with open(path, "r+b") as file:
        file.write(data.replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size and path.stat().st_mtime_ns == status.st_mtime_ns


def misses_by_reason(sandbox):
    return json.loads(sandbox.tool("cache", "stats", "--json").stdout)["misses_by_reason"]


# ---- Branches and compilers -----------------------------------------------------------------------------------


def test_two_branches_and_two_compilers_with_one_id_are_four_compiles_and_then_none(sandbox, build, kernel, home):
    compilers = [TeenycDouble(sandbox.root / name) for name in ("first", "second")]
    compilers[1].install(tag="another compiler")
    branches = [kernel_text(factor="128"), kernel_text(factor="256")]
    images = {}
    for turn in range(3):
        for branch, text in enumerate(branches):
            for number, compiler in enumerate(compilers):
                kernel.write_text(text)
                image = build(compiler.path, "--id", "vector_add__f32__128")
                assert images.setdefault((branch, number), image) == image
        assert [len(compiler.calls()) for compiler in compilers] == [2, 2], f"turn {turn}"
    assert misses_by_reason(sandbox) == {"new key": 4}
    assert "5 sound, 0 damaged" in sandbox.tool("cache", "verify").stdout


# ---- Compilers --------------------------------------------------------------------------------------------------


@pytest.fixture
def linked_compiler(sandbox, tmp_path):
    """bin/teenyc with a lib/libx.so whose text it writes into the image; the library is found by `flags`."""

    def make(name, library_folder, *flags):
        source = tmp_path / "x.c"
        source.write_text('const char *library_text(void) { return "LIBRARY-ONE"; }\n')
        root = sandbox.root / name
        library = root / library_folder / "libx.so"
        library.parent.mkdir(parents=True)
        try:
            compile_c(source, tmp_path, "-shared", "-fPIC").rename(library)
            return FastTeenyc(root, "-DWITH_LIBRARY", f"-L{library.parent}", "-Wl,--no-as-needed", "-lx", *flags), library
        except Missing as missing:
            pytest.skip(str(missing))

    return make


def test_C7_a_library_of_the_toolchain_that_changed_in_place_is_a_miss(build, linked_compiler, home):
    compiler, library = linked_compiler("toolchain", "lib", "-Wl,-rpath,$ORIGIN/../lib")
    age(compiler.path, library)
    assert b"LIBRARY-ONE" in build(compiler.path)
    assert build(compiler.path) and len(compiler.compiles()) == 1
    assert list(home.rglob("compiler-*.json"))  # it was remembered
    swap(library, b"LIBRARY-ONE", b"LIBRARY-TWO")
    assert b"LIBRARY-TWO" in build(compiler.path) and len(compiler.compiles()) == 2
    swap(library, b"LIBRARY-TWO", b"LIBRARY-ONE")
    assert b"LIBRARY-ONE" in build(compiler.path) and len(compiler.compiles()) == 2  # back: still there


def test_C7_a_library_that_the_loader_finds_elsewhere_counts_too(build, linked_compiler, home):
    compiler, library = linked_compiler("toolchain", "elsewhere", "-Wl,-rpath,$ORIGIN/../elsewhere")
    age(compiler.path, library)
    assert b"LIBRARY-ONE" in build(compiler.path)
    swap(library, b"LIBRARY-ONE", b"LIBRARY-TWO")
    assert b"LIBRARY-TWO" in build(compiler.path)


def test_C7_a_library_that_is_added_to_the_toolchain_is_a_miss(build, linked_compiler, home):
    compiler, library = linked_compiler("toolchain", "lib", "-Wl,-rpath,$ORIGIN/../lib")
    age(compiler.path, library)
    build(compiler.path)
    (library.parent / "libplugin.so").write_bytes(b"found by dlopen")
    build(compiler.path)
    assert len(compiler.compiles()) == 2


def test_C7_another_library_path_is_another_compiler(sandbox, build, linked_compiler, home):
    compiler, library = linked_compiler("toolchain", "one")
    other = sandbox.root / "toolchain" / "two" / "libx.so"
    other.parent.mkdir()
    other.write_bytes(library.read_bytes().replace(b"LIBRARY-ONE", b"LIBRARY-TWO"))
    age(compiler.path, library, other)
    assert b"LIBRARY-ONE" in build(compiler.path, env={"LD_LIBRARY_PATH": library.parent})
    assert b"LIBRARY-TWO" in build(compiler.path, env={"LD_LIBRARY_PATH": other.parent})


def test_C57_a_compiler_that_changed_in_place_is_a_miss(build, sandbox, home):
    double = TeenycDouble(sandbox.root / "compiler")
    double.install(tag="first")
    age(double.path)
    build(double.path)
    build(double.path)
    assert len(double.calls()) == 1
    swap(double.path, b"# first", b"# other")
    build(double.path)
    assert len(double.calls()) == 2


WRAPPER = """#!/bin/sh
sysroot=$(cat '{configuration}')
if [ "$1 $2" = "--print sysroot" ]; then echo "$sysroot"; exit; fi
exec "$sysroot/bin/teenyc" "$@"
"""


@pytest.fixture
def wrapped(sandbox):
    """A script that never changes in front of two toolchains, and the file that says which of them it starts."""
    toolchains = [FastTeenyc(sandbox.root / name) for name in ("one", "two")]
    configuration = sandbox.write("current", str(sandbox.root / "one"))
    wrapper = sandbox.write("proxy/teenyc", WRAPPER.format(configuration=configuration))
    wrapper.chmod(0o755)
    return wrapper, toolchains, configuration


def test_C57_the_compiler_behind_a_wrapper_that_was_swapped_is_a_miss(build, wrapped, home):
    wrapper, (one, _), _ = wrapped
    age(wrapper, one.path)
    build(wrapper)
    build(wrapper)
    assert len(one.compiles()) == 1
    swap(one.path, b"library %s", b"LIBRARY %s")
    assert b"LIBRARY none" in build(wrapper) and len(one.compiles()) == 2


@pytest.mark.xfail(strict=True, reason="compiler_identity.cpp: a wrapper is not asked again where its sysroot is, once that is remembered")
def test_C57_a_wrapper_that_starts_another_compiler_is_a_miss(build, wrapped, home):
    wrapper, (one, two), configuration = wrapped
    swap(two.path, b"library %s", b"LIBRARY %s")
    age(wrapper, one.path, two.path)
    assert b"library none" in build(wrapper)
    configuration.write_text(str(two.path.parent.parent))
    assert b"LIBRARY none" in build(wrapper)


def test_C18_the_way_to_the_compiler_does_not_matter(sandbox, key, double):
    link = sandbox.root / "toolkit" / "current"
    link.parent.mkdir()
    link.symlink_to(double.path.parent)
    file_link = sandbox.root / "teenyc-link"
    file_link.symlink_to(double.path)
    ways = [double.path, link / "teenyc", file_link, os.path.relpath(double.path, sandbox.root), f"{double.path.parent}/../bin/teenyc"]
    assert len({key(way) for way in ways}) == 1


def test_C18_neither_do_the_names_of_folders(sandbox, key, double, prelude, kernel):
    """The same content in another tree, as another checkout has it."""
    moved = TeenycDouble(sandbox.root / "elsewhere")
    moved.path.write_bytes(double.path.read_bytes())
    assert key(moved.path) == key(double.path)


# ---- Environment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [{"TERM": "xterm-256color"}, {"TERM": None}, {"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, {"PWD": "/nowhere"},
     {"MAKEFLAGS": " -j8 --jobserver-auth=3,4", "MAKELEVEL": "2"}, {"CARGO_MAKEFLAGS": "-j --jobserver-fds=3,4"},
     {"RUSTFLAGS": "-Cdebuginfo=2"}, {"RUSTC_WRAPPER": "sccache"}, {"RPM_BUILD_ROOT": "/x"}, {"NINJA_STATUS": "[%f]"},
     {"LD_PRELOAD": ""}, {"TEENYC_LOG_LEVEL": "info"}, {"TEENYC_PTX_VERSION": None}, {"USER": "nobody", "SHELL": "/bin/zsh"}],
    ids=lambda change: "+".join(change),
)  # fmt: skip
def test_C58_the_caller_s_environment_is_no_part_of_the_key(sandbox, build, double, change):
    double.configure(nonce=True)
    image = build(double.path, env={"TERM": "dumb", "PWD": str(sandbox.root)})
    assert build(double.path, env=change) == image and len(double.calls()) == 1
    build(double.path, "--force", env=change)
    seen = double.calls()[-1]["env"]
    assert not set(change) & set(seen) - {"TEENYC_PTX_VERSION"}


def test_C58_the_compiler_sees_what_is_listed_and_nothing_else(build, double):
    build(double.path, env={"SECRET": "1", "CARGO_MAKEFLAGS": "x", "TEENYC_GENERATE_BIN": "1", "RUST_MIN_STACK": "8388608"})
    allowed = {"PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_LIBDEVICE_PATH", "CUDA_HOME", "CUDA_PATH", "RUST_MIN_STACK",
               "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "TMPDIR", "RUSTC_ICE", "RUSTC_BOOTSTRAP", "TEENYC_PTX_VERSION",
               "RUSTC_LOG"}  # fmt: skip
    seen = double.calls()[0]["env"]
    assert set(seen) <= allowed and seen["RUST_MIN_STACK"] == "8388608"


def test_C7_a_variable_that_is_passed_counts_by_its_value(build, double):
    def calls(value):
        build(double.path, env={"TEENY_PASS_ENVIRONMENT": "MINE; OTHER", "MINE": value})
        return len(double.calls())

    assert [calls(value) for value in ("1", "2", "1", "", None, "2", None)] == [1, 2, 2, 3, 4, 4, 4]
    assert [call["env"].get("MINE") for call in double.calls()] == ["1", "2", "", None]


def test_C7_device_functions_count_by_content(sandbox, build, double):
    def calls(path):
        build(double.path, env={"CUDA_LIBDEVICE_PATH": path})
        return len(double.calls())

    one, two, same = (sandbox.write(f"{name}.bc", text) for name, text in (("a", "BC one"), ("b", "BC two"), ("c", "BC one")))
    assert [calls(path) for path in (one, two, same, one)] == [1, 2, 2, 2]


def test_C58_make_ninja_and_a_shell_of_nothing_find_the_same(sandbox, arguments, double):
    command = [str(sandbox.installation.tool), "compile", *map(str, arguments), "--compiler", str(double.path), "--arch", "90",
               "--ptx-version", "default", "--output", str(sandbox.root / "out.ptx"), "--cache-dir", str(sandbox.cache)]  # fmt: skip
    line = " ".join(f"'{word}'" for word in command)
    sandbox.write("Makefile", f"all:\n\t+{line}\n")
    sandbox.write("build.ninja", f"rule r\n  command = {line.replace('$', '$$')}\nbuild all: r\n")
    sandbox.run("make", "-j4")
    sandbox.run("ninja")
    sandbox.run("env", "-i", *command)
    sandbox.run("sh", "-c", f"cd / && TERM=x {line}")
    assert len(double.calls()) == 1


# ---- Options and architectures --------------------------------------------------------------------------------


def test_C60_the_boundaries_of_options_are_kept(sandbox, key, double):
    def options(*words):
        return [argument for word in words for argument in ("--option", word)]

    file_a, file_b = sandbox.write("a", "ab"), sandbox.write("b", "c")
    together = sandbox.write("c", "abc")
    lists = [options(), options("ab", "c"), options("a", "bc"), options("abc"), options("ab c"), options("ab", "c", ""), options(""),
             options("", ""), options("ab\\0c"), options("c", "ab"), options("-O", "-g"), options("-g", "-O"),
             ["--depend", file_a, "--depend", file_b], ["--depend", together], ["--depend", file_b, "--depend", file_a],
             options("ab") + ["--depend", file_b]]  # fmt: skip
    keys = [key(double.path, *more) for more in lists]
    assert len(set(keys)) == len(lists)
    assert key(double.path, "--arch", "90", "--ptx-version", "82") != key(double.path, "--arch", "90")


def test_C16_each_variant_of_an_architecture_is_an_entry_of_its_own(sandbox, build, double):
    arches = ("80", "90", "90a", "120", "121")
    double.configure(nonce=True)
    images = {arch: build(double.path, arch=arch) for arch in arches}
    assert len(double.calls()) == len(arches) and len(set(images.values())) == len(arches)
    for arch in reversed(arches):
        image = build(double.path, arch=arch)
        assert image == images[arch]
        stamped = arch if arch.endswith("a") or int(arch) < 90 else f"{arch}a"
        assert f".target sm_{stamped}\n".encode() in image
    assert len(double.calls()) == len(arches) == len(sandbox.members(".o"))


def test_C16_an_entry_with_another_target_than_its_name_says_is_not_delivered(sandbox, build, double):
    """Not even one whose digests are right: the compiler's output is looked at before it is stored."""
    double.configure(mode="wrong_target")
    with pytest.raises(AssertionError, match=r"its \.target is sm_"):
        build(double.path)
    assert sandbox.members() == [] and not (sandbox.root / "out.ptx").exists()


# ---- Explained ----------------------------------------------------------------------------------------------------


def test_explain_names_the_field_that_differs(sandbox, build, arguments, double, kernel):
    def explain(*more):
        return sandbox.tool("cache", "explain", *arguments, "--compiler", double.path, *more).stdout

    assert "no other entry of this function" in explain("--arch", "90")
    build(double.path, "--option=-Cdebuginfo=1")
    assert explain("--arch", "90", "--option=-Cdebuginfo=1").startswith("hit: vector_add_")

    def fields(text):
        assert text.startswith("miss: vector_add_") and "nearest: vector_add_" in text
        return re.findall(r"^  (\w+): now", text, re.MULTILINE)

    assert fields(explain("--arch", "90", "--option=-Cdebuginfo=2")) == ["option"]
    assert fields(explain("--arch", "90", "--option=-Cdebuginfo=1", "--option=-Cdebuginfo=2")) == ["option"]
    assert fields(explain("--arch", "80", "--option=-Cdebuginfo=1")) == ["arch"]
    assert fields(explain("--arch", "90", "--option=-Cdebuginfo=1", "--ptx-version", "8.2")) == ["ptx_version"]
    text = kernel.read_text()
    kernel.write_text(text + "// more\n")
    assert fields(explain("--arch", "90", "--option=-Cdebuginfo=1")) == ["source"]
    kernel.write_text(text)
    double.install(tag="another")
    assert fields(explain("--arch", "90", "--option=-Cdebuginfo=1")) == ["compiler"]
    assert fields(explain("--arch", "80", "--option=-Cdebuginfo=1")) == ["arch", "compiler"]
