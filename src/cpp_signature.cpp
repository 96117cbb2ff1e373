#include "cpp_signature.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace teeny::tool {

namespace {

std::optional<std::string_view> cpp_name(std::string_view rust) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> k_names = {{
      {"bool", "bool"},
      {"i8", "std::int8_t"},
      {"i16", "std::int16_t"},
      {"i32", "std::int32_t"},
      {"i64", "std::int64_t"},
      {"isize", "std::int64_t"},
      {"u8", "std::uint8_t"},
      {"u16", "std::uint16_t"},
      {"u32", "std::uint32_t"},
      {"u64", "std::uint64_t"},
      {"usize", "std::uint64_t"},
      {"f16", "::teeny::f16"},
      {"bf16", "::teeny::bf16"},
      {"f32", "float"},
      {"f64", "double"},
  }};
  for (const auto& [name, cpp] : k_names) {
    if (name == rust) return cpp;
  }
  return std::nullopt;
}

bool is_constant(const KernelParameter& parameter) {
  return parameter.mutability == Mutability::constant;
}

}  // namespace

std::string cpp_type(const KernelParameter& parameter) {
  const std::string name(cpp_name(parameter.dtype).value_or("void"));
  if (parameter.kind == ParameterKind::primitive) return name;
  return "::teeny::DevicePointer<" + std::string(is_constant(parameter) ? "const " : "") + name +
         ">";
}

std::string rust_parameters(const std::vector<KernelParameter>& parameters) {
  std::string text;
  for (const KernelParameter& parameter : parameters) {
    if (!text.empty()) text += ", ";
    text += parameter.name + ": ";
    if (parameter.kind == ParameterKind::pointer) {
      text += is_constant(parameter) ? "*const " : "*mut ";
    }
    text += parameter.dtype;
  }
  return text;
}

}  // namespace teeny::tool
