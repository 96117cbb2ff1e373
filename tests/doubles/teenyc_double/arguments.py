"""The command line, taken apart as rustc's getopts does it, and each value checked as rustc checks it."""

import re

FLAG, MANY_FLAGS, ONE, MANY = range(4)

# long name (or short alone): kind; aliases map the short form to it.
OPTIONS = {
    "help": FLAG, "version": FLAG, "verbose": FLAG, "test": FLAG, "g": MANY_FLAGS, "O": MANY_FLAGS,
    "o": ONE, "out-dir": ONE, "explain": ONE, "target": ONE, "edition": ONE, "color": ONE, "error-format": ONE,
    "crate-name": ONE, "cap-lints": ONE, "diagnostic-width": ONE, "sysroot": ONE, "frontend": ONE,
    "cfg": MANY, "check-cfg": MANY, "L": MANY, "l": MANY, "crate-type": MANY, "emit": MANY, "print": MANY,
    "codegen": MANY, "Z": MANY, "extern": MANY, "remap-path-prefix": MANY, "json": MANY,
    "allow": MANY, "warn": MANY, "force-warn": MANY, "deny": MANY, "forbid": MANY,
}  # fmt: skip
SHORT = {"h": "help", "V": "version", "v": "verbose", "C": "codegen", "A": "allow", "W": "warn", "D": "deny",
         "F": "forbid", "g": "g", "O": "O", "o": "o", "L": "L", "l": "l", "Z": "Z"}  # fmt: skip

BOOL = "one of: `y`, `yes`, `on`, `true`, `n`, `no`, `off` or `false` was expected"
CODEGEN = {
    **dict.fromkeys(
        ("debug-assertions default-linker-libraries embed-bitcode force-unwind-tables jump-tables link-dead-code"
         " no-redzone overflow-checks prefer-dynamic rpath save-temps soft-float").split(), "bool"),
    **dict.fromkeys("no-prepopulate-passes no-stack-check no-vectorize-loops no-vectorize-slp".split(), "none"),
    **dict.fromkeys("codegen-units inline-threshold dwarf-version".split(), "number"),
    **dict.fromkeys(
        ("ar code-model collapse-macro-debuginfo dlltool extra-filename link-arg linker-flavor metadata"
         " relocation-model split-debuginfo symbol-mangling-version target-cpu target-feature"
         " unsafe-allow-abi-mismatch").split(), "string"),
    **dict.fromkeys("incremental linker profile-use".split(), "path"),
    **dict.fromkeys("link-args llvm-args passes".split(), "space-separated list of strings"),
    **dict.fromkeys(
        ("control-flow-guard force-frame-pointers instrument-coverage link-self-contained linker-features"
         " linker-plugin-lto lto profile-generate relro-level remark").split(), "any"),
    "debuginfo": ("0|1|2|none|line-directives-only|line-tables-only|limited|full",
                  "either an integer (0, 1, 2), `none`, `line-directives-only`, `line-tables-only`, `limited`,"
                  " or `full` was expected"),
    "panic": ("unwind|abort|immediate-abort", "either `unwind`, `abort`, or `immediate-abort` was expected"),
    "strip": ("none|debuginfo|symbols", "either `none`, `debuginfo`, or `symbols` was expected"),
    "opt-level": ("0|1|2|3|s|z", None),
}  # fmt: skip
UNSTABLE = {
    "codegen-backend", "unstable-options", "crate-attr", "allow-features", "remap-cwd-prefix", "mir-opt-level",
    "inline-mir", "macro-backtrace", "location-detail", "fmt-debug", "share-generics", "threads", "time-passes",
    "treat-err-as-bug", "ui-testing", "verbose-internals", "write-long-types-to-disk",
}  # fmt: skip
EMISSIONS = "asm llvm-bc dep-info link llvm-ir metadata mir obj thin-link-bitcode".split()
CRATE_TYPES = "lib rlib staticlib dylib cdylib bin proc-macro".split()
PRINTS = "crate-name host-tuple sysroot target-cpus target-libdir target-list".split()
NIGHTLY_ONLY = """
help: consider switching to a nightly toolchain: `rustup default nightly`

note: selecting a toolchain with `+toolchain` arguments require a rustup proxy; \
see <https://rust-lang.github.io/rustup/concepts/index.html>

note: for more information about Rust's stability policy, \
see <https://doc.rust-lang.org/book/appendix-07-nightly-rust.html#unstable-features>
"""


