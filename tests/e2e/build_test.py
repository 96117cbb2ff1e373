"""A consumer's build: what the first one makes, what each change rebuilds, what the program then holds.

Which rules ran is read off the files that were written and off the double's log, never off time.
"""

import hashlib
import json
import os
import re
import time

import pytest
from project import GENERATORS, RUST_KERNEL, Project, kernel_text

each_generator = pytest.mark.parametrize("generator", GENERATORS)

# Prints a line for each image, and writes its bytes to <directory>/<kernel>.<architecture>.
DUMP = r"""
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <teeny/kernel.hpp>

inline void dump(const char* directory, teeny::List<teeny::Kernel> kernels) {
  for (const teeny::Kernel& k : kernels) {
    for (const teeny::Image& i : k.images()) {
      const teeny::Metadata m = i.metadata();
      const std::string_view b = i.bytes();
      std::printf("%s %s align=%d size=%zu strlen=%zu end=%d ptx=%d entry=%s version=%u warps=%u ctas=%u shared=%u tmem=%u "
                  "threads=%u,%u,%u scratch=%llu/%llu,%llu/%llu digest=%s\n",
                  std::string(k.name()).c_str(), i.architecture().c_str(),
                  int(reinterpret_cast<std::uintptr_t>(b.data()) % 64), b.size(), std::strlen(b.data()), int(b.data()[b.size()]),
                  int(i.ptx().data() == b.data()), std::string(m.entry).c_str(), m.ptx_version, m.num_warps, m.num_ctas, m.shared,
                  m.tmem_size, m.required_threads[0], m.required_threads[1], m.required_threads[2],
                  (unsigned long long)m.global_scratch_size, (unsigned long long)m.global_scratch_align,
                  (unsigned long long)m.profile_scratch_size, (unsigned long long)m.profile_scratch_align,
                  std::string(i.digest()).c_str());
      std::ofstream(std::string(directory) + "/" + std::string(k.name()) + "." + i.architecture(), std::ios::binary)
          .write(b.data(), std::streamsize(b.size()));
    }
  }
}
"""
MAIN = '#include "app_kernels.hpp"\n#include "dump.hpp"\nint main(int, char** argv) { dump(argv[1], app_kernels::all()); }\n'
LISTS = """cmake_minimum_required(VERSION 3.25)
project(P LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Teeny REQUIRED)
add_executable(app main.cpp)
"""
CALL = """teeny_add_kernel(app SOURCE kernels/vector_add.rs TYPES f32 CONSTANTS BLOCK_SIZE=128
  PRELUDE prelude.rs ARCHITECTURES 80 90)
"""
RUST_CALL = "teeny_add_kernel(app SOURCE kernels/scale.rs FRONTEND rust ARCHITECTURES 80 90)\n"


def images_of(project, name="app", config="Debug", directory="."):
    """{(kernel, architecture): {field: text, "bytes": …}} as the program tells them; digests are checked here."""
    folder = project.sandbox.root / "dumped"
    folder.mkdir(exist_ok=True)
    found = {}
    for line in project.run(folder, name=name, config=config, directory=directory).stdout.splitlines():
        kernel, architecture, *fields = line.split(" ")
        image = dict(field.split("=", 1) for field in fields)
        image["bytes"] = (folder / f"{kernel}.{architecture}").read_bytes()
        assert image["digest"] == hashlib.sha256(image["bytes"]).hexdigest()
        assert int(image["size"]) == len(image["bytes"]) == int(image["strlen"])
        assert (image["align"], image["end"], image["ptx"]) == ("0", "0", "1")
        found[kernel, architecture] = image
    return found


@pytest.fixture
def make_project(sandbox, double, prelude, request):
    """A project with one triton kernel for 80 and 90, and on request a plain-Rust one."""

    def make(generator, lists=LISTS + CALL, rust=False):
        rustc = request.getfixturevalue("rustc") if rust else None
        project = Project(sandbox, generator, double=double, rustc=rustc)
        project.write("main.cpp", MAIN)
        project.write("dump.hpp", DUMP)
        project.write("kernels/vector_add.rs", kernel_text())
        project.write("kernels/scale.rs", RUST_KERNEL)
        project.write("prelude.rs", prelude.read_text(encoding="utf-8"))
        project.write("CMakeLists.txt", lists + (RUST_CALL if rust else ""))
        return project

    return make


