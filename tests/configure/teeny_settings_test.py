"""Where ARCHITECTURES, PTX_VERSION, PRELUDE and LOG_LEVEL come from, and how they may be spelt (B14, B29)."""

import pytest
from cmake_project import Project, assert_accepted, assert_refused, compile_arguments

KNOWN = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120"]
TRITON = "teeny_add_kernel(app SOURCE k.rs {})\n"
RUST = "teeny_add_kernel(app SOURCE k.rs FRONTEND rust {})\n"
FRONTENDS = pytest.mark.parametrize("call", [TRITON, RUST], ids=["triton", "rust"])


def nvidia_smi(project, answer, status=0):
    project.program("nvidia-smi", f"#!/bin/sh\nprintf '{answer}'\nexit {status}\n")


def accepted(project, text, *arguments, warnings=0, env=None):
    project.lists(text)
    result = project.configure(*project.defaults, *arguments, env=env)
    assert_accepted(result, warnings)
    return result


def refused(project, text, *words, arguments=(), env=None, call="teeny_add_kernel(app"):
    project.lists(text)
    assert_refused(project, project.configure(*project.defaults, *arguments, env=env), *words, call=call)


def told(project):
    """The arguments of the only `compile` rule."""
    [command] = project.ninja_commands("compile")
    return compile_arguments(command)


# Spelling of architectures


@FRONTENDS
@pytest.mark.parametrize("word", ["90", "sm_90", "sm-90", "SM90", "sm90", "SM_90", "90-real", "90-virtual", "sm_90-real"])
def test_b14_one_architecture_has_many_spellings(project, call, word):
    accepted(project, call.format(f"ARCHITECTURES 80 {word}"))
    assert project.images() == ["sm_80", "sm_90"]


@pytest.mark.parametrize("call, words, expected", [
    (TRITON, "80 90a", ["sm_80", "sm_90a"]),
    (TRITON, "80 SM_100A", ["sm_80", "sm_100a"]),
    (RUST, "90a 90f 100f", ["sm_90a", "sm_90f", "sm_100f"]),
    (RUST, "90 90a", ["sm_90", "sm_90a"]),
    (RUST, "90 sm_90 SM90 90-real 90-virtual 80 90", ["sm_90", "sm_80"]),
    (RUST, '"80;90"', ["sm_80", "sm_90"]),
    (RUST, '"80;;90"', ["sm_80", "sm_90"]),
    (RUST, '80 "" 90', ["sm_80", "sm_90"]),
    (RUST, "80 ${EMPTY} 90", ["sm_80", "sm_90"]),
    (TRITON, "all", KNOWN),
    (RUST, "all", KNOWN),
    (RUST, "all 90", KNOWN),
    (TRITON, "all-major", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]),
])  # fmt: skip
def test_b14_lists_of_architectures(project, call, words, expected):
    accepted(project, call.format(f"ARCHITECTURES {words}"))
    assert sorted(project.images()) == sorted(expected)
    assert sorted(compile_arguments(command)["--arch"] for command in project.ninja_commands("compile")) == sorted(
        [arch] for arch in expected
    )


@pytest.mark.parametrize("word", ["9", "x90", "sm_", "90b", "sm_90aa", "ninety", "8.0", "08", "90-", "compute_90", "-90"])
def test_a_word_that_is_no_architecture_is_refused(project, word):
    refused(
        project, RUST.format(f"ARCHITECTURES 80 {word}"),
        f"ARCHITECTURES '{word}' is not a GPU architecture", "accepted are", "sm_90", "native", "all-major",
    )  # fmt: skip


@pytest.mark.parametrize("words", ["$<$<CONFIG:Release>:90>", "80 $<1:90>"])
def test_b14_generator_expressions_are_no_architectures(project, words):
    refused(
        project, RUST.format(f"ARCHITECTURES {words}"), f"ARCHITECTURES '{words.split()[-1]}'", "generator expressions"
    )


@pytest.mark.parametrize("words, expected", [
    ("${EMPTY}", "ARCHITECTURES has no value"),
    ('"${EMPTY}"', "ARCHITECTURES is empty"),
    ('""', "ARCHITECTURES is empty"),
])  # fmt: skip
def test_b14_an_empty_list_of_architectures_is_refused(project, words, expected):
    refused(project, RUST.format(f"ARCHITECTURES {words}"), expected, arguments=["-DTEENY_ARCHITECTURES=80"])


