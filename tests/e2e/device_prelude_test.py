"""The device prelude: it compiles cleanly with every compiler at hand, and each operator and function of it
becomes the PTX that its name says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = ROOT / "modules" / "device" / "prelude.rs"
FEATURES = ROOT / "tests" / "kernels" / "prelude_features.rs"
EXAMPLES = sorted(
    path for path in (ROOT / "example-project" / "kernels").glob("*.rs") if "ptx-kernel" in path.read_text()
)
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120", "sm_120f"]
TIMEOUT_S = 60


def run(command, **environment):
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def find_compilers():
    """Real rustc binaries of 1.90 or newer (never a rustup proxy), by what they say their version is."""
    candidates = []
    chosen = os.environ.get("TEENY_RUSTC_EXECUTABLE") or shutil.which("rustc")
    if chosen:
        candidates.append(chosen)
    if shutil.which("rustup"):
        for line in run(["rustup", "toolchain", "list"]).stdout.splitlines():
            found = run(["rustup", "which", "--toolchain", line.split()[0], "rustc"]) if line.split() else None
            if found and found.returncode == 0:
                candidates.append(found.stdout.strip())
        found = run(["rustup", "which", "rustc"])
        if chosen and Path(chosen).resolve().name == "rustup" and found.returncode == 0:
            candidates[0] = found.stdout.strip()
    candidates.append("/usr/bin/rustc")  # where Debian's rustc-web puts it

    compilers = {}
    for candidate in candidates:
        path = Path(candidate).resolve()
        if not path.is_file() or path.name == "rustup" or path in [c for c, _ in compilers.values()]:
            continue
        text = run([str(path), "-vV"]).stdout
        version = re.search(r"^release: ((\d+)\.(\d+)\S*)", text, re.MULTILINE)
        if version and (int(version[2]), int(version[3])) >= (1, 90):
            compilers.setdefault(version[1], (path, text))
    return {name: path for name, (path, _) in compilers.items()}


COMPILERS = find_compilers()
PTXAS = shutil.which("ptxas")

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no rustc of 1.90 or newer")


def ptx_of(folder, rustc, kernel_text, arch="sm_90", *options):
    """Compiles prelude + kernel as `FRONTEND rust` does, checks that it is clean, and returns the PTX."""
    source = folder / f"kernel_{arch}.rs"
    output = folder / f"kernel_{arch}.ptx"
    source.write_text(PRELUDE.read_text() + kernel_text)
    result = run(
        [
            str(rustc), str(source), "--target=nvptx64-nvidia-cuda", "--crate-type=lib", "-Copt-level=3",
            "-C", "overflow-checks=off", f"-Ctarget-cpu={arch}", "--emit=asm", f"-o{output}", *options,
        ],
        RUSTC_BOOTSTRAP="1",
    )
    assert result.returncode == 0, result.stderr
    warnings = re.findall(r"^(?:warning|error).*", result.stderr, re.MULTILINE)
    warnings = [w for w in warnings if "-Ctarget-feature" not in w]
    assert not warnings, result.stderr
    ptx = output.read_text()
    assert re.search(rf"^\.target {arch}\b", ptx, re.MULTILINE)
    assert re.search(r"^\.version \d+\.\d+", ptx, re.MULTILINE)
    assert ".extern" not in ptx
    assert ptx.count("{") == ptx.count("}")
    return ptx


def assemble(ptx, folder, arch):
    """Lets ptxas check the text; without CUDA, its form alone has been checked."""
    if PTXAS is None or f"'{arch}'" not in run([PTXAS, "--help"]).stdout:
        return
    (folder / "checked.ptx").write_text(ptx)
    result = run([PTXAS, f"-arch={arch}", str(folder / "checked.ptx"), "-o", str(folder / "checked.cubin")])
    assert result.returncode == 0, result.stdout + result.stderr


def each_compiler(function):
    return pytest.mark.parametrize("rustc", COMPILERS.values(), ids=COMPILERS.keys())(function)


# ---- The kernels ----------------------------------------------------------------------------------------


@each_compiler
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_features_compile_without_a_warning(tmp_path, rustc, arch):
    ptx = ptx_of(tmp_path, rustc, FEATURES.read_text(), arch)
    assert ".visible .entry prelude_features(" in ptx and ".visible .entry second_kernel(" in ptx
    assert set(re.findall(r"\.func\s+(?:\([^)]*\)\s+)?(\w+)", ptx)) <= set(re.findall(r"\w*warp_of\w*", ptx))
    assemble(ptx, tmp_path, arch)


@each_compiler
@pytest.mark.parametrize("edition", ["2021", "2024"])
def test_every_edition_is_accepted(tmp_path, rustc, edition):
    text = """
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(x: *mut u32) {
            for i in 0..3 {
                unsafe { *x += i }
            }
        }
    """
    ptx_of(tmp_path, rustc, text, "sm_90", f"--edition={edition}")


@each_compiler
def test_overflow_checks_and_debug_assertions_need_nothing_more(tmp_path, rustc):
    ptx = ptx_of(tmp_path, rustc, FEATURES.read_text(), "sm_90", "-Coverflow-checks=on", "-Cdebug-assertions=on")
    assert "trap;" in ptx


@each_compiler
@pytest.mark.parametrize("source", EXAMPLES, ids=[e.stem for e in EXAMPLES])
def test_examples(tmp_path, rustc, source):
    for arch in ("sm_75", "sm_120"):
        ptx = ptx_of(tmp_path, rustc, source.read_text(), arch)
        assert len(re.findall(r"^\.visible \.entry", ptx, re.MULTILINE)) == 1
        entry = re.search(rf"\.visible \.entry {source.stem}\((.*?)\)", ptx, re.DOTALL)
        pointers = len(re.findall(r"\*(?:const|mut) \w+[,)]", source.read_text()))
        assert entry and entry[1].count(".param .u64") == pointers > 0
        assert ".local" not in ptx and "trap;" not in ptx
        assemble(ptx, tmp_path, arch)


@each_compiler
def test_what_the_examples_are_made_of(tmp_path, rustc):
    text = {e.stem: ptx_of(tmp_path, rustc, e.read_text()) for e in EXAMPLES}
    assert "fma.rn.f32" in text["saxpy"] and len(re.findall(r"bra ", text["saxpy"])) == 2
    assert "add.rn.f32" in text["vector_add"] and len(re.findall(r"bra ", text["vector_add"])) == 1
    deltas = re.findall(r"shfl\.sync\.down\.b32.*?, (\d+), 31, -1", text["block_sum"])
    assert deltas == ["16", "8", "4", "2", "1"]
    assert "atom.add.f32" in text["block_sum"] and "%laneid" in text["block_sum"]


# ---- The wiring: an expression of a and b, and what its PTX must have, alone of its kind -----------------------

# What else an operator could be mistaken for: none of these but the wanted one may occur.
ARITHMETIC = r"\b(?:add|sub|mul|div|rem|and|or|xor|shl|shr|neg|not|fma|min|max|sqrt|abs|popc|clz|cvt\.r[mp]i)\.[\w.]+"

OPERATORS = {
    "f32": [
        ("a + b", r"add\.rn\.f32"), ("a - b", r"sub\.rn\.f32"), ("a * b", r"mul\.rn\.f32"), ("a / b", r"div\.rn\.f32"),
        ("-a", r"neg\.f32"), ("a.sqrt()", r"sqrt\.rn\.f32"), ("a.abs()", r"abs\.f32"), ("a.min(b)", r"min\.f32"),
        ("a.max(b)", r"max\.f32"), ("a.mul_add(b, a)", r"fma\.rn\.f32"), ("a.floor()", r"cvt\.rmi\.f32\.f32"),
        ("a.ceil()", r"cvt\.rpi\.f32\.f32"),
    ],
    "f64": [
        ("a + b", r"add\.rn\.f64"), ("a - b", r"sub\.rn\.f64"), ("a * b", r"mul\.rn\.f64"), ("a / b", r"div\.rn\.f64"),
        ("-a", r"neg\.f64"), ("a.sqrt()", r"sqrt\.rn\.f64"), ("a.abs()", r"abs\.f64"), ("a.min(b)", r"min\.f64"),
        ("a.max(b)", r"max\.f64"), ("a.mul_add(b, a)", r"fma\.rn\.f64"),
    ],
    "i32": [
        ("a + b", r"add\.s32"), ("a - b", r"sub\.s32"), ("a * b", r"mul\.lo\.s32"), ("a & b", r"and\.b32"),
        ("a | b", r"or\.b32"), ("a ^ b", r"xor\.b32"), ("a << 3", r"shl\.b32"), ("a >> 3", r"shr\.s32"),
        ("-a", r"neg\.s32"), ("!a", r"not\.b32"), ("a.min(b)", r"min\.s32"), ("a.max(b)", r"max\.s32"),
        ("a.abs()", r"abs\.s32"), ("a.wrapping_add(b)", r"add\.s32"), ("a.wrapping_sub(b)", r"sub\.s32"),
        ("a.wrapping_mul(b)", r"mul\.lo\.s32"),
    ],
    "u32": [
        ("a >> 3", r"shr\.u32"), ("a.min(b)", r"min\.u32"), ("a.max(b)", r"max\.u32"),
        ("a / (b | 1)", r"div\.u32"), ("a % (b | 1)", r"rem\.u32"), ("a.count_ones()", r"popc\.b32"),
        ("a.leading_zeros()", r"clz\.b32"),
    ],
    "i64": [
        ("a + b", r"add\.s64"), ("a - b", r"sub\.s64"), ("a * b", r"mul\.lo\.s64"), ("a & b", r"and\.b64"),
        ("a >> 3", r"shr\.s64"), ("-a", r"neg\.s64"),
    ],
    "u64": [("a + b", r"add\.s64"), ("a >> 3", r"shr\.u64"), ("a << 3", r"shl\.b64"), ("a ^ b", r"xor\.b64")],
}
MASKING = {r"div\.u32": r"or\.b32", r"rem\.u32": r"or\.b32"}  # the `| 1` of the operand
ASSIGNMENTS = {
    "f32": [("+=", r"add\.rn\.f32"), ("-=", r"sub\.rn\.f32"), ("*=", r"mul\.rn\.f32"), ("/=", r"div\.rn\.f32")],
    "i32": [
        ("+=", r"add\.s32"), ("-=", r"sub\.s32"), ("*=", r"mul\.lo\.s32"), ("&=", r"and\.b32"), ("|=", r"or\.b32"),
        ("^=", r"xor\.b32"), ("<<= 3; //", r"shl\.b32"), (">>= 3; //", r"shr\.s32"),
    ],
}
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
GENERIC = """
fn lt<T: PartialOrd>(a: T, b: T) -> bool { a < b }
fn le<T: PartialOrd>(a: T, b: T) -> bool { a <= b }
fn gt<T: PartialOrd>(a: T, b: T) -> bool { a > b }
fn ge<T: PartialOrd>(a: T, b: T) -> bool { a >= b }
fn eq<T: PartialEq>(a: T, b: T) -> bool { a == b }
fn ne<T: PartialEq>(a: T, b: T) -> bool { a != b }
"""
NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
# An operator on a primitive type is the compiler's own; that of a generic type goes through the prelude's trait.
TRAITS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Rem", "&": "BitAnd", "|": "BitOr", "^": "BitXor"}


def kernel(name, t, body, result=None):
    return (
        f'#[no_mangle] pub unsafe extern "ptx-kernel" fn {name}(a: {t}, b: {t}, out: *mut {result or t}) '
        f"{{ let _ = (a, b); {body} }}\n"
    )


def bodies(ptx):
    """The instructions of each entry, by the entry's name."""
    return {m[1]: m[2] for m in re.finditer(r"\.visible \.entry (\w+)\(.*?\)\s*\{(.*?)\n\}", ptx, re.DOTALL)}