def image_files(name, *architectures):
    return [f"{name}.sm_{a}.{ending}" for a in architectures for ending in ("ptx", "stamp")]


EMBEDDED = ["app", "app_kernels.cpp", "app_kernels.cpp.o", "embed.stamp"]


# ---- The story of one project ---------------------------------------------------------------------------------


@each_generator
def test_each_change_rebuilds_exactly_what_hangs_on_it(make_project, double, generator):
    project = make_project(generator)
    project.configure()
    project.build()
    first = images_of(project)
    assert {architecture for _, architecture in first} == {"sm_80", "sm_90a"}
    assert len(double.calls()) == 2
    assert project.is_quiet() and len(double.calls()) == 2

    def change(*edit, reconfigured=False):
        """Makes an edit, builds, checks that this is all; returns the files written and the architectures compiled."""
        before = project.times()
        double.clear_log()
        project.replace(*edit)
        output = project.build().stdout
        written = [name for name in project.rewritten(before) if name != "declare.stamp"]
        compiled = sorted(call["target_cpu"] for call in double.calls())
        assert ("Configuring done" in output) == reconfigured, output
        assert project.is_quiet() and len(double.calls()) == len(compiled)
        return written, compiled

    # A kernel's body: its images, the embedding file, one object, the link.
    assert change("kernels/vector_add.rs", "(0, 128)", "(0, 256)") == (
        sorted(image_files("vector_add", 80, 90) + EMBEDDED), ["sm_80", "sm_90"])  # fmt: skip
    second = images_of(project)
    assert all(second[k]["bytes"] != first[k]["bytes"] and second[k]["size"] == first[k]["size"] for k in first)

    # Back to what the cache has: the same files, no compile.
    assert change("kernels/vector_add.rs", "(0, 256)", "(0, 128)") == (
        sorted(image_files("vector_add", 80, 90) + EMBEDDED), [])  # fmt: skip
    assert images_of(project) == first

    # The prelude.
    assert change("prelude.rs", "pub struct LlvmTriton;", "pub struct LlvmTriton(i32);") == (
        sorted(image_files("vector_add", 80, 90) + EMBEDDED), ["sm_80", "sm_90"])  # fmt: skip

    # A file that nothing of ours depends on.
    assert change("main.cpp", "int main", "\nint main") == (["app", "main.cpp.o"], [])

    # Another flag.
    assert change("CMakeLists.txt", "ARCHITECTURES 80 90", "OPTIONS --cfg=fast ARCHITECTURES 80 90", reconfigured=True) == (
        sorted(image_files("vector_add", 80, 90) + EMBEDDED), ["sm_80", "sm_90"])  # fmt: skip
    assert all("--cfg=fast" == call["argv"][-1] for call in double.calls())

    # One architecture more changes the header, and with it the consumer's own object; one less as well.
    everything = [*EMBEDDED, "app_kernels.hpp", "main.cpp.o"]
    assert change("CMakeLists.txt", "ARCHITECTURES 80 90", "ARCHITECTURES 80 90 120", reconfigured=True) == (
        sorted(image_files("vector_add", 120) + everything), ["sm_120"])  # fmt: skip
    assert {architecture for _, architecture in images_of(project)} == {"sm_80", "sm_90a", "sm_120a"}
    assert change("CMakeLists.txt", "ARCHITECTURES 80 90 120", "ARCHITECTURES 120 80", reconfigured=True) == (sorted(everything), [])
    assert [architecture for _, architecture in images_of(project)] == ["sm_120a", "sm_80"]


@each_generator
def test_a_replaced_compiler_compiles_again(make_project, double, generator):
    project = make_project(generator)
    project.configure()
    project.build()
    before = project.times()
    double.install("newer")
    output = project.build().stdout
    assert len(double.calls()) == 4 and "Configuring done" not in output
    # The new one wrote the same bytes, so that nothing is embedded or linked again.
    assert project.rewritten(before) == sorted(["embed.stamp", *image_files("vector_add", 80, 90)])
    assert project.is_quiet() and len(double.calls()) == 4


