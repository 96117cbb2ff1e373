"""Which compiler a kernel gets: FindTeenyc and FindNvptxRustc, with fake programs only."""

import os
import shutil

import pytest
from cmake_project import RUSTUP, assert_accepted, assert_refused, compile_arguments

TRITON = "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80 PRELUDE NONE)\n"
RUST = "teeny_add_kernel(app SOURCE k.rs FRONTEND rust ARCHITECTURES 80)\n"
WAYS = ["-DTEENYC_EXECUTABLE=", "TEENYC_PATH", "rustup", "TEENYC_EXECUTABLE=NONE", "FRONTEND rust"]


def rustup(project, toolchains, which="exit 1", name="rustup"):
    return project.program(name, RUSTUP.format(toolchains=toolchains, which=which))


def accepted(project, text, *arguments, env=None):
    """Configures, and gives the compiler that the first rule is told."""
    project.lists(text)
    result = project.configure(*arguments, env=env)
    assert_accepted(result)
    [compiler] = compile_arguments(project.ninja_commands("compile")[0])["--compiler"]
    return compiler


def refused(project, text, *words, arguments=(), env=None):
    project.lists(text)
    assert_refused(project, project.configure(*arguments, env=env), *words)


def inputs(project):
    return project.ninja_inputs("teeny/app/k.sm_80.stamp")[0]


# FindTeenyc


def test_teenyc_is_the_variable_first(project):
    chosen, other, third = (str(project.program(f"private/{name}/teenyc")) for name in "abc")
    rustup(project, "teenyc-1\\n", f"echo '{third}'")
    compiler = accepted(project, TRITON, f"-DTEENYC_EXECUTABLE={chosen}", env={"TEENYC_PATH": other})
    assert compiler == chosen
    assert chosen in inputs(project)


def test_teenyc_is_the_environment_variable_second(project):
    chosen, other = (str(project.program(f"private/{name}/teenyc")) for name in "ab")
    rustup(project, "teenyc-1\\n", f"echo '{other}'")
    assert accepted(project, TRITON, env={"TEENYC_PATH": chosen}) == chosen
    assert project.cache("TEENYC_EXECUTABLE") == chosen
    assert accepted(project, TRITON, env={"TEENYC_PATH": other}) == chosen


@pytest.mark.parametrize("name", ["rustup", "../home/.cargo/bin/rustup"])
def test_teenyc_is_the_one_of_the_only_toolchain_third(project, name):
    chosen = str(project.program("private/teenyc"))
    toolchains = "stable-x86_64-unknown-linux-gnu (default)\\nteenyc-0.3 (active)\\nnightly\\n"
    rustup(project, toolchains, f"test \"$*\" = 'which --toolchain teenyc-0.3 teenyc' && echo '{chosen}'", name)
    assert accepted(project, TRITON) == chosen
    assert chosen in inputs(project)


def test_teenyc_is_a_normal_variable_too(project):
    chosen = str(project.program("private/teenyc"))
    assert accepted(project, f"set(TEENYC_EXECUTABLE [[{chosen}]])\n{TRITON}") == chosen


def test_rules_depend_on_the_real_teenyc(project):
    real = project.program("private/real-teenyc")
    (project.bin / "link").symlink_to(real)
    assert accepted(project, TRITON, f"-DTEENYC_EXECUTABLE={project.bin / 'link'}") == str(real)
    assert str(real) in inputs(project)


def test_a_teenyc_that_vanished_is_searched_again(project):
    old, new = project.program("private/a/teenyc"), project.program("private/b/teenyc")
    accepted(project, TRITON, f"-DTEENYC_EXECUTABLE={old}")
    old.unlink()
    project.lists(TRITON)
    result = project.configure(env={"TEENYC_PATH": str(new)})
    assert_accepted(result)
    assert f"{old} has vanished" in result.text
    assert project.cache("TEENYC_EXECUTABLE") == str(new)


def test_a_teenyc_that_vanished_and_is_nowhere_else_is_refused(project):
    old = project.program("private/teenyc")
    accepted(project, TRITON, f"-DTEENYC_EXECUTABLE={old}")
    old.unlink()
    refused(project, TRITON, "teenyc was not found", *WAYS)


def test_a_bare_teenyc_on_path_is_not_used(project):
    log = project.root / "run"
    project.program("teenyc", f"#!/bin/sh\ntouch '{log}'\n")
    refused(project, TRITON, "teenyc was not found", "TEENYC_PATH is not set", *WAYS)
    assert not log.exists()