@pytest.fixture(scope="module")
def wiring(tmp_path_factory):
    """All the tiny kernels, compiled at once by the compiler a build would take: name → (PTX, expression, opcode)."""
    rustc = next(iter(COMPILERS.values()))
    text, wanted = GENERIC, {}

    def add(t, expression, opcode, body, result=None):
        name = f"k{len(wanted)}"
        nonlocal text
        text += kernel(name, t, body, result)
        wanted[name] = (f"{t}: {expression}", opcode)

    for t, cases in OPERATORS.items():
        for expression, opcode in cases:
            result = "u32" if "ones" in expression or "zeros" in expression else t
            add(t, expression, opcode, f"*out = {expression};", result)
            binary = re.fullmatch(r"a (\S+) b", expression)
            if binary and binary[1] in TRAITS:
                trait = TRAITS[binary[1]]
                name = f"{trait.lower()}_{len(wanted)}"
                text += f"fn {name}<T: {trait}<Output = T>>(a: T, b: T) -> T {{ a {binary[1]} b }}\n"
                add(t, expression + " by trait", opcode, f"*out = {name}(a, b);")
    for t, cases in ASSIGNMENTS.items():
        for sign, opcode in cases:
            right = "3" if "//" in sign else "b"
            sign = sign.split()[0]
            add(t, sign, opcode, f"let mut c = a; c {sign} {right}; *out = c;")
            trait = {"<<=": "ShlAssign<i32>", ">>=": "ShrAssign<i32>"}.get(sign) or TRAITS[sign[0]] + "Assign"
            name = f"assign_{len(wanted)}"
            operand = "i32" if "<i32>" in trait else "T"
            text += f"fn {name}<T: {trait}>(a: &mut T, b: {operand}) {{ *a {sign} b }}\n"
            add(t, sign + " by trait", opcode, f"let mut c = a; {name}(&mut c, {right}); *out = c;")
    for name, sign, opcode in (("not_of", "!", r"not\.b32"), ("neg_of", "-", r"neg\.s32")):
        text += f"fn {name}<T: {'Not' if sign == '!' else 'Neg'}<Output = T>>(a: T) -> T {{ {sign}a }}\n"
        add("i32", sign + " by trait", opcode, f"*out = {name}(a);")
    for t in ("f32", "i32", "u64"):
        for sign in COMPARISONS:
            for form in (f"a {sign} b", f"{NAMES[sign]}(a, b)"):
                add(t, form, f"setp {NAMES[sign]}", f"*out = ({form}) as u32;", "u32")
    folder = tmp_path_factory.mktemp("wiring")
    ptx = ptx_of(folder, rustc, text)
    assemble(ptx, folder, "sm_90")
    found = bodies(ptx)
    assert found.keys() == wanted.keys()
    return {name: (found[name], *wanted[name]) for name in wanted}