@each_generator
def test_a_comment_changes_no_byte_of_a_rust_kernel(make_project, generator):
    project = make_project(generator, LISTS, rust=True)
    project.configure()
    project.build()
    before = project.times()
    images = images_of(project)
    project.replace("kernels/scale.rs", "    for i", "    // Each thread takes its share.\n    for i")
    project.build()
    assert project.rewritten(before) == sorted(["declare.stamp", "embed.stamp", *image_files("scale", 80, 90)])
    assert project.is_quiet()
    assert images_of(project) == images
    project.replace("kernels/scale.rs", "2.0", "4.0")
    project.build()
    assert project.is_quiet()
    assert all(image["bytes"] != images[key]["bytes"] for key, image in images_of(project).items())


@each_generator
def test_a_clean_build_comes_from_the_cache(make_project, double, generator):
    project = make_project(generator)
    project.configure()
    project.build()
    images = images_of(project)
    project.build("--target", "clean")
    left = {name for name in project.times() if name.endswith((".ptx", ".stamp", "_kernels.cpp", "_kernels.hpp"))}
    assert left == set()
    project.build()
    assert images_of(project) == images and len(double.calls()) == 2 and project.is_quiet()


@each_generator
def test_an_old_cache_serves_a_new_build_tree(make_project, sandbox, double, generator):
    project = make_project(generator)
    project.configure()
    project.build()
    long_ago = time.time() - 2 * 24 * 3600
    for path in sandbox.members():
        os.utime(path, (long_ago, long_ago))
    content = sandbox.cached()
    assert len(content) == 8
    project.binary = sandbox.root / "another build"
    project.configure()
    project.build()
    assert project.is_quiet() and len(double.calls()) == 2
    # What the user does to the copy in the build tree stays there.
    for image in project.binary.rglob("*.ptx"):
        assert image.stat().st_nlink == 1 and image.stat().st_mode & 0o777 == 0o644
        image.write_text("")
    assert sandbox.cached() == content


# ---- What the program holds -----------------------------------------------------------------------------------


@each_generator
def test_the_images_in_the_program(make_project, double, generator):
    meta = {"num_warps": 8, "num_ctas": 2, "shared": 1234, "tmem_size": 56, "global_scratch_size": 7, "global_scratch_align": 16,
            "profile_scratch_size": 9, "profile_scratch_align": 32}  # fmt: skip
    double.configure(overrides={"sm_90": {"meta": meta}})
    project = make_project(generator, LISTS + CALL.replace("80 90", "80 90 PTX_VERSION 8.3"), rust=True)
    project.configure()
    project.build()
    images = images_of(project)
    assert list(images) == [("scale", "sm_80"), ("scale", "sm_90"), ("vector_add", "sm_80"), ("vector_add", "sm_90a")]
    for image in images.values():
        text = image["bytes"].decode()
        assert not re.search(r"\.loc\b|\.file\b|\.debug_", text)
        assert str(project.sandbox.root) not in text and image["bytes"] in [p.read_bytes() for p in project.binary.rglob("*.ptx")]
    plain, full, rust = images["vector_add", "sm_80"], images["vector_add", "sm_90a"], images["scale", "sm_90"]
    assert (plain["entry"], plain["version"], plain["warps"], plain["threads"]) == ("vector_add_entry_point", "83", "4", "128,1,1")
    assert (full["warps"], full["ctas"], full["shared"], full["tmem"]) == ("8", "2", "1234", "56")
    assert (full["threads"], full["scratch"]) == ("256,1,1", "7/16,9/32")
    assert (rust["entry"], rust["warps"], rust["ctas"], rust["threads"], rust["scratch"]) == ("scale", "0", "1", "0,0,0", "0/1,0/1")