@pytest.mark.parametrize("word", ["70", "sm_61", "72"])
def test_triton_needs_75(project, word):
    refused(project, TRITON.format(f"ARCHITECTURES 80 {word}"), f"ARCHITECTURES '{word}'", "75 or newer")


def test_rust_goes_below_75_with_a_warning(project):
    result = accepted(project, RUST.format("ARCHITECTURES 70"), warnings=1)
    assert "ARCHITECTURES '70'" in result.warnings[0]


def test_triton_has_no_families(project):
    refused(project, TRITON.format("ARCHITECTURES 80 90f"), "ARCHITECTURES '90f'", "family (f)")


@FRONTENDS
def test_an_unknown_architecture_passes_with_one_warning(project, call):
    result = accepted(
        project,
        call.format("ARCHITECTURES 80 91 sm_91") + call.format("NAME again ARCHITECTURES 80 91a"),
        warnings=1,
    )
    [warning] = result.warnings
    assert warning.startswith("teeny_add_kernel(app NAME k): ") and "ARCHITECTURES '91'" in warning
    assert " ".join(known[3:] for known in KNOWN) in warning
    assert f"CMakeLists.txt:{project.call_line() - 1} (teeny_add_kernel)" in result.messages[0].stack
    assert project.images() == ["sm_80", "sm_91"]


def test_exact_triton_architectures_are_pointed_out_once(project):
    text = TRITON.format("ARCHITECTURES 90 100") + TRITON.format("NAME again ARCHITECTURES 90 100")
    assert accepted(project, text).text.count("run on exactly these capabilities") == 1
    assert "exactly these" not in accepted(project, TRITON.format("ARCHITECTURES 80 90")).text
    assert "exactly these" not in accepted(project, RUST.format("ARCHITECTURES 90")).text


# native


@pytest.mark.parametrize("answer, expected", [
    ("8.6\\n", ["sm_86"]),
    ("9.0\\n9.0\\n8.0\\n", ["sm_90", "sm_80"]),
    ("12.0\\n", ["sm_120"]),
])  # fmt: skip
def test_native_is_what_nvidia_smi_lists(project, answer, expected):
    nvidia_smi(project, answer)
    accepted(project, RUST.format("ARCHITECTURES native"))
    assert project.images() == expected


def test_native_mixes_with_others(project):
    nvidia_smi(project, "8.6\\n")
    accepted(project, RUST.format("ARCHITECTURES 86 native 90"))
    assert project.images() == ["sm_86", "sm_90"]


def test_native_is_asked_once_and_recorded(project):
    project.program("nvidia-smi", f"#!/bin/sh\necho run >> '{project.tool_log}'\necho 8.6\n")
    text = RUST.format("ARCHITECTURES native") + RUST.format("NAME again ARCHITECTURES native")
    accepted(project, text)
    accepted(project, text)
    assert project.tool_log.read_text().splitlines() == ["run"]
    (project.bin / "nvidia-smi").unlink()
    accepted(project, text)
    assert project.images() == ["sm_86"]
    assert project.cache("TEENY_NATIVE_ARCHITECTURES") == "86"


@pytest.mark.parametrize("answer, status", [(None, 0), ("9.0\\n", 9), ("", 0), ("No devices were found\\n", 0)])
def test_native_without_gpu_is_refused(project, answer, status):
    if answer is not None:
        nvidia_smi(project, answer, status)
    refused(project, RUST.format("ARCHITECTURES native"), "ARCHITECTURES native", "no GPU was found", "such as 80 90")
    assert not project.cache("TEENY_NATIVE_ARCHITECTURES")


# The default list

SOURCES = [
    # Each one beats those below.
    ("argument", "75", None),
    ("property", "80", "(from the property TEENY_ARCHITECTURES of app)"),
    ("variable", "86", "(from TEENY_ARCHITECTURES)"),
    ("cuda", "87", "(from CMAKE_CUDA_ARCHITECTURES)"),
    ("environment", "89", "(from the environment variable TEENYC_CAPABILITY)"),
    ("native", "90", "(from the GPU of this machine)"),
]


def settings_of(project, names, value=None):
    values = {name: value or default for name, default, _ in SOURCES}
    arguments = []
    if "variable" in names:
        arguments.append(f"-DTEENY_ARCHITECTURES={values['variable']}")
    if "cuda" in names:
        arguments.append(f"-DCMAKE_CUDA_ARCHITECTURES={values['cuda']}")
    if "native" in names:
        nvidia_smi(project, f"{values['native'][:-1]}.{values['native'][-1]}\\n")
    env = {"TEENYC_CAPABILITY": values["environment"]} if "environment" in names else {}
    prefix = f"set_property(TARGET app PROPERTY TEENY_ARCHITECTURES {values['property']})\n" if "property" in names else ""
    argument = f"ARCHITECTURES {values['argument']}" if "argument" in names else ""
    return arguments, env, prefix, argument


