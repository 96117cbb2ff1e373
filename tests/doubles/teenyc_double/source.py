"""Reads a kernel's text the way the double needs it: comments and strings aside, the entry point, the markers."""

import re

from .diagnostics import Span

TOKEN = re.compile(r"""//[^\n]*|/\*|\b(?:b|c)?r(#*)"|"|'|[(){}\[\]]""")
PAIRS = {")": "(", "]": "[", "}": "{"}
SCALARS = {
    "i8": "u8", "u8": "u8", "bool": "u8", "i16": "u16", "u16": "u16", "i32": "u32", "u32": "u32",
    "i64": "u64", "u64": "u64", "isize": "u64", "usize": "u64", "f32": "f32", "f64": "f64",
}  # fmt: skip
NO_MANGLE = re.compile(r"#\s*\[\s*(?:no_mangle|unsafe\s*\(\s*no_mangle\s*\))\s*\]")
EXTERN = re.compile(r"\bpub\s+(?:unsafe\s+)?extern\s*(\"[^\"]*\")\s*$")


class Rejected(Exception):
    """The source does not compile; the emitter has been told why."""


class NoEntryPoint(Exception):
    """Nothing to compile: the real compiler panics here."""


class Parameter:
    def __init__(self, name, pointee, scalar):
        self.name = name
        self.pointee = pointee  # element type of a pointer, None for a scalar
        self.scalar = scalar

    @property
    def type(self):
        return self.pointee or self.scalar


class Entry:
    def __init__(self, name, parameters, start, body, end):
        self.name, self.parameters = name, parameters
        self.start, self.body, self.end = start, body, end  # offsets: the `fn`, the first statement, the closing brace