def test_the_end_of_an_image_is_its_own(make_project, double):
    """Sizes around a page: a NUL that is there by luck, from padding, would be missing behind 4096·n bytes."""
    sizes = {"sm_75": 4096 * 2, "sm_80": 4096 * 2 - 1, "sm_86": 4096 * 2 + 1, "sm_87": 64 * 150, "sm_89": 64 * 150 + 63}
    double.configure(meta={"pad": ""})
    project = make_project("Ninja", LISTS + CALL.replace("80 90", "75 80 86 87 89"))
    project.configure()
    project.build()
    missing = {arch: sizes[arch] - int(image["size"]) for (_, arch), image in images_of(project).items()}
    double.configure(overrides={arch: {"meta": {"pad": "x" * count}} for arch, count in missing.items()})
    project.replace("kernels/vector_add.rs", "(0, 128)", "(0, 256)")
    project.build()
    assert {arch: int(image["size"]) for (_, arch), image in images_of(project).items()} == sizes


def test_find_all_and_image_for_at_run_time(make_project):
    second = CALL.replace("app SOURCE", "app NAME another SOURCE").replace("80 90", "80 120 PTX_VERSION 8.7")
    project = make_project("Ninja", LISTS + CALL + second)
    project.write("main.cpp", r"""
#include "app_kernels.hpp"
#include <cstdio>
#include <string>
void show(const teeny::Kernel& k, unsigned major, unsigned minor) {
  const teeny::Image* i = k.image_for({major, minor});
  std::printf("%u.%u: %s\n", major, minor, i ? i->architecture().c_str() : k.why_no_image_for({major, minor}).c_str());
}
int main() {
  for (const teeny::Kernel& k : app_kernels::all()) std::printf("%s\n", std::string(k.name()).c_str());
  static_assert(app_kernels::all().size() == 2, "");
  std::printf("%d %d %d %d\n", app_kernels::find("another")->name() == app_kernels::another.name(),
              app_kernels::find("vector_add")->name() == "vector_add", app_kernels::find("vector") == nullptr,
              app_kernels::find("") == nullptr);
  show(app_kernels::vector_add, 9, 0);
  show(app_kernels::vector_add, 8, 6);
  show(app_kernels::vector_add, 12, 0);
  show(app_kernels::another, 12, 0);
  show(app_kernels::another, 12, 1);
  show(app_kernels::another, 7, 5);
}
""")
    project.configure()
    project.build()
    assert project.run().stdout.splitlines() == [
        "another",
        "vector_add",
        "1 1 1 1",
        "9.0: sm_90a",
        "8.6: sm_80",
        "12.0: sm_80",
        "12.0: sm_120a",
        "12.1: sm_80",
        "7.5: kernel another has no image for a device of compute capability 7.5; it was compiled for sm_80 sm_120a."
        " Add 75 to ARCHITECTURES of its teeny_add_kernel().",
    ]


# ---- Targets --------------------------------------------------------------------------------------------------

LIBRARIES = """
add_library(st STATIC kernels_of_st.cpp)
add_library(sh SHARED kernels_of_sh.cpp)
add_library(ob OBJECT kernels_of_ob.cpp)
add_library(mo MODULE kernels_of_mo.cpp)
foreach(library st sh ob mo)
  teeny_add_kernel(${library} NAME vector_add SOURCE kernels/${library}.rs FUNCTION vector_add TYPES f32 CONSTANTS BLOCK_SIZE=128
    PRELUDE prelude.rs ARCHITECTURES 80)
endforeach()
target_link_libraries(app PRIVATE st sh ob ${CMAKE_DL_LIBS})
target_compile_definitions(app PRIVATE MODULE_FILE="$<TARGET_FILE:mo>")
add_dependencies(app mo)
"""