@FRONTENDS
@pytest.mark.parametrize("first", range(len(SOURCES)), ids=[name for name, _, _ in SOURCES])
def test_the_order_of_the_sources_of_architectures(project, call, first):
    arguments, env, prefix, argument = settings_of(project, [name for name, _, _ in SOURCES[first:]])
    result = accepted(project, prefix + call.format(argument), *arguments, env=env)
    assert project.images() == [f"sm_{SOURCES[first][1]}"]
    line = SOURCES[first][2]
    if line:
        assert f"-- Teeny: GPU architectures {SOURCES[first][1]} {line}" in result.output.splitlines()
    else:
        assert "GPU architectures" not in result.output


def test_the_source_of_the_list_is_printed_once(project):
    text = "".join(RUST.format(f"NAME k{number}") for number in range(5))
    result = accepted(project, text, "-DTEENY_ARCHITECTURES=80;90")
    assert result.output.count("GPU architectures 80 90 (from TEENY_ARCHITECTURES)") == 1


def test_lists_in_every_source(project):
    accepted(project, RUST.format(""), "-DTEENY_ARCHITECTURES=80;sm_90;80-real")
    assert project.images() == ["sm_80", "sm_90"]
    accepted(project, "set_property(TARGET app PROPERTY TEENY_ARCHITECTURES 86 all-major)\n" + RUST.format(""))
    assert sorted(project.images()) == ["sm_100", "sm_120", "sm_75", "sm_80", "sm_86", "sm_90"]


@pytest.mark.parametrize("off", ["OFF", "FALSE", ""])
def test_cuda_architectures_that_are_off_are_none(project, off):
    accepted(project, RUST.format(""), f"-DCMAKE_CUDA_ARCHITECTURES={off}", env={"TEENYC_CAPABILITY": "sm_89"})
    assert project.images() == ["sm_89"]


def test_a_subdirectory_may_have_its_own_list(project):
    project.lists("add_executable(it main.cpp)\n" + RUST.format("").replace("app", "it"), "sub/CMakeLists.txt", head="")
    project.write("sub/main.cpp")
    project.write("sub/k.rs")
    accepted(project, "set(TEENY_ARCHITECTURES 80)\nadd_subdirectory(sub)\nset(TEENY_ARCHITECTURES 90)\n" + RUST.format(""))
    assert project.manifest("app")["kernels"][0]["images"] == ["k.sm_90.ptx"]
    assert '"k.sm_80.ptx"' in (project.build_dir / "sub/teeny/it/embed.json").read_text()


@FRONTENDS
def test_without_any_architecture_the_message_says_how_to_choose(project, call):
    refused(
        project, call.format(""),
        "no ARCHITECTURES are given", "such as 80 90", "TEENY_ARCHITECTURES", "CMAKE_CUDA_ARCHITECTURES",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["property", "variable", "cuda", "environment"])
def test_a_wrong_word_in_a_default_list_is_refused_with_its_source(project, name):
    arguments, env, prefix, _ = settings_of(project, [name], "ninety")
    project.lists(prefix + RUST.format(""))
    result = project.configure(*project.defaults, *arguments, env=env)
    assert_refused(project, result, "'ninety'", "accepted are")
    assert dict((source, line) for source, _, line in SOURCES)[name][6:-1] in result.text


# PTX_VERSION


@pytest.mark.parametrize("argument, variable, environment, expected", [
    ("8.2", None, None, "82"),
    ("82", None, None, "82"),
    ("8.7", "85", "83", "87"),
    (None, None, None, "default"),
    (None, "8.5", None, "85"),
    (None, "85", "83", "85"),
    (None, None, "83", "83"),
    (None, None, "+83", "83"),
    (None, None, "", "default"),
    ("default", "85", "83", "default"),
])  # fmt: skip
def test_the_ptx_version_is_always_told(project, argument, variable, environment, expected):
    accepted(
        project,
        RUST.format("ARCHITECTURES 80" + (f" PTX_VERSION {argument}" if argument else "")),
        *([f"-DTEENY_PTX_VERSION={variable}"] if variable else []),
        env={"TEENYC_PTX_VERSION": environment} if environment is not None else None,
    )
    assert told(project)["--ptx-version"] == [expected]


