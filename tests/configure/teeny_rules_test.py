"""What the rules are told and depend on, under every generator (B14, A23)."""

import pytest
from cmake_project import GENERATORS, KERNEL_TOOL, Project, assert_accepted, assert_refused, compile_arguments

CALL = "teeny_add_kernel(app SOURCE k.rs FRONTEND rust ARCHITECTURES 80 {})\n"
STAMP = "teeny/app/k.sm_80.stamp"


def accepted(project, text, *arguments):
    project.lists(text)
    result = project.configure(*project.defaults, *arguments)
    assert_accepted(result)
    return result


def told(project):
    [command] = project.ninja_commands("compile")
    return compile_arguments(command)


def build(project, *targets, config=None):
    built = project.build(*targets, config=config)
    assert built.returncode == 0, built.output
    return [compile_arguments(call) for call in project.tool_calls("compile")]


# OPTIONS

PLAIN = [
    "-Cmetadata=a b", '--cfg=feature="x"', "$HOME", "$$", "${X}", "a\\b", " ", "'", "`id`", "#", "%PATH%", "&", "|",
    "*", "?", "~", "!", "(", ")", "<x>", "ä", "--", "-", "@file", "=", ",", "a,b", "--option=x", "{}",
]  # fmt: skip


def quoted(options):
    return " ".join(f"[==[{option}]==]" for option in options)


@pytest.mark.parametrize("generator", GENERATORS)
def test_b14_options_reach_the_compiler_unchanged(directory, generator):
    project = Project(directory, generator)
    accepted(project, CALL.format(f"OPTIONS {quoted(PLAIN)}"), project.fake_tool())
    [call] = build(project, "app_teeny_images")
    assert call["--option"] == PLAIN


def test_b14_options_with_semicolons_reach_the_compiler_unchanged(project):
    accepted(project, CALL.format(f"OPTIONS {quoted(['a;b', 'c', ';', 'd;'])}"), project.fake_tool())
    [call] = build(project, "app_teeny_images")
    assert call["--option"] == ["a;b", "c", ";", "d;"]


@pytest.mark.parametrize("options", [["C:\\", "c"], ["\\\\", "c"], ["x[0", "c", "y]1", "d"], ["$(X)"], ["a\nb"]])
def test_b14_options_that_cmake_itself_can_hardly_pass_arrive_unchanged_or_are_refused(project, options):
    project.lists(CALL.format(f"OPTIONS {quoted(options)}"))
    result = project.configure(*project.defaults, project.fake_tool())
    if result.returncode:
        assert_refused(project, result)
        assert any(" ".join(option.split()) in result.error for option in options), result.error
    else:
        [call] = build(project, "app_teeny_images")
        assert call["--option"] == options


@pytest.mark.parametrize("options, expected", [('"${EMPTY}"', None), ('-g "" "${EMPTY}" ${EMPTY} -v', ["-g", "-v"])])
def test_b14_an_empty_word_is_no_option(project, options, expected):
    accepted(project, CALL.format(f"OPTIONS {options}"))
    assert told(project).get("--option") == expected


@pytest.mark.parametrize("option, expected", [
    ("-Cdebuginfo=$<CONFIG>", ["-Cdebuginfo=Debug"]),
    ("$<$<CONFIG:Release>:-g>", None),
    ("$<$<CONFIG:Debug>:-g>", ["-g"]),
    ("$<$<CONFIG:Debug>:-C;lto=off>", ["-C", "lto=off"]),
    ("$<$<CONFIG:Debug>:-Ca=1,b=2>", ["-Ca=1,b=2"]),
    ("-Ca=1,b=$<CONFIG>", ["-Ca=1,b=Debug"]),
    ("$<IF:$<CONFIG:Debug>,0,3>", ["0"]),
    ("-Cx=a b $<CONFIG>", ["-Cx=a b Debug"]),
    ("$<TARGET_PROPERTY:app,KERNEL_FLAGS>", ["-g", "-v"]),
])  # fmt: skip
def test_b14_generator_expressions_in_options(project, option, expected):
    accepted(
        project, "set_property(TARGET app PROPERTY KERNEL_FLAGS -g -v)\n" + CALL.format(f"OPTIONS [==[{option}]==]"),
        "-DCMAKE_BUILD_TYPE=Debug",
    )  # fmt: skip
    assert told(project).get("--option") == expected


def test_generator_expressions_give_each_configuration_its_own_images(directory):
    project = Project(directory, "Ninja Multi-Config")
    accepted(project, CALL.format("OPTIONS -Cx=$<CONFIG>"), project.fake_tool())
    build(project, "app_teeny_images", config="Debug")
    calls = build(project, "app_teeny_images", config="Release")
    assert [call["--option"] for call in calls] == [["-Cx=Debug"], ["-Cx=Release"]]
    assert calls[0]["--output"] != calls[1]["--output"]
    assert project.manifest(file="Debug/embed.json")["kernels"][0]["per_configuration"] is True