class Fatal(Exception):
    """An early fatal error: the message, exit 1."""


class Matches:
    """What getopts found: the last value of an option, all its values, and the free arguments."""

    def __init__(self):
        self.values, self.free = {}, []

    def one(self, name, default=None):
        return self.values.get(name, [default])[-1]

    def many(self, name):
        return self.values.get(name, [])

    def __contains__(self, name):
        return name in self.values


def expand(argv):
    """`@file` stands for the lines of that file."""
    expanded = []
    for number, argument in enumerate(argv):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raw = argument.encode("utf-8", "surrogateescape")
            shown = "".join(chr(b) if 31 < b < 127 else f"\\x{b:02X}" for b in raw)
            raise Fatal(f'argument {number + 1} is not valid Unicode: "{shown}"') from None
        if argument.startswith("@"):
            try:
                with open(argument[1:], encoding="utf-8") as file:
                    expanded += file.read().splitlines()
            except OSError as error:
                reason = f"{argument[1:]}: {error.strerror} (os error {error.errno})"
                raise Fatal(f"failed to load argument file: IO error: {reason}") from None
        else:
            expanded.append(argument)
    return expanded


def split(argv):
    """getopts: which arguments are options, which are values, which are free."""
    matches, position = Matches(), 0

    def record(shown, name, value):
        kind = OPTIONS[name]
        if kind in (FLAG, ONE) and name in matches:
            raise Fatal(f"Option '{shown}' given more than once")
        matches.values.setdefault(name, []).append(value)

    def following(shown):
        nonlocal position
        if position >= len(argv):
            raise Fatal(f"Argument to option '{shown}' missing")
        position += 1
        return argv[position - 1]

    while position < len(argv):
        argument = argv[position]
        position += 1
        if argument == "--":
            matches.free += argv[position:]
            break
        if argument == "-" or not argument.startswith("-"):
            matches.free.append(argument)
        elif argument.startswith("--"):
            shown, equals, value = argument[2:].partition("=")
            if shown not in OPTIONS or len(shown) < 2:
                raise Fatal(f"Unrecognized option: '{shown}'")
            if OPTIONS[shown] in (FLAG, MANY_FLAGS):
                if equals:
                    raise Fatal(f"Option '{shown}' does not take an argument")
                record(shown, shown, None)
            else:
                record(shown, shown, value if equals else following(shown))
        else:
            rest = argument[1:]
            while rest:
                shown, rest = rest[0], rest[1:]
                if shown not in SHORT:
                    raise Fatal(f"Unrecognized option: '{shown}'")
                name = SHORT[shown]
                if OPTIONS[name] in (FLAG, MANY_FLAGS):
                    record(name, name, None)
                else:
                    record(shown, name, rest or following(shown))
                    break
    return matches


def choice(matches, name, allowed, message):
    value = matches.one(name)
    if value is not None and value not in allowed:
        raise Fatal(f"{message} (instead was `{value}`)")
    return value


def codegen_options(matches):
    """{key: value} of -C, the last one of each winning."""
    chosen = {}
    for option in matches.many("codegen"):
        key, equals, value = option.partition("=")
        key = key.replace("_", "-")
        kind = CODEGEN.get(key)
        if kind is None:
            raise Fatal(f"unknown codegen option: `{key}`")
        wrong = None
        if kind == "bool":
            ok = not equals or value in ("y", "yes", "on", "true", "n", "no", "off", "false")
            wrong = None if ok else BOOL
        elif kind == "none":
            wrong = "no value was expected" if equals else None
        elif kind == "number":
            wrong = None if re.fullmatch(r"\+?[0-9]+", value) else "a number was expected"
        elif isinstance(kind, tuple):
            if value not in kind[0].split("|"):
                if kind[1] is None:
                    raise Fatal(f"optimization level needs to be between 0-3, s or z (instead was `{value}`)")
                wrong = kind[1]
        elif kind != "any" and not equals:
            raise Fatal(f"codegen option `{key}` requires a {kind} (`-C {key}=<value>`)")
        if wrong:
            raise Fatal(f"incorrect value `{value}` for codegen option `{key}` - {wrong}")
        chosen[key] = value if equals else None
    return chosen