@pytest.mark.parametrize("word", ["8.2.1", "v82", "new", "8.", ".2", "-82", "8,2", "8.10", "8"])
def test_a_wrong_ptx_version_is_refused(project, word):
    refused(project, RUST.format(f"ARCHITECTURES 80 PTX_VERSION {word}"), f"PTX_VERSION '{word}'", "such as 8.2 or 82")


def test_a_wrong_default_ptx_version_is_refused_by_its_own_name(project):
    refused(
        project, RUST.format("ARCHITECTURES 80"),
        "TEENY_PTX_VERSION 'new'", "such as 8.2 or 82", arguments=["-DTEENY_PTX_VERSION=new"],
    )  # fmt: skip


@pytest.mark.parametrize("word", ["8.2", "new", "-82", " 82", "99999999999"])
def test_a_wrong_ptx_version_in_the_environment_is_warned_about_and_ignored(project, word):
    # As the Rust runtime reads it: a number of 32 bits.
    [warning] = accepted(project, RUST.format("ARCHITECTURES 80"), warnings=1, env={"TEENYC_PTX_VERSION": word}).warnings
    assert "TEENYC_PTX_VERSION" in warning and f"'{word}'" in warning and "82" in warning and "ignored" in warning
    assert told(project)["--ptx-version"] == ["default"]


def test_a_wrong_ptx_version_in_the_environment_is_warned_about_once(project):
    text = RUST.format("ARCHITECTURES 80") + RUST.format("NAME again ARCHITECTURES 80")
    accepted(project, text, warnings=1, env={"TEENYC_PTX_VERSION": "new"})


# PRELUDE


def test_the_prelude_of_rust_comes_with_the_package(project):
    accepted(project, RUST.format("ARCHITECTURES 80"))
    [prelude] = told(project)["--prelude"]
    assert prelude.endswith("/device/prelude.rs")
    assert prelude in project.ninja_inputs("teeny/app/k.sm_80.stamp")[0]


@FRONTENDS
def test_a_prelude_of_ones_own(project, call):
    project.write("mine.rs")
    accepted(project, call.format("ARCHITECTURES 80 PRELUDE mine.rs"))
    assert told(project)["--prelude"] == [str(project.source / "mine.rs")]
    assert str(project.source / "mine.rs") in project.ninja_inputs("teeny/app/k.sm_80.stamp")[0]


@FRONTENDS
def test_no_prelude(project, call):
    accepted(project, call.format("ARCHITECTURES 80 PRELUDE NONE"))
    assert told(project)["--prelude"] == ["NONE"]


def test_a_prelude_of_a_rule(project):
    rule = "add_custom_command(OUTPUT gen.rs COMMAND ${CMAKE_COMMAND} -E touch gen.rs)\n"
    accepted(project, rule + TRITON.format("ARCHITECTURES 80 PRELUDE ${CMAKE_CURRENT_BINARY_DIR}/gen.rs"))
    assert "gen.rs" in project.ninja_inputs("teeny/app/k.sm_80.stamp")[0]


@FRONTENDS
def test_a_prelude_that_is_not_there_is_refused(project, call):
    refused(project, call.format("ARCHITECTURES 80 PRELUDE no/such.rs"), "PRELUDE '", "no/such.rs'", "no such file")


def test_a_prelude_that_is_a_directory_is_refused(project):
    (project.source / "folder").mkdir()
    refused(project, TRITON.format("ARCHITECTURES 80 PRELUDE folder"), "PRELUDE '", "folder'", "directory")


def test_a_default_prelude_that_is_not_there_is_refused_by_its_own_name(project):
    refused(
        project, TRITON.format("ARCHITECTURES 80"), "TEENY_PRELUDE '", "no/such.rs'", arguments=["-DTEENY_PRELUDE=no/such.rs"]
    )


def test_triton_without_prelude_is_told_all_ways(project):
    refused(
        project, TRITON.format("ARCHITECTURES 80"),
        "PRELUDE <file>", "TEENY_PRELUDE", "TEENY_TRITON_DIR", "FRONTEND rust", arguments=["-DTEENY_PRELUDE="],
    )  # fmt: skip


def triton_directory(project):
    for name in ("src/triton/mod.rs", "src/triton/types/mod.rs", "core/teeny-core/src/dtype/mod.rs"):
        project.write(f"triton tree/{name}")
    return project.source / "triton tree"