def test_each_operator_becomes_its_instruction(wiring):
    for body, expression, opcode in wiring.values():
        if opcode.startswith("setp"):
            continue
        instructions = [i for i in re.findall(ARITHMETIC, body) if not re.fullmatch(MASKING.get(opcode, "-"), i)]
        assert len(instructions) == 1 and re.fullmatch(opcode, instructions[0]), f"{expression}: {body}"


def test_each_comparison_becomes_its_predicate(wiring):
    for body, expression, opcode in wiring.values():
        if not opcode.startswith("setp "):
            continue
        parameters = dict(re.findall(r"ld\.param\.\w+\s+(\S+), \[\w+_(param_\d)\]", body))
        (condition, left, right), = re.findall(r"setp\.(\w+)\.\w+\s+%p\d+, (\S+), (\S+);", body)
        picked, = re.findall(r"selp\.\w+\s+\S+, (-?\d), (-?\d), %p", body)
        condition = {"neu": "ne"}.get(condition, condition)
        # A negated float comparison is the unordered one, so that NaN comes out right; equality is there in both forms.
        unordered = condition.endswith("u") and condition not in ("ne", "eq")
        condition = condition[:2]
        if picked == ("0", "1"):
            condition = NEGATED[condition]
            assert "f32" not in expression or unordered or condition in ("eq", "ne"), f"{expression}: {body}"
        else:
            assert picked == ("1", "0") and not unordered, f"{expression}: {body}"
        if (parameters[left], parameters[right]) == ("param_1", "param_0"):
            condition = SWAPPED[condition]
        assert condition == opcode.split()[1], f"{expression}: {body}"


