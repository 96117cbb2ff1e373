"""rustc's diagnostics: human (with and without colour), short and JSON. Shapes observed with rustc 1.95."""

from .output import err

COLOURS = {"error": "\033[91m", "warning": "\033[33m", "note": "\033[92m", "help": "\033[96m"}
BOLD, BLUE, RESET = "\033[1m", "\033[1m\033[94m", "\033[0m"


class Span:
    """A piece of the source, by character offsets. The first span of a diagnostic is its primary one."""

    def __init__(self, start, end, label=None):
        self.start, self.end, self.label = start, max(end, start + 1), label


class Source:
    """The text of the one source file, and the name that messages give it."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.lines = text.split("\n")

    def position(self, offset):
        """1-based line and column (in characters) of an offset."""
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def byte(self, offset):
        return len(self.text[:offset].encode())


def columns(text):
    """Terminal columns: a tab is shown as four spaces, wide characters take two."""
    if text.isascii():
        return len(text) + 3 * text.count("\t")
    import unicodedata

    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide + 3 * text.count("\t")


def paint(on, code, text):
    return f"{code}{text}{RESET}" if on and text else text


class Emitter:
    def __init__(self, form="human", colour=False, json_ansi=False, lint="warn"):
        self.form, self.colour, self.json_ansi, self.lint = form, colour, json_ansi, lint
        self.errors = self.warnings = 0
        self.codes = set()
        self.source = None

    def error(self, message, *spans, code=None, notes=()):
        self.errors += 1
        if code:
            self.codes.add(code)
        self._emit("error", message, spans, code, notes)

    def warn(self, message, *spans):
        if self.lint == "allow":
            return
        if self.lint in ("deny", "forbid"):
            self.error(message, *spans, notes=("note: requested on the command line with `-D warnings`",))
            return
        self.warnings += 1
        self._emit("warning", message, spans, None, ())

    def finish(self):
        """The closing line, as rustc writes it. True when there was an error."""

        def count(number, noun):
            return f"{number} {noun}" + ("" if number == 1 else "s")

        emitted = f"{count(self.warnings, 'warning')} emitted"
        if not self.errors:
            if self.warnings:
                self._emit("warning", emitted, (), None, ())
            return False
        previous = count(self.errors, "previous error")
        self._emit("error", f"aborting due to {previous}" + (f"; {emitted}" if self.warnings else ""), (), None, ())
        if self.codes and self.form == "human":
            first = min(self.codes)
            if len(self.codes) == 1:
                err(f"For more information about this error, try `rustc --explain {first}`.\n")
            else:
                err(f"Some errors have detailed explanations: {', '.join(sorted(self.codes))}.\n")
                err(f"For more information about an error, try `rustc --explain {first}`.\n")
        return True

    def _emit(self, level, message, spans, code, notes):
        if self.form == "json":
            err(self._json(level, message, spans, code, notes))
        elif self.form == "short":
            where = ""
            if spans:
                line, column = self.source.position(spans[0].start)
                where = f"{self.source.name}:{line}:{column}: "
            err(f"{where}{level}{f'[{code}]' if code else ''}: {message}\n")
        else:
            err(self.render(level, message, spans, code, notes, self.colour))

    def render(self, level, message, spans, code, notes, colour):
        head = paint(colour, BOLD + COLOURS[level], level + (f"[{code}]" if code else ""))
        text = head + paint(colour, BOLD, f": {message}") + "\n"
        if not spans:
            for note in notes:
                text += f"  {paint(colour, BLUE, '=')} {note}\n"
            return text + "\n"
        by_line = {}
        for span in spans:
            by_line.setdefault(self.source.position(span.start)[0], []).append(span)
        gutter = len(str(max(by_line)))
        bar = f"{' ' * gutter} {paint(colour, BLUE, '|')}"
        line, column = self.source.position(spans[0].start)
        arrow = f"{' ' * gutter}{BLUE}--> {RESET}" if colour else f"{' ' * gutter}--> "
        text += f"{arrow}{self.source.name}:{line}:{column}\n{bar}\n"
        previous = None
        for number in sorted(by_line):
            if previous is not None and number > previous + 2:
                text += paint(colour, BLUE, "...") + "\n"
            elif previous is not None and number == previous + 2:
                text += self._source_line(number - 1, gutter, colour)
            text += self._source_line(number, gutter, colour)
            for row in self._marks(number, by_line[number], spans[0], level, colour):
                text += f"{bar} {row}\n"
            previous = number
        if notes:
            text += bar + "\n"
            for note in notes:
                text += f"{' ' * gutter} {paint(colour, BLUE, '=')} {note}\n"
        return text + "\n"

    def _source_line(self, number, gutter, colour):
        shown = self.source.lines[number - 1].rstrip("\r").replace("\t", "    ")
        label = paint(colour, BLUE, f"{number:>{gutter}}")
        bar = paint(colour, BLUE, "|")
        return f"{label} {bar} {shown}".rstrip(" ") + "\n"

    def _marks(self, number, spans, primary, level, colour):
        """The rows of ^^^ and --- under a line: the rightmost label beside them, the others hung below."""
        line = self.source.lines[number - 1]
        spans = sorted(spans, key=lambda span: span.start)
        row, at, hung = "", 0, []
        for span in spans:
            column = self.source.position(span.start)[1] - 1
            before = columns(line[:column])
            width = max(1, columns(line[column : column + span.end - span.start]))
            code = BOLD + COLOURS[level] if span is primary else BLUE
            row += " " * (before - at) + paint(colour, code, ("^" if span is primary else "-") * width)
            at = before + width
            if span is spans[-1]:
                row += paint(colour, code, f" {span.label}") if span.label else ""
            elif span.label:
                hung.append((before, code, span.label))
        rows = [row]
        for before, code, label in reversed(hung):
            rows += [" " * before + paint(colour, code, "|"), " " * before + paint(colour, code, label)]
        return rows

    def _json(self, level, message, spans, code, notes):
        import json

        described = []
        for span in spans:
            line, column = self.source.position(span.start)
            last, end = self.source.position(span.end)
            described.append({
                "file_name": self.source.name,
                "byte_start": self.source.byte(span.start), "byte_end": self.source.byte(span.end),
                "line_start": line, "line_end": last, "column_start": column, "column_end": end,
                "is_primary": span is spans[0],
                "text": [{"text": self.source.lines[line - 1], "highlight_start": column, "highlight_end": end}],
                "label": span.label, "suggested_replacement": None, "suggestion_applicability": None, "expansion": None,
            })  # fmt: skip
        children = [
            {"message": note.split(": ", 1)[-1], "code": None, "level": note.split(": ", 1)[0], "spans": [],
             "children": [], "rendered": None}
            for note in notes
        ]  # fmt: skip
        return json.dumps({
            "$message_type": "diagnostic", "message": message,
            "code": {"code": code, "explanation": None} if code else None, "level": level, "spans": described,
            "children": children, "rendered": self.render(level, message, spans, code, notes, self.json_ansi),
        }, ensure_ascii=False, separators=(",", ":")) + "\n"  # fmt: skip
