"""A private installation of the stand-in for teenyc: what a test configures, runs and asks about."""

import functools
import importlib.util
import json
import os
import py_compile
import sys
import tempfile
from pathlib import Path

DOUBLES = Path(__file__).resolve().parent.parent / "doubles"


class TeenycDouble:
    """`directory`/bin/teenyc, a copy of tests/doubles/teenyc with its own settings and log.

    The program is a real file, so that its content identifies it. Settings and log lie beside it and are no part of it.
    """

    def __init__(self, directory, **settings):
        self.directory = Path(directory)
        self.path = self.directory / "bin" / "teenyc"
        self.log = self.directory / "teenyc.log"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._settings = {}
        self._compile_modules()
        self.install()
        self.configure(**settings)

    def install(self, tag=""):
        """(Re)places the program; another `tag` makes it another compiler by content."""
        text = (DOUBLES / "teenyc").read_text(encoding="utf-8")
        for old, new in (
            ("#!/usr/bin/env python3\n", f"#!{os.path.realpath(sys.executable)} -IS\n"),
            ("os.path.dirname(os.path.realpath(__file__))", repr(str(DOUBLES))),
            ("PYCACHE = None", f"PYCACHE = {str(self._pycache)!r}"),
        ):
            assert old in text
            text = text.replace(old, new, 1)
        temporary = self.path.with_name("teenyc.new")
        temporary.write_text(text + (f"# {tag}\n" if tag else ""), encoding="utf-8")
        temporary.chmod(0o755)
        temporary.replace(self.path)

    def configure(self, **settings):
        """Adds to the settings (see the program's docstring); None takes one back to its default."""
        self._settings.update(settings)
        self._settings = {name: value for name, value in self._settings.items() if value is not None}
        temporary = self.path.with_name("teenyc.json.new")
        temporary.write_text(json.dumps({"log": str(self.log), **self._settings}), encoding="utf-8")
        temporary.replace(f"{self.path}.json")

    def events(self, kind=None):
        """Every line of the log, or those of one event: start, end, daemon."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text(encoding="ascii").splitlines()]
        return [line for line in lines if kind in (None, line["event"])]

    def calls(self):
        """The compiles that were started: pid, ppid, started, cwd, argv, env, source, source_sha256, output, target_cpu,
        mode, generation, stdin (null, pipe, …), descriptors (leaked ones above 2)."""
        return self.events("start")

    def clear_log(self):
        self.log.unlink(missing_ok=True)

    @property
    def _pycache(self):
        return self.directory / "pycache"

    def _compile_modules(self):
        """Start-up is most of a run: the modules are compiled once, outside the source tree."""
        folder = self._pycache / (DOUBLES / "teenyc_double").relative_to("/")
        folder.mkdir(parents=True, exist_ok=True)
        for name, code in compiled_modules().items():
            (folder / name).write_bytes(code)


@functools.cache
def compiled_modules():
    """{file name: content} of the double's compiled modules."""
    compiled = {}
    with tempfile.TemporaryDirectory() as folder:
        for module in (DOUBLES / "teenyc_double").glob("*.py"):
            target = Path(folder) / Path(importlib.util.cache_from_source(str(module))).name
            py_compile.compile(str(module), cfile=str(target), doraise=True)
            compiled[target.name] = target.read_bytes()
    return compiled