REGISTERS = {
    f"{rust}_{axis}": f"%{ptx}.{axis}"
    for rust, ptx in {"thread_idx": "tid", "block_idx": "ctaid", "block_dim": "ntid", "grid_dim": "nctaid"}.items()
    for axis in "xyz"
}
REGISTERS["lane_id"] = "%laneid"
FUNCTIONS = {
    "shfl_sync(FULL_MASK, a, 3)": r"shfl\.sync\.idx\.b32\s+\S+, \S+, 3, 31, -1",
    "shfl_up_sync(FULL_MASK, a, 3)": r"shfl\.sync\.up\.b32\s+\S+, \S+, 3, 0, -1",
    "shfl_down_sync(FULL_MASK, a, 3)": r"shfl\.sync\.down\.b32\s+\S+, \S+, 3, 31, -1",
    "shfl_xor_sync(FULL_MASK, a, 3)": r"shfl\.sync\.bfly\.b32\s+\S+, \S+, 3, 31, -1",
    "{ sync_threads(); a }": r"barrier\.sync 0;",
    "{ sync_warp(FULL_MASK); a }": r"bar\.warp\.sync\s+-1;",
    "{ thread_fence(); a }": r"membar\.gl;",
}
ATOMICS = {
    "atomic_add": ("add", {"i32": "s32", "u32": "u32", "u64": "u64", "f32": "f32", "f64": "f64"}),
    "atomic_min": ("min", {"i32": "s32", "u32": "u32", "i64": "s64", "u64": "u64"}),
    "atomic_max": ("max", {"i32": "s32", "u32": "u32", "i64": "s64", "u64": "u64"}),
    "atomic_exchange": ("exch", {"i32": "b32", "u32": "b32", "u64": "b64", "f32": "b32"}),
}