@pytest.mark.parametrize("absolute", [True, False])
def test_a_prelude_assembled_from_a_checkout(project, absolute):
    tree = triton_directory(project)
    text = TRITON.format("ARCHITECTURES 80 90") + TRITON.format("NAME again ARCHITECTURES 80")
    accepted(project, text, "-DTEENY_PRELUDE=", f"-DTEENY_TRITON_DIR={tree if absolute else 'triton tree'}")
    [command] = project.ninja_commands("prelude")
    assert command[:3] == ["prelude", "--from", str(tree)] and command[3] == "-o"
    for each in project.ninja_commands("compile"):
        assert compile_arguments(each)["--prelude"] == [command[4]]
    stamp = f"{command[4]}.stamp".replace(f"{project.build_dir}/", "")
    assert stamp in project.ninja_inputs("teeny/app/k.sm_80.stamp")[0]
    inputs, _ = project.ninja_inputs(stamp)
    for name in ("src/triton/mod.rs", "src/triton/types/mod.rs", "core/teeny-core/src/dtype/mod.rs"):
        assert str(tree / name) in inputs


def test_a_given_prelude_beats_a_checkout(project):
    tree = triton_directory(project)
    accepted(project, TRITON.format("ARCHITECTURES 80"), f"-DTEENY_TRITON_DIR={tree}")
    assert told(project)["--prelude"] == [str(project.source / "prelude.rs")]
    assert not project.ninja_commands("prelude")


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
def test_a_checkout_serves_targets_of_two_directories(directory, generator):
    project = Project(directory, generator)
    tree = triton_directory(project)
    project.write("sub/k.rs")
    project.write("sub/main.cpp")
    project.lists("add_library(it main.cpp)\nteeny_add_kernel(it SOURCE k.rs ARCHITECTURES 80)\n", "sub/CMakeLists.txt", "")
    accepted(
        project, TRITON.format("ARCHITECTURES 80") + "add_subdirectory(sub)\n",
        "-DTEENY_PRELUDE=", f"-DTEENY_TRITON_DIR={tree}", project.fake_tool(),
    )  # fmt: skip
    built = project.build("it_teeny_images")
    assert built.returncode == 0, built.output
    assert [call[0] for call in project.tool_calls("prelude")] == ["prelude"]
    assert len(project.tool_calls("compile")) == 1


def test_a_checkout_that_is_not_there_is_refused(project):
    refused(
        project, TRITON.format("ARCHITECTURES 80"),
        "TEENY_TRITON_DIR 'no/such' is not a directory", arguments=["-DTEENY_PRELUDE=", "-DTEENY_TRITON_DIR=no/such"],
    )  # fmt: skip


def test_a_checkout_without_the_crate_is_refused(project):
    (project.source / "empty").mkdir()
    refused(
        project, TRITON.format("ARCHITECTURES 80"),
        "TEENY_TRITON_DIR 'empty'", arguments=["-DTEENY_PRELUDE=", "-DTEENY_TRITON_DIR=empty"],
    )  # fmt: skip


# LOG_LEVEL


@pytest.mark.parametrize("argument, variable, expected", [
    ("error", None, ["error"]), ("warn", None, ["warn"]), ("info", None, ["info"]), ("debug", None, ["debug"]),
    ("trace", None, ["trace"]), (None, "debug", ["debug"]), ("info", "debug", ["info"]), (None, None, None),
])  # fmt: skip
def test_the_log_level_is_told_only_if_set(project, argument, variable, expected):
    accepted(
        project,
        RUST.format("ARCHITECTURES 80" + (f" LOG_LEVEL {argument}" if argument else "")),
        *([f"-DTEENY_LOG_LEVEL={variable}"] if variable else []),
        env={"TEENYC_LOG_LEVEL": "trace"},  # read when the rule runs
    )
    assert told(project).get("--log-level") == expected


def test_a_wrong_log_level_is_refused(project):
    refused(
        project, RUST.format("ARCHITECTURES 80 LOG_LEVEL loud"), "LOG_LEVEL 'loud'", "error, warn, info, debug, trace"
    )


def test_a_wrong_default_log_level_is_refused_by_its_own_name(project):
    refused(
        project, RUST.format("ARCHITECTURES 80"),
        "TEENY_LOG_LEVEL 'loud'", "error, warn, info, debug, trace", arguments=["-DTEENY_LOG_LEVEL=loud"],
    )  # fmt: skip
