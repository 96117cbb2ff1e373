"""One run of the double: from the command line to the outputs, with the fault that the test asked for."""

import os
import re
import signal
import sys
import time

from . import arguments, settings as configuration, target
from .arguments import Fatal
from .diagnostics import Emitter, Source, Span
from .output import err, out
from .ptx import Image
from .source import Kernel, NoEntryPoint, Rejected

TARGETS = ("aarch64-unknown-linux-gnu", "nvptx64-nvidia-cuda", "riscv32-generic-none-elf", "riscv64-generic-none-elf",
           "x86_64-apple-darwin", "x86_64-unknown-linux-gnu")  # fmt: skip
TARGET_CPUS = (
    "MLIR backend target CPUs:\n  an NVIDIA SM version in the form `sm_<NN>` or `sm_<NN>a`, e.g. sm_70, sm_80,"
    " sm_90, sm_90a, sm_100a, sm_120a\n"
)
LIBDEVICE = "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc"
LEVELS = ("off", "error", "warn", "info", "debug", "trace")
LOG_TARGET = "rustc_codegen_llvm::mlir"
CUDA_TARGET = "nvptx64-nvidia-cuda"
BAD_SETTINGS_EXIT = 97


class Panic(Exception):
    """An internal compiler error: exit 101."""


class Failure(Exception):
    """A compile error without a place in the source."""


def sha256(data):
    try:
        from _sha256 import sha256 as digest  # quicker to load than hashlib
    except ImportError:
        from hashlib import sha256 as digest
    return digest(data).hexdigest()


def main(invoked):
    try:
        settings = configuration.load(invoked)
    except configuration.BadSettings as error:
        err(f"teenyc double: {error}\n")
        return BAD_SETTINGS_EXIT
    return Run(invoked, settings).main()