class Kernel:
    """The source with its comments and string contents blanked (`code`), everything else at its place."""

    def __init__(self, source, emitter, cfgs=()):
        self.source, self.emitter, self.cfgs = source, emitter, cfgs
        self.text = source.text
        self.comments = []
        self.code = self._blank()

    def _fail(self, message, *spans, code=None, notes=()):
        self.emitter.error(message, *spans, code=code, notes=notes)
        raise Rejected

    def _blank(self):
        text, pieces, at, open_ = self.text, [], 0, []
        position = 0
        while match := TOKEN.search(text, position):
            token, start, position = match.group(), match.start(), match.end()
            if token.startswith("//"):
                self.comments.append((start, position))
                hidden = (start, position)
            elif token == "/*":
                position = self._block_comment(start)
                hidden = (start, position)
            elif token == "'":
                end = self._character(start)
                if end is None:
                    continue
                position, hidden = end + 1, (start + 1, end)
            elif token.endswith('"'):
                end = self._string(match)
                position, hidden = end[1], (match.end(), end[0])
            elif token in "([{":
                open_.append((token, start))
                continue
            else:
                self._close(token, start, open_)
                continue
            pieces += [text[at : hidden[0]], re.sub(r"[^\n]", " ", text[hidden[0] : hidden[1]])]
            at = hidden[1]
        if open_:
            last = len(text.rstrip("\n"))
            unclosed = [Span(start, start + 1, "unclosed delimiter") for _, start in open_[:4]]
            self._fail("this file contains an unclosed delimiter", Span(last, last), *unclosed)
        return "".join([*pieces, text[at:]])

    def _close(self, token, start, open_):
        if not open_:
            self._fail(f"unexpected closing delimiter: `{token}`", Span(start, start + 1, "unexpected closing delimiter"))
        if open_[-1][0] != PAIRS[token]:
            self._fail(
                f"mismatched closing delimiter: `{token}`",
                Span(start, start + 1, "mismatched closing delimiter"),
                Span(open_[-1][1], open_[-1][1] + 1, "unclosed delimiter"),
            )
        open_.pop()

    def _block_comment(self, start):
        depth = 0
        for match in re.compile(r"/\*|\*/").finditer(self.text, start):
            depth += 1 if match.group() == "/*" else -1
            if depth == 0:
                return match.end()
        return self._fail("unterminated block comment", Span(start, self._line_end(start)), code="E0758")

    def _string(self, match):
        """End of the contents and of the literal."""
        if match.group(1) is not None:
            closing = '"' + match.group(1)
            end = self.text.find(closing, match.end())
            if end < 0:
                self._fail("unterminated raw string", Span(match.start(), match.end()), code="E0748")
            return end, end + len(closing)
        closing = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL).match(self.text, match.end())
        if not closing:
            span = Span(match.start(), self._line_end(match.start()))
            self._fail("unterminated double quote string", span, code="E0765")
        return closing.end() - 1, closing.end()

    def _character(self, start):
        """Where the closing quote of a character literal is; None for a lifetime."""
        match = re.compile(r"'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'").match(self.text, start)
        return match.end() - 1 if match else None

    def _line_end(self, offset):
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    # What rustc would refuse -------------------------------------------------------------------------------------

    def check(self, nightly):
        """Diagnoses what the double knows to be wrong. Warnings come first, errors add up."""
        for start, end in self.comments:
            if marker := re.match(r"//\s*double:\s*warn\s+(.*)", self.text[start:end]):
                self.emitter.warn(marker.group(1).strip(), Span(start, end))
        head = re.match(r"(?:\s*#!\s*\[[^\]]*\])*", self.code).end()
        for match in re.compile(r"#!\s*\[[^\]]*\]").finditer(self.code):
            at = match.start()
            feature = re.match(r"#!\s*\[\s*feature\b", match.group())
            if at >= head and self.code.count("{", 0, at) == self.code.count("}", 0, at):
                self.emitter.error("an inner attribute is not permitted in this context", Span(at, match.end()))
            elif feature and not nightly:
                message = "`#![feature]` may not be used on the stable release channel"
                self.emitter.error(message, Span(at, match.end()), code="E0554")
        self._compile_errors()
        for match in re.compile(r"\buse\s+(?:crate\s*::\s*|::\s*)?(triton)\s*::").finditer(self.code):
            if not re.search(r"\bmod\s+triton\b", self.code):
                span = Span(match.start(1), match.end(1), "use of unresolved module or unlinked crate `triton`")
                self.emitter.error("unresolved import `triton`", span, code="E0432")
        if self.emitter.errors:
            raise Rejected

    def _compile_errors(self):
        for match in re.compile(r"\bcompile_error\s*!\s*[(\[{]").finditer(self.code):
            condition = re.search(r"#\s*\[\s*cfg\s*\(\s*(\w+)\s*\)\s*\]\s*$", self.code[: match.start()])
            if condition and condition.group(1) not in self.cfgs:
                continue
            end = self._matching(match.end() - 1)
            literal = re.match(r'\s*"((?:[^"\\]|\\.)*)"\s*,?\s*$', self.text[match.end() : end], re.DOTALL)
            span = Span(match.start(), end + 1)
            if literal:
                text = literal.group(1).replace(r"\"", '"').replace(r"\n", "\n").replace(r"\t", "\t")
                self.emitter.error(text.replace(r"\\", "\\"), span)
            else:
                self.emitter.error("compile_error! takes 1 argument", span)

    def _matching(self, opening):
        depth = 0
        for match in re.compile(r"[(\[{]|[)\]}]").finditer(self.code, opening):
            depth += 1 if match.group() in "([{" else -1
            if depth == 0:
                return match.start()
        raise AssertionError("delimiters were balanced")

    # The entry point ---------------------------------------------------------------------------------------------

    def entry(self):
        found = []
        for match in re.compile(r"\bfn\s+([A-Za-z_][A-Za-z0-9_]*_entry_point)\s*\(").finditer(self.code):
            before = max(self.code.rfind(mark, 0, match.start()) for mark in ";{}")
            head = self.code[before + 1 : match.start()]
            abi = EXTERN.search(head)
            if not abi or not NO_MANGLE.search(head):
                continue
            start, end = (before + 1 + offset for offset in abi.span(1))
            if self.text[start:end] == '"C"':
                found.append(match)
        if not found:
            raise NoEntryPoint
        if len(found) > 1:
            second = Span(found[1].start(1), found[1].end(1))
            self._fail("not supported by the double: more than one entry point", second)
        return self._entry_from(found[0])

    def _entry_from(self, match):
        close = self._matching(match.end() - 1)
        parameters = [self._parameter(*piece) for piece in self._split(match.end(), close)]
        rest = re.compile(r"\s*(->\s*[^{;]*)?([{;])").match(self.code, close + 1)
        if not rest or rest.group(2) == ";":
            self._fail("free function without a body", Span(match.start(), close + 1))
        if rest.group(1) and rest.group(1).replace(" ", "").strip() != "->()":
            self._fail("not supported by the double: a kernel that returns a value", Span(rest.start(1), rest.end(1)))
        if self.emitter.errors:
            raise Rejected
        end = self._matching(rest.end() - 1)
        first = re.compile(r"\s*").match(self.code, rest.end()).end()
        self._calls(rest.end(), end)
        return Entry(match.group(1), parameters, match.start(), min(first, end), end)

    def _split(self, start, end):
        """The pieces between top-level commas, as (start, end), blank ones left out."""
        pieces, depth, at = [], 0, start
        for match in re.compile(r"->|[(\[{<]|[)\]}>]|,").finditer(self.code, start, end):
            token = match.group()
            if token == "," and depth == 0:
                pieces.append((at, match.start()))
                at = match.end()
            elif token not in (",", "->"):
                depth += 1 if token in "([{<" else -1
        pieces.append((at, end))
        return [piece for piece in pieces if self.code[piece[0] : piece[1]].strip()]

    def _parameter(self, start, end):
        whole = re.compile(r"\s*(?:mut\s+)?([A-Za-z_]\w*)\s*:\s*(.*?)\s*$", re.DOTALL)
        match = whole.match(self.code[start:end])
        if not match:
            self._fail("expected one of `:`, `@`, or `|`", Span(start + 1, end))
        type_ = match.group(2)
        pointer = re.match(r"\*\s*(?:mut|const)\s+(.*)$", type_, re.DOTALL)
        base = pointer.group(1) if pointer else type_
        at = start + match.end(2) - len(base)
        span = Span(at, at + len(base))
        if base in ("f16", "f128"):
            note = "note: see issue #116909 <https://github.com/rust-lang/rust/issues/116909> for more information"
            self.emitter.error(f"the type `{base}` is unstable", span, code="E0658", notes=(note,))
        elif base not in SCALARS and re.fullmatch(r"\w+", base):
            span.label = "not found in this scope"
            self.emitter.error(f"cannot find type `{base}` in this scope", span, code="E0425")
        elif base not in SCALARS:
            self.emitter.error(f"not supported by the double: kernel parameter of type `{type_}`", span)
        return Parameter(match.group(1), base if pointer else None, None if pointer else base)

    def _calls(self, start, end):
        """`name::<…>(…)` must name a function of this file and match its generics and arguments in number."""
        for call in re.compile(r"(?<![\w:])([A-Za-z_]\w*)\s*::\s*<").finditer(self.code, start, end):
            name, span = call.group(1), Span(call.start(1), call.end(1))
            definition = re.search(rf"\bfn\s+{name}\b\s*(<)?", self.code)
            if not definition:
                span.label = "not found in this scope"
                self._fail(f"cannot find function `{name}` in this scope", span, code="E0425")
            close = self._angle(call.end() - 1)
            given = len(self._split(call.end(), close))
            wanted, after = 0, definition.end()
            if definition.group(1):
                after = self._angle(definition.end() - 1)
                wanted = len(self._split(definition.end(), after))
                after += 1
            if given != wanted:
                span.label = f"expected {wanted} generic arguments"
                self._fail(f"function takes {wanted} generic arguments but {given} generic arguments were supplied",
                           span, code="E0107")  # fmt: skip
            called = re.compile(r"\s*\(").match(self.code, close + 1)
            declared = re.compile(r"\s*\(").match(self.code, after)
            if called and declared:
                given = len(self._split(called.end(), self._matching(called.end() - 1)))
                wanted = len(self._split(declared.end(), self._matching(declared.end() - 1)))
                if given != wanted:
                    self._fail(f"this function takes {wanted} arguments but {given} arguments were supplied",
                               span, code="E0061")  # fmt: skip

    def _angle(self, opening):
        depth = 0
        for match in re.compile(r"->|[<>]").finditer(self.code, opening):
            if match.group() != "->":
                depth += 1 if match.group() == "<" else -1
            if depth == 0:
                return match.start()
        return self._fail("expected one of `,` or `>`", Span(opening, opening + 1))