def test_configurations_share_images_that_are_equal(directory):
    project = Project(directory, "Ninja Multi-Config")
    accepted(project, CALL.format("OPTIONS -g"), project.fake_tool())
    build(project, "app_teeny_images", config="Debug")
    assert len(build(project, "app_teeny_images", config="Release")) == 1


# What else `compile` is told


def test_nothing_is_left_to_the_environment(project):
    accepted(project, CALL.format(""))
    arguments = told(project)
    assert arguments["--ptx-version"] == ["default"]
    assert arguments["--compiler"] == [str(project.rustc)]
    assert sorted(arguments) == sorted(
        ["--output", "--stamp", "--name", "--frontend", "--compiler", "--ptx-version", "--prelude", "--source", "--arch"]
    )


@pytest.mark.parametrize("given, expected", [("/an/absolute one", "/an/absolute one"), ("relative", "{build}/relative")])
def test_the_cache_directory_is_told_as_an_absolute_path(project, given, expected):
    accepted(project, CALL.format(""), f"-DTEENY_CACHE_DIR={given}")
    assert told(project)["--cache-dir"] == [expected.format(build=project.build_dir)]


@pytest.mark.parametrize("given, expected", [("ON", [True]), ("OFF", None)])
def test_a_shared_cache_is_told(project, given, expected):
    accepted(project, CALL.format(""), f"-DTEENY_CACHE_SHARED={given}")
    assert told(project).get("--cache-shared") == expected


@pytest.mark.parametrize("launcher", ["ccache", "ccache;--flag;a b"])
def test_every_word_of_the_launcher_is_told(project, launcher):
    accepted(project, CALL.format(""), f"-DTEENY_COMPILER_LAUNCHER={launcher}")
    assert ";".join(told(project)["--launcher"]) == launcher
    assert project.manifest()["kernels"][0]["per_configuration"] is False


def test_force_is_told(project):
    accepted(project, CALL.format("FORCE"))
    assert told(project)["--force"] == [True]


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_job_pool(directory, generator):
    project = Project(directory, generator)
    accepted(project, "set_property(GLOBAL PROPERTY JOB_POOLS kernels=2)\n" + CALL.format(""), "-DTEENY_JOB_POOL=kernels")
    if generator == "Ninja":
        rule = (project.build_dir / "build.ninja").read_text().split(f"build {STAMP} ")[1].split("\n\n")[0]
        assert "  pool = kernels\n" in rule + "\n"


def test_a_subdirectory_may_have_its_own_settings(project):
    text = "set({} {})\nteeny_add_kernel(app SOURCE ../k.rs NAME {} FRONTEND rust ARCHITECTURES 80)\n"
    project.lists(text.format("TEENY_CACHE_DIR", "/one", "one"), "sub/CMakeLists.txt", head="")
    accepted(project, "add_subdirectory(sub)\n" + CALL.format("NAME two"))
    directories = {compile_arguments(each)["--name"][0]: compile_arguments(each).get("--cache-dir") for each in project.ninja_commands("compile")}
    assert directories == {"one": ["/one"], "two": None}


# The helper


def test_b25_the_helper_is_the_one_of_the_package(project):
    project.program("teeny-kernel")
    accepted(project, CALL.format(""))
    inputs, _ = project.ninja_inputs(STAMP)
    assert KERNEL_TOOL in inputs
    text = (project.build_dir / "build.ninja").read_text()
    assert f"&& {KERNEL_TOOL} compile " in text
    assert str(project.bin / "teeny-kernel") not in text


def test_a_helper_given_by_hand_is_used_for_every_rule(project):
    accepted(project, CALL.format(""), project.fake_tool())
    assert KERNEL_TOOL not in (project.build_dir / "build.ninja").read_text()
    for output in (STAMP, "teeny/app/declare.stamp", "teeny/app/embed.stamp"):
        assert str(project.bin / "private/tool") in project.ninja_inputs(output)[0]


# DEPENDS


@pytest.mark.parametrize("word", ["data.txt", "${CMAKE_CURRENT_SOURCE_DIR}/data.txt", "$<1:${CMAKE_CURRENT_SOURCE_DIR}/data.txt>"])
def test_a_file_in_depends_counts_by_content(project, word):
    path = str(project.write("data.txt"))
    accepted(project, CALL.format(f"DEPENDS {word}"))
    assert told(project)["--depend"] == [path]
    assert path in project.ninja_inputs(STAMP)[0]


@pytest.mark.parametrize("word", ["gen.txt", "${CMAKE_CURRENT_BINARY_DIR}/gen.txt"])
def test_a_file_of_a_rule_in_depends(project, word):
    rule = "add_custom_command(OUTPUT gen.txt COMMAND ${CMAKE_COMMAND} -E touch gen.txt)\n"
    accepted(project, rule + CALL.format(f"DEPENDS {word}"))
    assert told(project)["--depend"] == [str(project.build_dir / "gen.txt")]
    assert "gen.txt" in project.ninja_inputs(STAMP)[0]


def test_targets_in_depends_are_built_before(project):
    accepted(
        project,
        "add_custom_target(before)\nadd_executable(tool main.cpp)\nadd_executable(ns::tool ALIAS tool)\n"
        + CALL.format("DEPENDS before ns::tool"),
    )
    inputs, order = project.ninja_inputs(STAMP)
    assert "before" in order + inputs
    assert "tool" in order + inputs