class Run:
    def __init__(self, invoked, settings):
        self.invoked, self.settings = invoked, settings
        self.log = configuration.Log(settings.log)
        self.emitter = Emitter()
        self.nightly = os.environ.get("RUSTC_BOOTSTRAP") == "1"
        self.matches = ()
        self.started = False

    def main(self):
        try:
            code = self._main()
        except configuration.BadSettings as error:
            err(f"teenyc double: {error}\n")
            code = BAD_SETTINGS_EXIT
        except Fatal as error:
            self._start()
            self.emitter.form = "human" if self.emitter.form == "short" else self.emitter.form
            self.emitter._emit("error", str(error), (), None, ())
            code = 1
        except Failure as error:
            self.emitter.error(str(error))
            self.emitter.finish()
            code = 1
        except Rejected:
            self.emitter.finish()
            code = 1
        except Panic as error:
            self._panic(str(error))
            code = 101
        if self.started:
            self.log.add("end", exit=code)
        return code

    def _start(self, **fields):
        """Tells the log of a real compile, once, however early it ends."""
        if not self.started and "print" not in self.matches:
            self.started = True
            empty = dict.fromkeys(("source", "source_sha256", "output", "target_cpu"))
            self.log.start(sys.argv, mode=self.settings.mode, generation=self.settings.generation, **{**empty, **fields})

    # The command line ----------------------------------------------------------------------------------------------

    def _main(self):
        argv = arguments.expand(sys.argv[1:])
        matches = arguments.split(argv)
        self.matches = matches
        unstable = arguments.unstable_options(matches, self.nightly)
        if not argv or "help" in matches:
            out("Usage: rustc [OPTIONS] INPUT\n")
            return 0
        if "version" in matches:
            self._version("verbose" in matches)
            return 0
        self._message_format()
        arguments.check_plain_values(matches)
        codegen = arguments.codegen_options(matches)
        emit = arguments.emissions(matches)
        frontend = matches.one("frontend")
        if frontend is not None and frontend.lower() != "triton":
            raise Fatal(f"unknown frontend: `{frontend}`. Supported frontends: triton")
        triple = matches.one("target", f"{os.uname().machine}-unknown-linux-gnu")
        if triple not in TARGETS:
            # The help belongs to the message: rustc prints it under a bar.
            raise Fatal(f'error loading target specification: could not find specification for target "{triple}"\n'
                        "  |\n  = help: run `rustc --print target-list` for a list of built-in targets")  # fmt: skip
        if "print" in matches:
            return self._print(triple)
        self.emitter.lint = arguments.lint_level(matches)
        source = arguments.input_file(matches)
        self._backend(unstable, frontend, triple)
        sm = target.capability(codegen.get("target-cpu"), self.settings.generation)
        return self._compile(source, sm, codegen, unstable, emit)

    def _message_format(self):
        matches = self.matches
        color = arguments.choice(matches, "color", ("auto", "always", "never"),
                                 "argument for `--color` must be auto, always or never")  # fmt: skip
        form = arguments.choice(matches, "error-format", ("human", "json", "short"),
                                "argument for `--error-format` must be `human`, `json` or `short` for the double")  # fmt: skip
        if "json" in matches and form != "json":
            raise Fatal("using `--json` requires also using `--error-format=json`")
        json = ",".join(matches.many("json")).split(",")
        self.emitter.form = form or "human"
        self.emitter.colour = form != "json" and (color == "always" or (color in (None, "auto") and os.isatty(2)))
        self.emitter.json_ansi = "diagnostic-rendered-ansi" in json

    def _sysroot(self):
        return os.path.dirname(os.path.dirname(os.path.abspath(self.invoked)))

    def _version(self, verbose):
        version, generation = self.settings.version, self.settings.generation
        out(f"rustc {version} (teenyc double, generation {generation})\n")
        if verbose:
            llvm = "23.0.0" if generation == "CB3" else "22.1.0"
            out(f"binary: rustc\ncommit-hash: unknown\ncommit-date: unknown\n"
                f"host: {os.uname().machine}-unknown-linux-gnu\nrelease: {version}\nLLVM version: {llvm}\n")  # fmt: skip

    def _print(self, triple):
        for request in self.matches.many("print"):
            if request not in arguments.PRINTS:
                known = ", ".join(f"`{name}`" for name in arguments.PRINTS)
                raise Fatal(f"unknown print request: `{request}`\n  |\n  = help: valid print requests are: {known}")
            if request == "target-list":
                out("".join(f"{name}\n" for name in TARGETS))
            elif request == "target-cpus":
                out(TARGET_CPUS)
            elif request == "sysroot":
                out(f"{self._sysroot()}\n")
            elif request == "target-libdir":
                out(f"{self._sysroot()}/lib/rustlib/{triple}/lib\n")
            elif request == "host-tuple":
                out(f"{os.uname().machine}-unknown-linux-gnu\n")
            else:
                out(f"{arguments.crate_name(self.matches, arguments.input_file(self.matches))[0]}\n")
        return 0

    def _backend(self, unstable, frontend, triple):
        """Refuses what would not reach the Triton pipeline."""
        backend, generation = unstable.get("codegen-backend"), self.settings.generation
        if backend is not None and "." in backend:
            raise Fatal(f"couldn't load codegen backend {backend}: cannot open shared object file")
        if backend not in (None, "mlir", "llvm", "dummy"):
            raise Fatal("failed to find a `codegen-backends` folder in the sysroot candidates:\n"
                        f"       * {self._sysroot()}")  # fmt: skip
        if backend in ("llvm", "dummy"):
            raise Fatal(f"not supported by the double: the `{backend}` codegen backend")
        if backend is None and (frontend is None or generation == "CB1"):
            raise Fatal("not supported by the double: neither --frontend=triton nor -Zcodegen-backend=mlir"
                        if frontend is None else "not supported by the double: CB1 without -Zcodegen-backend=mlir")  # fmt: skip
        if frontend is None and generation == "CB1":
            raise Fatal("not supported by the double: CB1 without --frontend=triton")
        if triple.startswith("riscv"):
            raise Fatal("not supported by the double: the RISC-V backend")
        if triple != CUDA_TARGET:
            architecture = triple.partition("-")[0]
            raise Fatal(f"the `mlir` codegen backend does not support target architecture `{architecture}`")

    # The compile ---------------------------------------------------------------------------------------------------

    def _compile(self, path, sm, codegen, unstable, emit):
        settings, matches, emitter = self.settings, self.matches, self.emitter
        settings.for_target_cpu(codegen.get("target-cpu"))
        crate, wrong_name = arguments.crate_name(matches, path)
        output = self._output_path(crate, emit)
        raw = failed = None
        try:
            with open(path, "rb") as file:
                raw = file.read()
                self.inode = os.fstat(file.fileno()).st_ino
        except OSError as error:
            failed = error
        self._start(source=path, source_sha256=None if raw is None else sha256(raw), output=output,
                    target_cpu=codegen.get("target-cpu"))  # fmt: skip
        if failed:
            raise Failure(f"couldn't read `{path}`: {failed.strerror} (os error {failed.errno})")
        shown = self._remap(path)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            emitter.source = Source(shown, raw.decode("utf-8", "replace"))
            at = len(raw[: error.start].decode("utf-8"))
            span = Span(at, at + 1, f"byte `{raw[error.start]}` is not valid utf-8")
            emitter.error(f"couldn't read `{shown}`: stream did not contain valid UTF-8", span)
            raise Rejected from None
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        emitter.source = source = Source(shown, text)
        if wrong_name:
            raise Failure(wrong_name)
        cfgs = {cfg.partition("=")[0].strip() for cfg in matches.many("cfg")}
        kernel = Kernel(source, emitter, cfgs)
        types = ",".join(matches.many("crate-type")) or "".join(re.findall(r"#!\s*\[\s*crate_type", kernel.code))
        if not types or "bin" in types.split(","):
            emitter.error(f"`main` function not found in crate `{crate}`", code="E0601",
                          notes=(f"note: consider adding a `main` function to `{shown}`",))  # fmt: skip
            raise Rejected
        kernel.check(self.nightly)
        try:
            entry = kernel.entry()
        except NoEntryPoint:
            entry = None
        self._early_fault(entry)

        # From here on it is the MLIR backend that speaks.
        version = target.parse_i32(os.environ.get("TEENYC_PTX_VERSION"))
        if version is None:
            version = settings.ptx_version or target.default_version(sm, settings.generation)
        out(f"CudaBackend: capability = {sm}\n" + 2 * f"CudaBackend: ptx_version = {version}\n")
        self._noise()
        if settings.mode == "scratch":
            self._fixed_name_file()
        else:
            time.sleep(settings.sleep)
        if entry is None:
            err("Could not find kernel name in PTX output\n")
            raise Panic('Triton passes failed: CodegenFailed { err: "Triton compilation failed" }')
        self._llvm(sm, version)
        libdevice = self._libdevice(kernel.code)
        image = self._image(entry, source, path, crate, sm, version, libdevice, codegen, unstable)
        if set(emit) & {"obj", "link"}:
            self._write(output, image)
        elif set(emit) - {"asm", "llvm-ir", "llvm-bc"}:
            raise Fatal(f"not supported by the double: --emit={','.join(emit)}")
        emitter.finish()
        self._leave_daemon()
        return 0

    def _output_path(self, crate, emit):
        given = self.matches.one("o") or emit.get("obj") or emit.get("link")
        name = f"{crate}.o" if "obj" in emit else f"lib{crate}.rlib"
        return given or os.path.join(self.matches.one("out-dir", ""), name)

    def _remap(self, path):
        for rule in reversed(self.matches.many("remap-path-prefix")):
            old, _, new = rule.rpartition("=")
            if path.startswith(old):
                return new + path[len(old) :]
        return path

    def _image(self, entry, source, path, crate, sm, version, libdevice, codegen, unstable):
        settings = self.settings
        # What can change the code: the text, and those options that may; never a path.
        kept = {key: value for key, value in codegen.items() if key not in ("incremental", "extra-filename", "metadata")}
        relevant = [sorted(self.matches.many("cfg")), sorted(kept.items()), sorted(unstable), self.matches.one("edition")]
        digest = sha256(f"{source.text}\0{relevant}\0{libdevice}".encode())
        if settings.mode == "wrong_target":
            sm = 75 if sm == 80 else 80
        image = Image(entry, source, sm, version, digest)
        absolute = os.path.abspath(path)
        image.path, image.directory = self._remap(absolute), self._remap(os.path.dirname(absolute))
        image.crate = crate
        image.producer = f"clang LLVM (rustc version {settings.version} (teenyc double))"
        image.missing_libdevice = libdevice == "missing"
        image.with_entry = settings.mode != "no_entry"
        image.pad = settings.bytes if settings.mode == "huge" else 0
        image.nonce = os.urandom(8).hex() if settings.nonce else None
        image.meta = {"name": entry.name, "num_warps": 4, "num_ctas": 1, "shared": 0, "tmem_size": 0,
                      "global_scratch_size": 0, "global_scratch_align": 1, "profile_scratch_size": 0,
                      "profile_scratch_align": 1, **self._binary_figures(), **settings.meta}  # fmt: skip
        return image

    def _llvm(self, sm, version):
        """What LLVM says of the processor and of the PTX version that it is given."""
        if self.settings.generation == "CB3" and sm == 107:
            known = True  # compiled as sm_100a, stamped sm_107a
        else:
            known = sm in target.KNOWN_TO_LLVM
        if not known:
            name = target.target_name(sm)
            err(f"'{name}' is not a recognized processor for this target (ignoring processor)\n")
        minimum = target.MINIMUM_VERSIONS.get(sm)
        if self.settings.generation == "CB3" and minimum and min(90, version) < minimum:
            err(f"LLVM ERROR: PTX version {target.version_text(version)} does not support target"
                f" '{target.target_name(sm)}'. Minimum required PTX version is {target.version_text(minimum)}.\n")  # fmt: skip
            self._die(signal.SIGABRT)

    def _libdevice(self, code):
        """Digest of the device library in use, \"missing\", or None when the kernel needs none."""
        wanted = self.settings.libdevice
        if wanted == "auto" and not re.search(r"\b__nv_\w+", code):
            return None
        for path in (os.environ.get("CUDA_LIBDEVICE_PATH"), LIBDEVICE) if wanted != "missing" else ():
            if path and os.path.exists(path):
                with open(path, "rb") as file:
                    bitcode = file.read()
                if bitcode[:4] not in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
                    err("Failed to translate MLIR module to LLVM IR\n")
                    raise Panic('Triton passes failed: CodegenFailed { err: "Triton compilation failed" }')
                return sha256(bitcode)
        err("Warning: module references __nv_* device functions but libdevice.10.bc was not found; PTX JIT will likely"
            " fail. Set CUDA_LIBDEVICE_PATH to override.\n")  # fmt: skip
        return "missing"

    def _binary_figures(self):
        """The trailer keys of TEENYC_GENERATE_BIN, which only CB1 knows. No assembler is run."""
        asked = self.settings.generate_bin
        from_environment = "TEENYC_GENERATE_BIN" in os.environ
        if self.settings.generation != "CB1" or not (asked or from_environment):
            return {}
        if asked == "no_ptxas" or (not asked and not find_ptxas()):
            err("CudaBackend: generate_bin was requested but `ptxas` could not be found. Set TEENYC_PTXAS_PATH,"
                " CUDA_HOME, or CUDA_PATH, or ensure `ptxas` is on PATH.\n")  # fmt: skip
            raise Panic('Triton passes failed: CodegenFailed { err: "Triton compilation failed" }')
        return {"num_regs": 14, "spill_stores": 0, "spill_loads": 0, "stack_frame": 0, "cmem": "0:408"}

    # Outputs -------------------------------------------------------------------------------------------------------

    def _write(self, output, image):
        mode = self.settings.mode
        ptx, mlir = image.ptx().encode(), image.mlir().encode()
        sidecar = with_extension(output, "mlir")
        if mode == "trunc":
            ptx = ptx[: len(ptx) // 2]
        elif mode == "empty":
            ptx = b""
        try:
            if mode != "missing":
                self._write_file(output, ptx, fail_half_way=mode == "partial_fail")
            if mode not in ("nosidecar", "missing"):
                self._write_file(sidecar, mlir)
        except OSError as error:
            for path in (output, sidecar):
                try:
                    os.unlink(path)
                except OSError:
                    pass
            part = f"{output.removesuffix('.o')}.{image.crate}.rcgu.o"
            raise Failure(f'could not copy "{part}" to "{output}": {error.strerror} (os error {error.errno})') from None
        self._relay_log(image, output, len(ptx), sidecar, len(mlir))

    def _write_file(self, path, data, fail_half_way=False):
        half = len(data) // 2
        with open(path, "wb", buffering=0) as file:
            write_all(file, data[:half])
            if fail_half_way:
                raise Failure("mode partial_fail of the double: stopped half-way through the output")
            if self.settings.sleep_mid:
                time.sleep(self.settings.sleep_mid)
            write_all(file, data[half:])

    def _relay_log(self, image, output, size, sidecar, sidecar_size):
        """The events of the target rustc_codegen_llvm::mlir that RUSTC_LOG asks for."""
        level = log_level(os.environ.get("RUSTC_LOG", ""))
        if self.settings.max_level_info:
            level = min(level, LEVELS.index("info"))
        if level >= LEVELS.index("trace"):
            for stage, pass_name in (("ttir", "Canonicalizer"), ("ttgir", "TritonGPUCoalesce"), ("llir", "SCFToControlFlow")):
                body = dict(image.stages("asm"))[stage]
                for when in ("Before", "After"):
                    err(f"// -----// IR Dump {when} {pass_name} //----- //\n{body}\n")
        if level >= LEVELS.index("info"):
            err(f" INFO {LOG_TARGET} === MLIR codegen_crate ===\n INFO {LOG_TARGET} --- Mono Items (2) ---\n")
        if level >= LEVELS.index("debug"):
            tag = self.settings.stage_tag or ("ptx" if self.settings.generation == "CB1" else "asm")
            for stage, text in image.stages(tag):
                err(f'DEBUG {LOG_TARGET} {text}, stage="{stage}"\n')
        if level >= LEVELS.index("info"):
            err(f" INFO {LOG_TARGET} PTX written to {output} ({size} bytes)\n")
            err(f" INFO {LOG_TARGET} MLIR written to {sidecar} ({sidecar_size} bytes)\n")

    # Faults --------------------------------------------------------------------------------------------------------

    def _early_fault(self, entry):
        mode = self.settings.mode
        if mode == "exit1":
            at = entry.start if entry else 0
            self.emitter.error("mode exit1 of the double", Span(at, at + 2))
            raise Rejected
        if mode == "rereadsrc":
            self._reread(self.matches.free[0])

    def _noise(self):
        mode = self.settings.mode
        if mode == "noisy":
            block = ("n" * 63 + "\n") * 1024  # 64 KiB
            for _ in range(16):
                out(block)
                err(block)
        elif mode == "panic101":
            raise Panic('Triton passes failed: CodegenFailed { err: "Triton compilation failed" }')
        elif mode == "abort":
            self._die(signal.SIGABRT)
        elif mode == "segv":
            self._die(signal.SIGSEGV)

    def _fixed_name_file(self):
        """Mode scratch: a file of a fixed name in the working and the temporary folder, as a careless tool has it."""
        made = []
        try:
            for folder in dict.fromkeys(map(os.path.realpath, (os.getcwd(), os.environ.get("TMPDIR") or "/tmp"))):
                name = os.path.join(folder, "teenyc-double.scratch")
                try:
                    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                except FileExistsError:
                    raise Failure(f"mode scratch of the double: `{name}` is in use by another run") from None
                made.append(name)
            time.sleep(self.settings.sleep or 0.05)
        finally:
            for name in made:
                os.unlink(name)

    def _reread(self, path):
        """Mode rereadsrc: the source must stay the same file for a while."""
        end = time.monotonic() + self.settings.reread_seconds
        while time.monotonic() < end:
            try:
                with open(path, "rb") as file:
                    inode = os.fstat(file.fileno()).st_ino
            except OSError as error:
                raise Failure(f"couldn't read `{path}`: {error.strerror} (os error {error.errno})") from None
            if inode != self.inode:
                raise Failure(f"mode rereadsrc of the double: `{path}` was replaced while it was compiled")
            time.sleep(0.01)

    def _leave_daemon(self):
        """Mode daemon: a grandchild that outlives us and holds every descriptor that we were given."""
        if self.settings.mode != "daemon":
            return
        child = os.fork()
        if child == 0:
            grandchild = os.fork()
            if grandchild == 0:
                time.sleep(self.settings.daemon_seconds)
            else:
                self.log.add("daemon", daemon=grandchild)
            os._exit(0)
        os.waitpid(child, 0)

    def _die(self, number):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.log.add("end", exit=-int(number))
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(60)

    def _panic(self, message):
        err(f"\nthread 'rustc' ({os.getpid()}) panicked at compiler/rustc_codegen_llvm/src/mlir/backend.rs:1:1:\n{message}\n"
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n"
            "error: the compiler unexpectedly panicked. this is a bug.\n\n")  # fmt: skip
        where = os.environ.get("RUSTC_ICE")
        if self.nightly and where != "0":
            name = time.strftime(f"rustc-ice-%Y-%m-%dT%H_%M_%S-{os.getpid()}.txt", time.gmtime())
            path = os.path.join(where or os.getcwd(), name)
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"{message}\n")
                err(f"note: please attach the file at `{path}` to your bug report\n\n")
            except OSError:
                pass
        err(f"note: rustc {self.settings.version} (teenyc double) running on {os.uname().machine}-unknown-linux-gnu\n\n"
            "query stack during panic:\nend of query stack\n")  # fmt: skip