@pytest.mark.parametrize("kind", ["missing", "directory"])
def test_a_wrong_environment_variable_is_no_reason_to_go_on(project, kind):
    path = project.root / "no such" if kind == "missing" else project.bin
    rustup(project, "teenyc-1\\n", f"echo '{project.program('private/teenyc')}'")
    refused(project, TRITON, f"TEENYC_PATH is '{path}'", "no such program", *WAYS, env={"TEENYC_PATH": str(path)})


def test_no_toolchain_of_rustup_is_teenyc(project):
    rustup(project, "stable (default)\\nnightly\\n")
    refused(project, TRITON, "no rustup toolchain has teenyc in its name", *WAYS)


def test_two_toolchains_of_rustup_are_listed(project):
    rustup(project, "stable (default)\\nteenyc-1\\nmy-teenyc\\n", f"echo '{project.program('private/teenyc')}'")
    refused(project, TRITON, "more than one", "teenyc-1", "my-teenyc", *WAYS)


def test_a_toolchain_without_the_program_is_named(project):
    rustup(project, "teenyc-1\\n", "echo 'error: it is not here' >&2; exit 1")
    refused(project, TRITON, "teenyc-1", "has no teenyc", "it is not here", *WAYS)


def test_none_takes_kernels_from_the_cache(project):
    rustup(project, "teenyc-1\\n", f"echo '{project.program('private/teenyc')}'")
    assert accepted(project, TRITON, "-DTEENYC_EXECUTABLE=NONE") == "NONE"
    assert not [word for word in inputs(project) if word.endswith("NONE")]


def test_teenyc_is_looked_for_once(project):
    log = project.root / "runs"
    chosen = project.program("private/teenyc")
    rustup(project, "teenyc-1\\n", f"echo run >> '{log}'; echo '{chosen}'")
    accepted(project, TRITON + TRITON.replace("SOURCE", "NAME again SOURCE"))
    assert log.read_text().splitlines() == ["run"]


# FindNvptxRustc


def test_rustc_is_the_variable_first(project):
    teenyc = project.program("private/teenyc", project.rustc_text("1.93.0"))
    project.program("rustc", project.rustc_text())
    compiler = accepted(project, RUST, f"-DTEENY_RUSTC_EXECUTABLE={project.rustc}", env={"TEENYC_PATH": str(teenyc)})
    assert compiler == str(project.rustc)
    assert str(project.rustc) in inputs(project)


def test_rustc_is_teenyc_second(project):
    teenyc = project.program("private/teenyc", project.rustc_text("1.93.0"))
    project.program("rustc", project.rustc_text())
    assert accepted(project, RUST, env={"TEENYC_PATH": str(teenyc)}) == str(teenyc)


@pytest.mark.parametrize("arguments", [[], ["-DTEENYC_EXECUTABLE=NONE"]])
def test_rustc_is_the_one_on_path_third(project, arguments):
    rustc = project.program("rustc", project.rustc_text())
    assert accepted(project, RUST, *arguments) == str(rustc)


def test_plain_rust_needs_no_teenyc(project):
    rustup(project, "teenyc-1\\nteenyc-2\\n")  # not even an unambiguous one
    rustc = project.program("rustc", project.rustc_text())
    assert accepted(project, RUST) == str(rustc)


def test_both_frontends_in_one_project(project):
    teenyc = project.program("private/teenyc", "#!/bin/sh\nexit 1\n")
    text = TRITON + RUST.replace("SOURCE", "NAME again SOURCE")
    project.lists(text)
    assert_accepted(project.configure(f"-DTEENYC_EXECUTABLE={teenyc}", f"-DTEENY_RUSTC_EXECUTABLE={project.rustc}"))
    compilers = {compile_arguments(each)["--name"][0]: compile_arguments(each)["--compiler"][0] for each in project.ninja_commands("compile")}
    assert compilers == {"k": str(teenyc), "again": str(project.rustc)}


@pytest.mark.parametrize("version", ["1.90.0", "1.95.0", "2.0.0", "1.96.0-nightly"])
def test_a_rustc_that_is_new_enough(project, version):
    rustc = project.program("rustc", project.rustc_text(version))
    assert accepted(project, RUST) == str(rustc)


def test_a_rustc_that_is_too_old_is_refused(project):
    rustc = project.program("rustc", project.rustc_text("1.89.0"))
    refused(project, RUST, str(rustc), "1.89.0", "1.90", "TEENY_RUSTC_EXECUTABLE")