def unstable_options(matches, nightly):
    given = matches.many("Z")
    if given and not nightly:
        refusals = "\nerror: ".join(["the option `Z` is only accepted on the nightly compiler"] * len(given))
        plural = "" if len(given) == 1 else "s"
        raise Fatal(f"{refusals}\n{NIGHTLY_ONLY}\nerror: {len(given)} nightly option{plural} were parsed")
    chosen = {}
    for option in given:
        key, _, value = option.partition("=")
        key = key.replace("_", "-")
        if key not in UNSTABLE:
            raise Fatal(f"unknown unstable option: `{key}`")
        chosen[key] = value
    return chosen


def lint_level(matches):
    """What -A/-W/-D warnings, --cap-lints and friends make of a warning."""
    level = "warn"
    for name in ("allow", "warn", "deny", "forbid"):
        if "warnings" in matches.many(name):
            level = name
    cap = matches.one("cap-lints")
    if cap is not None and cap not in ("allow", "warn", "deny", "forbid", "force-warn"):
        raise Fatal(f"unknown lint level: `{cap}`")
    if cap == "allow" or (cap == "warn" and level in ("deny", "forbid")):
        level = cap
    return level


def emissions(matches):
    """{kind: path or None}; nothing asked for means link."""
    chosen = {}
    for item in ",".join(matches.many("emit")).split(",") if "emit" in matches else ():
        kind, equals, path = item.partition("=")
        if kind not in EMISSIONS:
            expected = ", ".join(f"`{name}`" for name in EMISSIONS)
            raise Fatal(f"unknown emission type: `{kind}` - expected one of: {expected}")
        chosen[kind] = path if equals else None
    return chosen or {"link": None}


def check_plain_values(matches):
    """The options that the double takes and does nothing with."""
    choice(matches, "edition", ("2015", "2018", "2021", "2024", "future"),
           "argument for `--edition` must be one of: <2015|2018|2021|2024|future>.")  # fmt: skip
    for value in matches.many("remap-path-prefix"):
        if "=" not in value:
            raise Fatal("--remap-path-prefix must contain '=' between FROM and TO")
    width = matches.one("diagnostic-width")
    if width is not None and not width.isdigit():
        raise Fatal("`--diagnostic-width` must be an positive integer")
    for value in matches.many("cfg"):
        if not re.fullmatch(r'\s*[A-Za-z_]\w*\s*(?:=\s*"[^"]*"\s*)?', value):
            raise Fatal(f'invalid `--cfg` argument: `{value}` (expected `key` or `key="value"`)')
    for value in matches.many("check-cfg"):
        if not re.fullmatch(r"\s*cfg\s*\(.*\)\s*", value):
            raise Fatal(f"invalid `--check-cfg` argument: `{value}`")
    for value in matches.many("l"):
        if not value.rpartition("=")[2]:
            raise Fatal("library name must not be empty")
    for value in matches.many("extern"):
        name = value.partition("=")[0].rpartition(":")[2]
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise Fatal(f"crate name `{name}` passed to `--extern` is not a valid ASCII identifier")
    for value in ",".join(matches.many("crate-type")).split(",") if "crate-type" in matches else ():
        if value not in CRATE_TYPES:
            expected = ", ".join(f"`{name}`" for name in CRATE_TYPES)
            raise Fatal(f"unknown crate type: `{value}`, expected one of: {expected}")


def input_file(matches):
    if not matches.free:
        raise Fatal("no input filename given")
    if len(matches.free) > 1:
        first, second = matches.free[:2]
        raise Fatal(f"multiple input filenames provided (first two filenames are `{first}` and `{second}`)")
    if matches.free[0] == "-":
        raise Fatal("not supported by the double: source from standard input")
    return matches.free[0]


def crate_name(matches, source):
    name = matches.one("crate-name")
    if name is None:
        name = re.sub(r"\.[^.]*$", "", source.rpartition("/")[2]).replace("-", "_")
    if not name:
        return name, "crate name must not be empty"
    for character in name:
        if not (character.isalnum() or character == "_"):
            return name, f"invalid character '{character}' in crate name: `{name}`"
    return name, None