def write_all(file, data):
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def with_extension(path, extension):
    """Rust's Path::with_extension: what follows the last dot of the file name is replaced."""
    folder, slash, name = path.rpartition("/")
    dot = name.rfind(".")
    return f"{folder}{slash}{name[:dot] if dot > 0 else name}.{extension}"


def log_level(directives):
    """The level that RUSTC_LOG gives to our target: the most specific directive wins, the default is error."""
    best, level = -1, LEVELS.index("error")
    for directive in filter(None, map(str.strip, directives.split(","))):
        name, equals, wanted = directive.partition("=")
        if not equals and name.lower() in LEVELS:
            name, wanted = "", name
        elif not equals:
            wanted = "trace"
        if LOG_TARGET.startswith(name) and wanted.lower() in LEVELS and len(name) >= best:
            best, level = len(name), LEVELS.index(wanted.lower())
    return level


def find_ptxas():
    environment = os.environ
    candidates = [environment.get("TEENYC_PTXAS_PATH")]
    candidates += [os.path.join(environment[name], "bin/ptxas") for name in ("CUDA_HOME", "CUDA_PATH") if name in environment]
    candidates.append("/usr/local/cuda/bin/ptxas")
    candidates += [os.path.join(folder, "ptxas") for folder in environment.get("PATH", "").split(":")]
    return next((path for path in candidates if path and os.path.exists(path)), None)