def test_a_rustc_that_is_too_old_is_not_kept(project):
    project.program("rustc", project.rustc_text("1.89.0"))
    project.lists(RUST)
    assert project.configure().returncode != 0
    better = project.program("better/rustc", project.rustc_text("1.95.0"))
    assert accepted(project, RUST, env={"PATH": f"{better.parent}:{project.bin}"}) == str(better)


def test_a_rustc_without_the_target_is_refused(project):
    rustc = project.program("rustc", project.rustc_text(targets="echo wasm32-unknown-unknown"))
    refused(project, RUST, str(rustc), "nvptx64-nvidia-cuda")


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho hello\n", "#!/no/such/interpreter\n", "no program"])
def test_a_rustc_that_does_not_answer_is_refused(project, text):
    rustc = project.program("rustc", text)
    refused(project, RUST, str(rustc), "does not tell its version")


def test_without_any_rustc_the_message_says_what_to_do(project):
    refused(project, RUST, "there is no rustc on PATH", "TEENY_RUSTC_EXECUTABLE", "install")


def test_a_rustc_that_vanished_is_searched_again(project):
    old = project.program("private/old/rustc", project.rustc_text())
    accepted(project, RUST, f"-DTEENY_RUSTC_EXECUTABLE={old}")
    old.unlink()
    new = project.program("rustc", project.rustc_text())
    assert accepted(project, RUST) == str(new)


def test_rustc_is_asked_once_per_binary(project):
    rustc = project.program("rustc", project.rustc_text())
    text = RUST + RUST.replace("SOURCE", "NAME again SOURCE")
    accepted(project, text)
    runs = len(project.rustc_log.read_text().splitlines())
    accepted(project, text)
    assert len(project.rustc_log.read_text().splitlines()) == runs == 2
    project.program("rustc", project.rustc_text("1.80.0"))
    os.utime(rustc, (2_000_000_000, 2_000_000_000))
    refused(project, text.splitlines()[0] + "\n", "1.80.0")


@pytest.mark.parametrize("link", ["symbolic", "relative", "hard"])
def test_a_proxy_of_rustup_is_resolved(project, link):
    real = project.program("toolchain/bin/rustc", project.rustc_text())
    proxy = rustup(project, "stable\\n", f"test \"$*\" = 'which rustc' && echo '{real}'")
    rustc = project.bin / "rustc"
    if link == "hard":
        os.link(proxy, rustc)
    else:
        rustc.symlink_to(proxy if link == "symbolic" else "rustup")
    assert accepted(project, RUST) == str(real)
    assert str(real) in inputs(project) and str(rustc) not in inputs(project)


def test_a_proxy_given_by_hand_is_resolved(project):
    real = project.program("toolchain/bin/rustc", project.rustc_text())
    proxy = rustup(project, "stable\\n", f"echo '{real}'", "private/cargo/rustup")
    proxy.with_name("rustc").symlink_to("rustup")
    assert accepted(project, RUST, f"-DTEENY_RUSTC_EXECUTABLE={proxy.with_name('rustc')}") == str(real)


def test_a_proxy_without_toolchain_is_refused(project):
    rustup(project, "stable\\n", "echo 'error: no default toolchain' >&2; exit 1")
    (project.bin / "rustc").symlink_to("rustup")
    refused(project, RUST, str(project.bin / "rustc"), "rustup proxy")


def test_a_rustc_beside_rustup_that_is_no_proxy_stays(project):
    rustc = project.program("rustc", project.rustc_text())
    rustup(project, "stable\\n", "exit 1")
    assert accepted(project, RUST) == str(rustc)


def test_a_link_to_a_rustc_is_followed(project):
    (project.bin / "rustc").symlink_to(project.rustc)
    assert accepted(project, RUST) == str(project.rustc)
    assert str(project.rustc) in inputs(project)


def test_the_find_modules_serve_on_their_own(project):
    project.program("rustc", project.rustc_text("1.94.1"))
    project.lists(
        "list(APPEND CMAKE_MODULE_PATH ${Teeny_MODULE_DIR})\nfind_package(NvptxRustc)\nfind_package(Teenyc)\n"
        'message(STATUS "<${NvptxRustc_FOUND} ${NvptxRustc_VERSION} ${NvptxRustc_EXECUTABLE}> <${Teenyc_FOUND}>")\n'
    )
    result = project.configure()
    assert_accepted(result)
    assert f"<TRUE 1.94.1 {project.bin / 'rustc'}> <FALSE>" in result.output
    shutil.rmtree(project.build_dir)
    project.program("rustc", project.rustc_text("1.70.0"))
    result = project.configure()
    assert_accepted(result)
    assert "<FALSE " in result.output and "1.70.0" in result.text