@each_compiler
def test_each_device_function_becomes_its_instruction(tmp_path, rustc):
    text, wanted = "", {}
    cases = [("u32", f"{f}()", re.escape(register)) for f, register in REGISTERS.items()]
    cases += [(t, expression, pattern) for expression, pattern in FUNCTIONS.items() for t in ("i32", "f32")]
    for function, (operation, types) in ATOMICS.items():
        cases += [(t, f"{function}(out, a)", rf"atom\.{operation}\.{suffix} ") for t, suffix in types.items()]
    for function, instruction in (("exp2", "ex2"), ("log2", "lg2"), ("rsqrt", "rsqrt")):
        cases.append(("f32", f"a.{function}_approx()", rf"\b{instruction}\.approx\.f32 "))
    for t, expression, pattern in cases:
        name = f"k{len(wanted)}"
        text += kernel(name, t, f"*out = {expression};")
        wanted[name] = (expression, pattern)
    for axis in "xyz":  # Each kind of register once, and of its own axis.
        for function, registers in ((f"global_thread_{axis}", ("ctaid", "ntid", "tid")),
                                    (f"global_threads_{axis}", ("nctaid", "ntid"))):
            text += kernel(f"k{len(wanted)}", "usize", f"*out = {function}();")
            wanted[f"k{len(wanted)}"] = (function, "[^$]*".join(rf"%{r}\.{axis};" for r in registers))
    ptx = ptx_of(tmp_path, rustc, text)
    found = bodies(ptx)
    for name, (expression, pattern) in wanted.items():
        assert re.search(pattern, found[name]), f"{expression}: {found[name]}"
        registers = set(re.findall(r"%(?:n?tid|n?ctaid)\.\w|%laneid", found[name]))
        expected = set(re.findall(r"%(?:n?tid|n?ctaid)\.\w|%laneid", pattern.replace("\\", "")))
        assert registers == expected, f"{expression}: {found[name]}"
    assemble(ptx, tmp_path, "sm_90")