@each_generator
def test_libraries_of_every_kind_with_a_kernel_of_one_name(make_project, double, generator):
    project = make_project(generator, LISTS + CALL + LIBRARIES)
    kinds = ("st", "sh", "ob", "mo")
    for number, kind in enumerate(kinds):
        project.write(f"kernels/{kind}.rs", kernel_text(factor=200 + number))
        project.write(f"kernels_of_{kind}.cpp", f'#include "{kind}_kernels.hpp"\n'
                      f'extern "C" const teeny::Kernel* get_{kind}() {{ return {kind}_kernels::find("vector_add"); }}\n')  # fmt: skip
    declared = "".join(f'extern "C" const teeny::Kernel* get_{kind}();\n' for kind in kinds[:3])
    calls = "".join(f'  std::printf("{kind} %s\\n", std::string(get_{kind}()->images()[0].digest()).c_str());\n' for kind in kinds[:3])
    project.write("main.cpp", f"""#include "app_kernels.hpp"
#include <cstdio>
#include <dlfcn.h>
#include <string>
{declared}
int main() {{
  void* const module = dlopen(MODULE_FILE, RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) return std::printf("%s\\n", dlerror()), 1;
  const auto get_mo = reinterpret_cast<const teeny::Kernel* (*)()>(dlsym(module, "get_mo"));
  std::printf("app %s\\n", std::string(app_kernels::vector_add.images()[0].digest()).c_str());
  std::printf("mo %s\\n", std::string(get_mo()->images()[0].digest()).c_str());
{calls}}}
""")
    project.configure()
    project.build()
    said = dict(line.split() for line in project.run().stdout.splitlines())
    on_disk = {path.parent.name if path.parent.name in kinds else "app": hashlib.sha256(path.read_bytes()).hexdigest()
               for path in project.binary.rglob("vector_add.sm_80.ptx")}  # fmt: skip
    assert said == on_disk and len(set(said.values())) == 5
    assert project.is_quiet() and len(double.calls()) == 6


@each_generator
def test_a_call_from_a_parent_or_a_child_directory(make_project, double, generator):
    project = make_project(generator, LISTS + "add_subdirectory(child)\n"
                           + CALL.replace("(app", "(of_child NAME from_parent")
                           + 'teeny_add_kernel(of_child NAME second_from_parent SOURCE kernels/vector_add.rs TYPES f32 '
                             'CONSTANTS BLOCK_SIZE=256 PRELUDE prelude.rs ARCHITECTURES 80)\n')  # fmt: skip
    child_call = CALL.replace("kernels/", "${PROJECT_SOURCE_DIR}/kernels/").replace("prelude.rs", "${PROJECT_SOURCE_DIR}/prelude.rs")
    project.write("child/CMakeLists.txt", "add_executable(of_child ${PROJECT_SOURCE_DIR}/other.cpp)\n"
                  + child_call.replace("(app", "(app NAME from_child")
                  + child_call.replace("(app", "(of_child NAME from_own"))  # fmt: skip
    project.write("other.cpp", MAIN.replace("app_kernels", "of_child_kernels"))
    project.configure()
    project.build()
    assert {name for name, _ in images_of(project)} == {"from_child"}
    names = {name for name, _ in images_of(project, name="of_child", directory="child")}
    assert names == {"from_own", "from_parent", "second_from_parent"}
    assert project.is_quiet()
    calls = len(double.calls())
    project.replace("kernels/vector_add.rs", "(0, 128)", "(0, 256)")
    project.build()
    assert len(double.calls()) == 2 * calls
    assert project.is_quiet() and len(double.calls()) == 2 * calls


def test_two_targets_hold_the_same_bytes(make_project, double):
    project = make_project("Ninja", LISTS + CALL + "add_executable(twin main.cpp)\n"
                           "target_include_directories(twin PRIVATE twin)\n" + CALL.replace("(app", "(twin NAMESPACE app_kernels"))  # fmt: skip
    project.write("twin/app_kernels.hpp", '#include "twin_kernels.hpp"\n')
    project.configure()
    project.build()
    assert images_of(project) == images_of(project, name="twin") and len(double.calls()) == 2


def test_the_header_of_a_public_kernel_reaches_those_who_link_its_target(make_project):
    project = make_project("Ninja", LISTS + "add_library(k STATIC empty.cpp)\ntarget_link_libraries(app PRIVATE k)\n"
                           + CALL.replace("(app", "(k PUBLIC"))  # fmt: skip
    project.write("empty.cpp", "")
    project.write("main.cpp", MAIN.replace("app_kernels", "k_kernels"))
    project.configure()
    project.build()
    assert len(images_of(project)) == 2


