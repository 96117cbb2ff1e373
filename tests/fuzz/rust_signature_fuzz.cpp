// Any bytes at all go through the lexer, the signature reader, the check of what a kernel may read
// and the instantiation: each of them answers or throws Error, and the answers keep their promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "error.h"
#include "kernel_source.h"
#include "rust_lexer.h"
#include "rust_signature.h"

namespace {

using namespace teeny::tool;

void require(bool promise) {
  if (!promise) std::abort();
}

void check_tokens(std::string_view text) {
  std::size_t behind = 0;
  std::size_t line = 1;
  for (const RustToken& token : tokenize_rust("f", text)) {
    require(token.offset >= behind && token.end_offset() <= text.size());
    require(token.line >= line && token.column >= 1);
    require(token.text.empty() == (token.kind == RustTokenKind::end));
    behind = token.end_offset();
    line = token.line;
  }
}

// Instantiates one function with values that fit, so that the text behind the choice is reached.
void instantiate(std::string_view text, const RustFunction& function, Frontend frontend) {
  KernelRequest request;
  request.frontend = frontend;
  request.sources = {{"f", std::string(text)}, {"g", "// no line end"}};
  request.function = function.name;
  for (const RustGeneric& each : function.generics) {
    if (each.kind == GenericKind::dtype) request.types.emplace_back("f32");
    if (each.kind != GenericKind::constant) continue;
    request.constants.push_back(each.name + (each.type == "bool" ? "=true" : "=1"));
  }
  const KernelSource source = make_kernel_source(request);
  require(source.parameters.size() <= text.size());
  std::size_t lines = 1;
  for (const char c : source.text()) lines += c == '\n' ? 1 : 0;
  const LineMap map(source, 2);
  for (std::size_t line = 0; line <= lines + 3; ++line) static_cast<void>(map.find(line));
  for (std::size_t i = 0; i + 1 < source.segments.size(); ++i) {
    require(source.segments[i].text.back() == '\n');
  }
}

template <typename Call>
void expect_answer_or_error(Call call) {
  try {
    call();
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kernel || error.kind() == ErrorKind::usage);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_answer_or_error([&] { check_tokens(text); });
  expect_answer_or_error([&] { check_self_contained("f", text); });
  expect_answer_or_error([&] {
    constexpr std::size_t k_most = 4;
    std::size_t count = 0;
    for (const RustFunction& function : parse_functions("f", text)) {
      require(function.range.begin < function.range.end && function.range.end <= text.size());
      if (++count > k_most) break;
      for (const Frontend frontend : {Frontend::triton, Frontend::rust}) {
        expect_answer_or_error([&] { instantiate(text, function, frontend); });
      }
    }
  });
  return 0;
}
