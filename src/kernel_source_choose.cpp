#include <algorithm>
#include <set>
#include <utility>

#include "error.h"
#include "kernel_source_parts.h"
#include "rust_lexer.h"

namespace teeny::tool {
namespace {

constexpr std::string_view k_entry_suffix = "_entry_point";

std::optional<std::string> symbol_of(const RustFunction& function) {
  if (const RustAttribute* exported = function.attribute("export_name")) return exported->value;
  if (function.attribute("no_mangle") != nullptr) return function.name;
  return std::nullopt;
}

std::optional<CandidateKind> kind_of(const RustFunction& function, Frontend frontend) {
  const bool has_symbol = function.has_body && symbol_of(function).has_value();
  if (has_symbol && function.abi == "ptx-kernel") return CandidateKind::ready_made;
  if (frontend == Frontend::rust) return std::nullopt;
  if (has_symbol && function.abi == "C") return CandidateKind::ready_made;
  if (function.attribute("kernel") != nullptr || function.attribute("tiled_kernel") != nullptr) {
    return CandidateKind::marked;
  }
  const bool generic =
      std::any_of(function.generics.begin(), function.generics.end(),
                  [](const RustGeneric& each) { return each.kind == GenericKind::hardware; });
  if (generic) return CandidateKind::generic;
  return std::nullopt;
}

// Generic helpers of a kernel are bound by `Triton` as well, but take or return tensors.
bool has_kernel_form(const Candidate& candidate) {
  const RustFunction& function = candidate.signature;
  return function.return_type.empty() &&
         std::none_of(function.arguments.begin(), function.arguments.end(),
                      [](const RustArgument& each) { return each.kind == ArgumentKind::other; });
}

struct Functions {
  std::vector<Candidate> candidates;
  std::vector<Candidate> others;  // functions that can't be kernels
};

Functions collect(const KernelRequest& request) {
  Functions functions;
  for (std::size_t file = 0; file < request.sources.size(); ++file) {
    const SourceFile& source = request.sources[file];
    for (RustFunction& function : parse_functions(source.name, source.text)) {
      Candidate candidate;
      candidate.file = file;
      candidate.function = function.name;
      const std::optional<CandidateKind> kind = kind_of(function, request.frontend);
      if (kind == CandidateKind::ready_made) {
        candidate.symbol = *symbol_of(function);
        const bool suffixed =
            function.name.ends_with(k_entry_suffix) && function.name.size() > k_entry_suffix.size();
        if (suffixed) {
          candidate.function.resize(candidate.function.size() - k_entry_suffix.size());
        }
      }
      candidate.kind = kind.value_or(CandidateKind::generic);
      candidate.signature = std::move(function);
      (kind ? functions.candidates : functions.others).push_back(std::move(candidate));
    }
  }
  return functions;
}

std::string place(const KernelRequest& request, const Candidate& candidate) {
  return request.sources[candidate.file].name + ':' +
         std::to_string(candidate.signature.location.line);
}

// How well a candidate answers to a name: 0 is best, nothing is not at all. A ready-made entry
// point goes before the generic function that it was made from.
std::optional<int> rank(const Candidate& candidate, std::string_view name) {
  const bool exact = candidate.signature.name == name;
  if (candidate.kind != CandidateKind::ready_made) {
    return exact ? std::optional(2) : std::nullopt;
  }
  if (exact || candidate.symbol == name) return 0;
  return candidate.function == name ? std::optional(1) : std::nullopt;
}

const Candidate* find_named(const KernelRequest& request, const std::vector<Candidate>& candidates,
                            std::string_view name) {
  constexpr int k_worst = 3;
  int best = k_worst;
  std::vector<const Candidate*> found;
  for (const Candidate& each : candidates) {
    const int its_rank = rank(each, name).value_or(k_worst);
    if (its_rank < best) found.clear();
    if (its_rank <= best && its_rank != k_worst) {
      best = its_rank;
      found.push_back(&each);
    }
  }
  if (found.empty()) return nullptr;
  if (found.size() == 1) return found.front();
  std::string places;
  for (const Candidate* each : found) {
    places += (places.empty() ? "" : ", ") + place(request, *each);
  }
  throw Error(ErrorKind::usage, "FUNCTION: there are several functions `" + std::string(name) +
                                    "` (" + places + "); a kernel needs a name of its own");
}

// Levenshtein's distance; long names count as different.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t k_longest = 64;
  if (a.size() > k_longest || b.size() > k_longest) return k_longest;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string suggestion(const std::set<std::string>& names, std::string_view wanted) {
  constexpr std::size_t k_near = 2;
  for (const std::string& name : names) {
    if (edit_distance(name, wanted) <= k_near && wanted.size() > k_near) {
      return "; did you mean `" + name + "`?";
    }
  }
  return {};
}

std::string wanted_form(Frontend frontend) {
  if (frontend == Frontend::rust) return "`#[no_mangle] extern \"ptx-kernel\" fn`";
  return "`#[kernel]`, a type parameter bound by `Triton`, or `#[no_mangle] extern \"C\"`";
}

// Says why a function that is there is no kernel.
[[noreturn]] void refuse(const KernelRequest& request, const Candidate& candidate) {
  const RustFunction& function = candidate.signature;
  const std::string name = "`" + function.name + "`";
  if (function.abi == "ptx-kernel" && function.has_body) {
    fail_at(
        request, candidate, function.location,
        "expected `#[no_mangle]` on " + name + ": without it the kernel's symbol is not its name");
  }
  if (request.frontend == Frontend::rust && function.abi == "C") {
    fail_at(request, candidate, function.location,
            "expected `extern \"ptx-kernel\"` on " + name +
                ": an `extern \"C\"` function is only a device function for rustc, no kernel");
  }
  fail_at(request, candidate, function.location,
          "expected a kernel function, which has " + wanted_form(request.frontend) + ", but " +
              name + " has not");
}

[[noreturn]] void refuse_name(const KernelRequest& request, const Functions& functions) {
  const std::string& wanted = *request.function;
  for (const Candidate& each : functions.others) {
    if (each.signature.name == wanted) refuse(request, each);
  }
  std::set<std::string> names;
  for (const Candidate& each : functions.candidates) names.insert(each.function);
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "`" : ", `") + name + "`";
  throw Error(ErrorKind::usage,
              "FUNCTION: there is no function `" + wanted + "`; " +
                  (known.empty() ? "the SOURCE has no kernel function" : "it may be " + known) +
                  suggestion(names, wanted));
}

[[noreturn]] void refuse_source(const KernelRequest& request, const Functions& functions) {
  for (const Candidate& each : functions.others) {
    const std::optional<std::string>& abi = each.signature.abi;
    const bool nearly = abi == "ptx-kernel" || (abi == "C" && symbol_of(each.signature));
    if (nearly) refuse(request, each);
  }
  if (request.sources.empty()) throw Error(ErrorKind::usage, "SOURCE: expected at least one file");
  throw Error(ErrorKind::kernel, message_at(request.sources.front().name, 1, 1,
                                            "expected a kernel function in the SOURCE, which has " +
                                                wanted_form(request.frontend)));
}

const Candidate& only_one(const KernelRequest& request, const Functions& functions) {
  const auto names_of = [&](auto accept) {
    std::set<std::string> names;
    for (const Candidate& each : functions.candidates) {
      if (accept(each)) names.insert(each.function);
    }
    return names;
  };
  // Where some functions are said to be kernels, the other generic ones are their helpers.
  std::set<std::string> names =
      names_of([](const Candidate& each) { return each.kind != CandidateKind::generic; });
  if (names.empty()) names = names_of(has_kernel_form);
  if (names.empty()) names = names_of([](const Candidate&) { return true; });
  if (names.empty()) refuse_source(request, functions);
  if (names.size() == 1) {
    return *find_named(request, functions.candidates, *names.begin());
  }
  std::string list;
  for (const std::string& name : names) {
    const Candidate* each = find_named(request, functions.candidates, name);
    list += (list.empty() ? "`" : ", `") + name + "` (" + place(request, *each) + ")";
  }
  throw Error(ErrorKind::usage,
              "FUNCTION: the SOURCE has several kernel functions, so say which "
              "one is meant: " +
                  list);
}

}  // namespace

Candidate choose_function(const KernelRequest& request) {
  const Functions functions = collect(request);
  if (request.function) {
    const Candidate* found = find_named(request, functions.candidates, *request.function);
    if (found == nullptr) refuse_name(request, functions);
    return *found;
  }
  if (request.name) {
    const Candidate* found = find_named(request, functions.candidates, *request.name);
    if (found != nullptr) return *found;
  }
  return only_one(request, functions);
}

}  // namespace teeny::tool