def test_options_of_each_configuration(make_project, double):
    project = make_project("Ninja Multi-Config", LISTS + CALL.replace("ARCH", "OPTIONS $<$<CONFIG:Release>:--cfg=fast> ARCH"))
    project.configure()
    for config in ("Debug", "Release"):
        project.build(config=config)
        assert project.is_quiet(config=config)
    for config in ("Debug", "Release"):  # neither undoes the other
        assert project.is_quiet(config=config)
    assert sorted(("--cfg=fast" in c["argv"], c["target_cpu"]) for c in double.calls()) == [
        (False, "sm_80"), (False, "sm_90"), (True, "sm_80"), (True, "sm_90")]  # fmt: skip
    debug, release = images_of(project, config="Debug"), images_of(project, config="Release")
    assert all(debug[key]["bytes"] != release[key]["bytes"] for key in debug)


def test_what_does_not_differ_is_compiled_once_for_all_configurations(make_project, double):
    project = make_project("Ninja Multi-Config")
    project.configure()
    for config in ("Debug", "Release", "Debug"):
        project.build(config=config)
    assert len(double.calls()) == 2 and project.is_quiet() and project.is_quiet(config="Release")
    assert images_of(project) == images_of(project, config="Release")


def test_options_reach_the_compiler_word_for_word(make_project, double):
    wanted = ["--cfg", "a", "-Cllvm-args=-x y", '--cfg=b="c d"', "--cfg", "e"]
    options = r"""--cfg a "-Cllvm-args=-x y" [[--cfg=b="c d"]] "$<1:--cfg>" "$<1:e>" "$<0:gone>" """
    for generator in ("Ninja", "Unix Makefiles"):
        project = make_project(generator, LISTS + CALL.replace("ARCH", f"OPTIONS {options} ARCH")) if generator == "Ninja" else project
        if generator != "Ninja":
            project.generator, project.binary = generator, project.sandbox.root / "made by make"
        double.clear_log()
        project.configure()
        project.build()
    assert len(double.calls()) == 0  # Make asks for the same as Ninja: all hits
    project.replace("kernels/vector_add.rs", "(0, 128)", "(0, 256)")
    project.build()
    assert [call["argv"][-len(wanted) :] for call in double.calls()] == [wanted, wanted]


# ---- Failures and logs ----------------------------------------------------------------------------------------


@each_generator
def test_a_kernel_that_does_not_compile_fails_the_build_until_it_is_mended(make_project, double, generator):
    project = make_project(generator)
    good = kernel_text()
    project.configure()
    project.build()
    images = images_of(project)
    for setting in ("ok", "partial_fail"):
        double.configure(mode=setting)
        project.write("kernels/vector_add.rs", 'compile_error!("not like this");\n' + kernel_text(factor="999"))
        for _ in range(2):  # not forgotten by the second build
            result = project.build(jobs=1, check=False)
            assert result.returncode != 0
            assert "error: not like this" in result.stdout
            failed = re.search(r"kernel vector_add for (sm_\d+) does not compile", result.stdout)
            assert re.search(r"teeny-kernel'? compile .*vector_add\.rs", result.stdout)
            assert list(project.binary.rglob(f"vector_add.{failed[1]}.*")) == []
        assert project.sandbox.temporaries() == []
        double.configure(mode="ok")
        # The good text is back, with the time it had before (as from a backup).
        source = project.write("kernels/vector_add.rs", good)
        os.utime(source, (time.time() - 3600, time.time() - 3600))
        project.build()
        assert images_of(project) == images and project.is_quiet()


def test_the_log_level_of_the_environment_counts_when_the_build_runs(make_project, double):
    project = make_project("Ninja")
    project.configure()
    project.build()
    assert all("RUSTC_LOG" not in call["env"] for call in double.calls())
    project.replace("kernels/vector_add.rs", "(0, 128)", "(0, 256)")
    double.clear_log()
    result = project.build("-v", env={"TEENYC_LOG_LEVEL": "debug"})
    assert [call["env"]["RUSTC_LOG"] for call in double.calls()] == ["rustc_codegen_llvm::mlir=debug"] * 2
    assert "[teenyc] " in result.stdout and "Configuring done" not in result.stdout
    assert project.is_quiet() and project.is_quiet(env={"TEENYC_LOG_LEVEL": "trace"})