def test_generator_expressions_in_depends(project):
    accepted(project, "add_executable(tool main.cpp)\n" + CALL.format("DEPENDS $<TARGET_FILE:tool> $<0:gone>"))
    assert told(project)["--depend"] == [str(project.build_dir / "tool")]
    assert "tool" in project.ninja_inputs(STAMP)[0]


@pytest.mark.parametrize("word", ["no/such.txt", "no_such_target"])
def test_b29_what_is_neither_file_nor_target_is_refused_in_depends(project, word):
    project.lists(CALL.format(f"DEPENDS k2.rs {word}"))
    assert_refused(project, project.configure(*project.defaults), f"DEPENDS '{word}'", "target", "file")


def test_a_rule_depends_on_all_that_it_reads(project):
    accepted(project, CALL.format("PRELUDE prelude.rs DEPENDS k2.rs"))
    inputs, _ = project.ninja_inputs(STAMP)
    source = project.source
    for each in (source / "k.rs", source / "k2.rs", source / "prelude.rs", project.rustc):
        assert str(each) in inputs


# Builds with a helper that makes empty files


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_build_with_nothing_to_do_runs_nothing(directory, generator):
    project = Project(directory, generator)
    accepted(project, CALL.format("") + CALL.format("NAME again").replace("80", "80 90"), project.fake_tool())
    assert len(build(project, "app_teeny_images")) == 3
    runs = project.tool_log.read_text()
    build(project, "app_teeny_images")
    assert project.tool_log.read_text() == runs
    assert len(project.tool_calls("declare")) == len(project.tool_calls("embed")) == 1


DIRECTORIES = {
    # Where the target is defined, where it is given kernels.
    "parent": ("add_executable(it main.cpp)\nadd_subdirectory(a)\n", {"a": "{call}"}),
    "child": ("add_subdirectory(a)\n{call}", {"a": "add_executable(it ../main.cpp)\n"}),
    "sibling": ("add_subdirectory(a)\nadd_subdirectory(b)\n", {"a": "add_executable(it ../main.cpp)\n", "b": "{call}"}),
    "all": (
        "add_subdirectory(a)\nadd_subdirectory(b)\n{call}",
        {"a": "add_executable(it ../main.cpp)\n{call}", "b": "{call}"},
    ),
}


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("place", DIRECTORIES)
def test_a23_a_target_of_another_directory(directory, generator, place):
    project = Project(directory, generator)
    top, others = DIRECTORIES[place]
    for name in ("", *others):
        # The source is relative to the directory of the call; one of a rule of that directory too.
        call = (
            f"add_custom_command(OUTPUT gen.rs COMMAND ${{CMAKE_COMMAND}} -E touch gen.rs)\n"
            f"teeny_add_kernel(it SOURCE k.rs NAME k_{name or 'top'} FRONTEND rust ARCHITECTURES 80)\n"
            f"teeny_add_kernel(it SOURCE gen.rs NAME g_{name or 'top'} FRONTEND rust ARCHITECTURES 80)\n"
        )
        text = others[name] if name else top
        if name:
            project.write(f"{name}/k.rs")
            project.lists(text.format(call=call), f"{name}/CMakeLists.txt", head="")
        else:
            accepted_text = text.format(call=call)
    accepted(project, accepted_text, project.fake_tool())
    calls = build(project, "it_teeny_images")
    expected = [name or "top" for name, text in [("", top), *others.items()] if "{call}" in text]
    assert sorted(call["--name"][0] for call in calls) == sorted(f"{letter}_{each}" for letter in "kg" for each in expected)
    for call in calls:
        [name], [source] = call["--name"], call["--source"]
        if name.startswith("k_"):
            assert source == str(project.source / name[2:].replace("top", "") / "k.rs")
    assert len(project.tool_calls("declare")) == len(project.tool_calls("embed")) == 1
    runs = project.tool_log.read_text()
    build(project, "it_teeny_images")
    assert project.tool_log.read_text() == runs


def test_many_kernels_are_configured_quietly(project):
    text = "foreach(number RANGE 1 200)\n  " + CALL.format("NAME kernel_${number}") + "endforeach()\n"
    result = accepted(project, text)
    assert len(result.output.splitlines()) < 10
    assert len(project.manifest()["kernels"]) == 200
    assert len(project.ninja_commands("compile")) == 200
    assert len(project.rustc_log.read_text().splitlines()) == 2


def test_configuring_again_changes_no_rule(project):
    text = CALL.format("OPTIONS -Cx=$<CONFIG>") + CALL.format("NAME again")
    accepted(project, text)
    first = {path: path.stat().st_mtime_ns for path in project.build_dir.glob("teeny/app/*.json")}
    rules = (project.build_dir / "build.ninja").read_text()
    accepted(project, text)
    assert (project.build_dir / "build.ninja").read_text() == rules
    assert {path: path.stat().st_mtime_ns for path in project.build_dir.glob("teeny/app/*.json")} == first
