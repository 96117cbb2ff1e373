#include "kernel_source.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "kernel_source_parts.h"
#include "rust_lexer.h"

namespace teeny::tool {
namespace {

std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Replaces a range by spaces, so that everything else keeps its line and column.
void blank(std::string& text, SourceRange range) {
  std::string spaces;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const char c = text[i];
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (continues_character) continue;
    spaces += c == '\n' || c == '\r' ? c : ' ';
  }
  text.replace(range.begin, range.end - range.begin, spaces);
}

// The device's side of a direction marker is nothing at all.
void blank_markers(std::string& text, const RustFunction& function) {
  // From the end to the begin: blanking a wide character makes the text shorter.
  for (auto each = function.arguments.rbegin(); each != function.arguments.rend(); ++each) {
    blank(text, each->marker_close);
    blank(text, each->marker_open);
  }
}

SourceSegment whole_file(const KernelRequest& request, const Candidate& candidate,
                         std::size_t file) {
  std::string text = request.sources[file].text;
  const bool generated = candidate.kind == CandidateKind::generic;
  if (generated && file == candidate.file) blank_markers(text, candidate.signature);
  const std::size_t mark = byte_order_mark_size(text);
  // A `#!` line is only allowed at the start, and this file may not be the first one.
  blank(text, {mark, rust_preamble_size(text)});
  text.erase(0, mark);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return {file, 1, std::move(text)};
}

// The function without attributes and direction markers, at the columns where it stands.
SourceSegment function_alone(const KernelRequest& request, const Candidate& candidate) {
  const RustFunction& function = candidate.signature;
  std::string text = request.sources[candidate.file].text.substr(0, function.range.end);
  blank_markers(text, function);
  text.erase(0, function.range.begin);
  text.insert(0, std::string(function.begin.column - 1, ' '));
  text += '\n';
  return {candidate.file, function.begin.line, std::move(text)};
}

void add_sources(const KernelRequest& request, const Candidate& candidate, KernelSource& source) {
  for (std::size_t file = 0; file < request.sources.size(); ++file) {
    const SourceFile& each = request.sources[file];
    if (file == candidate.file && candidate.kind == CandidateKind::marked) {
      check_self_contained(each.name, each.text, candidate.signature.range);
      source.segments.push_back(function_alone(request, candidate));
    } else {
      check_self_contained(each.name, each.text);
      source.segments.push_back(whole_file(request, candidate, file));
    }
    if (source.segments.back().text.empty()) source.segments.pop_back();
  }
}

void refuse_arguments(const KernelRequest& request, const Candidate& candidate) {
  const std::string why = " `" + candidate.signature.name +
                          "` is an entry point already and has no generic parameters, so there is "
                          "nothing to give";
  if (!request.types.empty()) throw Error(ErrorKind::usage, "TYPES:" + why);
  if (!request.constants.empty()) throw Error(ErrorKind::usage, "CONSTANTS:" + why);
}

}  // namespace

std::string KernelSource::text() const {
  std::string all;
  for (const SourceSegment& segment : segments) all += segment.text;
  return all;
}

KernelSource make_kernel_source(const KernelRequest& request) {
  const Candidate candidate = choose_function(request);
  KernelSource source;
  source.function = candidate.function;
  if (candidate.kind == CandidateKind::ready_made) {
    refuse_arguments(request, candidate);
    source.entry_point = candidate.symbol;
    source.parameters = declared_parameters(request, candidate);
    source.id_auto = candidate.function;
    add_sources(request, candidate, source);
    return source;
  }
  Instantiation instantiation = instantiate(request, candidate);
  source.entry_point = candidate.function + "_entry_point";
  source.parameters = std::move(instantiation.parameters);
  source.id_auto = std::move(instantiation.id);
  add_sources(request, candidate, source);
  // The line end of the segment before is the first half of the `\n\n` that the macro puts there.
  source.segments.push_back({std::nullopt, 1, "\n" + instantiation.entry_point_text});
  return source;
}

LineMap::LineMap(const KernelSource& source, std::size_t prelude_lines) {
  std::size_t line = 1;
  if (prelude_lines > 0) runs_.push_back({line, {LineOwner::prelude, 0, 1}});
  line += prelude_lines;
  for (const SourceSegment& segment : source.segments) {
    const LineOwner owner = segment.file ? LineOwner::source : LineOwner::generated;
    runs_.push_back({line, {owner, segment.file.value_or(0), segment.first_line}});
    const bool open_end = !segment.text.empty() && segment.text.back() != '\n';
    line += line_count(segment.text) + (open_end ? 1 : 0);
  }
  runs_.push_back({line, {LineOwner::outside, 0, 0}});
}

LineOrigin LineMap::find(std::size_t compiled_line) const {
  const auto behind =
      std::upper_bound(runs_.begin(), runs_.end(), compiled_line,
                       [](std::size_t line, const Run& run) { return line < run.begin; });
  if (behind == runs_.begin()) return {};
  const Run& run = *std::prev(behind);
  if (run.origin.owner == LineOwner::outside) return {};
  LineOrigin origin = run.origin;
  origin.line += compiled_line - run.begin;
  return origin;
}

void fail_at(const KernelRequest& request, const Candidate& candidate, SourceLocation location,
             std::string_view message) {
  throw Error(ErrorKind::kernel, message_at(request.sources[candidate.file].name, location.line,
                                            location.column, message));
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace teeny::tool