@each_compiler
def test_what_constants_fold_to(tmp_path, rustc):
    """The optimiser runs a kernel without inputs, so the result in its PTX is the prelude's own arithmetic."""
    sums = {
        "for i in 0..5u32 { s += i * i }": 30,
        "for i in 0..=5u32 { s += i * i }": 55,
        "for i in 250..=255u8 { s += i as u32 }": 1515,
        "for i in (0..10u32).step_by(4) { s += i }": 12,
        "for i in (250..255u8).step_by(200) { s += i as u32 }": 250,
        "for i in (-3..4i32).step_by(3) { s += (i + 3) as u32 }": 9,
        "for i in 5..2i32 { s += i as u32 }": 0,
        "s += Some(4u32).map(|v| v * 3).unwrap_or(1) + None.unwrap_or(7)": 19,
        "s += [1, 2, 3][2] + [7u32; 4].len() as u32": 7,
        "s += div(47u32, 5) * 10 + rem(47u32, 5)": 92,
        "s += (div(-7i32, 2) + 4) as u32 * 10 + (rem(-7i32, 4) + 4) as u32": 11,
        "s += 47; div_assign(&mut s, 5)": 9,
        "s += 47; rem_assign(&mut s, 5)": 2,
        "s += shl(3u32, 2u8) * 100 + shr(-8i32, 1i64) as u32": 1196,
        "let v = [1u32, 20, 300]; let p = v.as_ptr(); s += *p.add(2).sub(1) + p.add(1).offset(-1).read()": 21,
        "let mut v = [0u32; 3]; v.as_mut_ptr().add(1).write(9); v[2] = 5; s += v[0] + v[1] * 10 + v[2] * 100": 590,
        "s += a.wrapping_sub(a) + (0 as *const u32).is_null() as u32 + 2 * ((&s as *const u32).is_null() as u32)": 1,
        "s += f32::from_bits(0x40400000) as u32 + (1.0f32).to_bits() / 0x800000": 130,
        "s += u32::MAX.trailing_zeros() + 8u32.trailing_zeros() * 10 + (i8::MIN as i32 + 128) as u32 + u16::BITS": 46,
        "s += i32::MAX.wrapping_add(1).min(5).wrapping_sub(i32::MIN) as u32 + (-3i32).max(-7).abs() as u32": 3,
    }
    text = """
        fn div<T: Div<Output = T>>(a: T, b: T) -> T { a / b }
        fn rem<T: Rem<Output = T>>(a: T, b: T) -> T { a % b }
        fn div_assign<T: DivAssign>(a: &mut T, b: T) { *a /= b }
        fn rem_assign<T: RemAssign>(a: &mut T, b: T) { *a %= b }
        fn shl<T: Shl<U, Output = T>, U>(a: T, b: U) -> T { a << b }
        fn shr<T: Shr<U, Output = T>, U>(a: T, b: U) -> T { a >> b }
    """
    text += "".join(kernel(f"k{i}", "u32", f"let mut s = 0u32; {body}; *out = s;") for i, body in enumerate(sums))
    found = bodies(ptx_of(tmp_path, rustc, text))
    for i, (body, total) in enumerate(sums.items()):
        # A constant is stored as it is or through a register, depending on the LLVM.
        stored = re.search(rf"(?:st\.global\.\w32\s+\[%rd\d+\]|mov\.\w32\s+%r\d+), {total};", found[f"k{i}"])
        assert stored and "bra" not in found[f"k{i}"], f"{body}: {found[f'k{i}']}"


@each_compiler
@pytest.mark.parametrize("expression", ["a / b", "a % b", "[1, 2, 3][b as usize]", "None.unwrap()"])
def test_what_would_panic_traps(tmp_path, rustc, expression):
    ptx = ptx_of(tmp_path, rustc, kernel("k", "u32", f"*out = {expression};"))
    assert "trap;" in ptx
    assemble(ptx, tmp_path, "sm_90")