def test_the_environment_of_the_build_does_not_change_the_images(make_project, double):
    project = make_project("Ninja")
    project.configure(env={"TEENYC_PTX_VERSION": "84"})
    project.build(env={"TEENYC_PTX_VERSION": "85", "TEENYC_PATH": "/gone", "TEENY_RUSTC_EXECUTABLE": "/gone"})
    assert {image["version"] for image in images_of(project).values()} == {"84"}


def test_a_generated_kernel(make_project, double):
    project = make_project("Ninja", LISTS + """
add_custom_command(OUTPUT made.rs COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_SOURCE_DIR}/kernels/vector_add.rs" made.rs
  DEPENDS kernels/vector_add.rs VERBATIM)
""" + CALL.replace("kernels/vector_add.rs", "made.rs NAME made"))  # fmt: skip
    for generator in ("Ninja", "Unix Makefiles"):
        project.generator, project.binary = generator, project.sandbox.root / f"build {generator}"
        project.configure()
        project.build()
        assert {name for name, _ in images_of(project)} == {"made"} and project.is_quiet()
    project.replace("kernels/vector_add.rs", "(0, 128)", "(0, 256)")
    project.build()
    assert len(double.calls()) == 4 and project.is_quiet()


def test_a_file_that_an_option_names_counts(make_project, double):
    project = make_project("Ninja", LISTS + CALL.replace("ARCH", 'OPTIONS "-Cllvm-args=@${CMAKE_SOURCE_DIR}/flags" DEPENDS flags ARCH'))
    project.write("flags", "one")
    project.configure()
    project.build()
    assert project.is_quiet() and len(double.calls()) == 2
    for calls, text in ((4, "two"), (4, "one")):
        project.write("flags", text)
        project.build()
        assert project.is_quiet() and len(double.calls()) == calls


def test_kernels_from_the_cache_alone(make_project, double):
    lists = LISTS + CALL.replace("ARCH", "ID AUTO ARCH")
    project = make_project("Ninja", lists)
    project.configure()
    project.build()
    images = images_of(project)
    double.path.unlink()
    project.definitions["TEENYC_EXECUTABLE"] = "NONE"
    project.binary = project.sandbox.root / "without a compiler"
    project.configure()
    project.build()
    assert images_of(project) == images and project.is_quiet() and len(double.calls()) == 2
    project.write("CMakeLists.txt", lists.replace("BLOCK_SIZE=128", "BLOCK_SIZE=64"))
    result = project.build(check=False)
    assert result.returncode != 0 and "set TEENYC_PATH to" in result.stdout


# ---- The consumer's own flags ---------------------------------------------------------------------------------


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_strict_and_unusual_flags_of_the_target(make_project, generator):
    flags = "-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Wundef;-Wmissing-declarations;-Werror"
    project = make_project(generator, LISTS.replace("add_exec", f'add_compile_options("{flags}")\nadd_exec') + CALL + """
set_target_properties(app PROPERTIES UNITY_BUILD ON INTERPROCEDURAL_OPTIMIZATION ON)
target_precompile_headers(app PRIVATE pch.hpp)
target_sources(app PRIVATE more.cpp)
# A target of an old standard carries kernels too; its own sources just can't include the header.
add_library(old STATIC old.cpp)
set_target_properties(old PROPERTIES CXX_STANDARD 11 CXX_EXTENSIONS OFF)
""" + CALL.replace("(app", "(old"))  # fmt: skip
    for name in ("pch.hpp", "more.cpp", "old.cpp"):
        project.write(name, "#include <string>\n" if name == "pch.hpp" else "")
    project.configure("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    project.build()
    assert len(images_of(project)) == 2
    commands = json.loads((project.binary / "compile_commands.json").read_text(encoding="utf-8"))
    (embedding,) = (c["command"] for c in commands if c["file"].endswith("app_kernels.cpp"))
    assert embedding.rfind("-fno-lto") > embedding.rfind("-flto") and "cmake_pch" not in embedding
    assert any("-flto" in c["command"] for c in commands) and any("unity" in c["file"] for c in commands)
