#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

#include "error.h"
#include "kernel_source_parts.h"

namespace teeny::tool {
namespace {

using Words = std::vector<std::string>;

const Words k_floats = {"f32", "f64"};
const Words k_integers = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};

Words joined(const Words& a, const Words& b) {
  Words both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// The types that the traits of the tile language are implemented for and that teenyc can
// instantiate; f16 and bf16 are not among them.
std::optional<Words> types_of_bound(std::string_view bound) {
  if (bound == "Float") return k_floats;
  if (bound == "Int") return k_integers;
  if (bound == "Num") return joined(k_integers, k_floats);
  if (bound == "Bool") return Words{"bool"};
  if (bound == "Dtype") return joined({"bool"}, joined(k_integers, k_floats));
  return std::nullopt;
}

Words allowed_types(const RustGeneric& generic) {
  Words allowed = *types_of_bound("Dtype");
  for (const std::string& bound : generic.bounds) {
    const std::optional<Words> these = types_of_bound(bound);
    if (!these) continue;
    std::erase_if(allowed, [&](const std::string& type) {
      return std::find(these->begin(), these->end(), type) == these->end();
    });
  }
  return allowed;
}

std::vector<const RustGeneric*> generics_of(const Candidate& candidate, GenericKind kind) {
  std::vector<const RustGeneric*> found;
  for (const RustGeneric& each : candidate.signature.generics) {
    if (each.kind == kind) found.push_back(&each);
  }
  return found;
}

std::string list_of(const std::vector<const RustGeneric*>& generics) {
  std::string list;
  for (const RustGeneric* each : generics) {
    list += (list.empty() ? "`" : ", `") + each->name;
    list += each->type.empty() ? "` (" + alternatives(allowed_types(*each)) + ")"
                               : ": " + each->type + "`";
  }
  return list;
}

struct IntegerType {
  int bits;
  bool is_signed;
};

std::optional<IntegerType> integer_type(std::string_view type) {
  static const std::map<std::string_view, int> k_bits = {
      {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"size", 64}};
  if (type.empty() || (type.front() != 'i' && type.front() != 'u')) return std::nullopt;
  const auto found = k_bits.find(type.substr(1));
  if (found == k_bits.end()) return std::nullopt;
  return IntegerType{found->second, type.front() == 'i'};
}

// The largest absolute value of either sign.
std::uint64_t largest(IntegerType type, bool negative) {
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max() >> (64 - type.bits);
  if (!type.is_signed) return negative ? 0 : all;
  return negative ? all / 2 + 1 : all / 2;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::numeric_limits<int>::max();
}

// A Rust integer literal without suffix, as a decimal number.
std::optional<std::string> normal_integer(std::string_view text, IntegerType type) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) base = 16;
  if (text.starts_with("0o")) base = 8;
  if (text.starts_with("0b")) base = 2;
  if (base != 10) text.remove_prefix(2);
  if (base == 10 && text.starts_with('_')) return std::nullopt;
  const std::uint64_t limit = largest(type, negative);
  std::uint64_t value = 0;
  bool any_digit = false;
  for (const char c : text) {
    if (c == '_') continue;
    const int digit = digit_value(c);
    if (digit >= base) return std::nullopt;
    const auto added = static_cast<std::uint64_t>(digit);
    const auto factor = static_cast<std::uint64_t>(base);
    if (added > limit || value > (limit - added) / factor) return std::nullopt;
    value = value * factor + added;
    any_digit = true;
  }
  if (!any_digit) return std::nullopt;
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

// One character, with quotes around it or not; those that need an escape are not taken.
std::optional<std::string> normal_character(std::string_view text) {
  if (text.size() > 2 && text.front() == '\'' && text.back() == '\'') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.empty() || text == "'" || text == "\\") return std::nullopt;
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7F) return std::nullopt;
  std::size_t size = 1;
  if (first >= 0xC0) size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  return text.size() == size ? std::optional(std::string(text)) : std::nullopt;
}

std::string accepted_values(std::string_view type) {
  if (type == "bool") return "true or false";
  if (type == "char") return "one character";
  const IntegerType integer = *integer_type(type);
  const std::string lowest = integer.is_signed ? "-" + std::to_string(largest(integer, true)) : "0";
  return "an integer from " + lowest + " to " + std::to_string(largest(integer, false));
}

std::optional<std::string> normal_value(std::string_view value, std::string_view type) {
  if (type == "bool") {
    const bool known = value == "true" || value == "false";
    return known ? std::optional(std::string(value)) : std::nullopt;
  }
  if (type == "char") return normal_character(value);
  return normal_integer(value, *integer_type(type));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse_constants(const std::string& message) {
  throw Error(ErrorKind::usage, "CONSTANTS: " + message);
}

using Values = std::map<std::string, std::string, std::less<>>;

Values read_pairs(const Words& pairs) {
  Values values;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || trimmed(pair.substr(0, equals)).empty()) {
      refuse_constants("expected NAME=value, found `" + pair + "`");
    }
    const std::string name(trimmed(std::string_view(pair).substr(0, equals)));
    const std::string value(trimmed(std::string_view(pair).substr(equals + 1)));
    if (!values.emplace(name, value).second) refuse_constants("`" + name + "` is given twice");
  }
  return values;
}

}  // namespace

std::vector<std::string> bind_types(const KernelRequest& request, const Candidate& candidate) {
  const auto generics = generics_of(candidate, GenericKind::dtype);
  const Words& types = request.types;
  const std::string of_function = "`" + candidate.function + "`";
  if (types.size() != generics.size()) {
    throw Error(ErrorKind::usage,
                "TYPES: " + of_function + " takes " +
                    (generics.empty() ? "no types" : "a type for each of " + list_of(generics)) +
                    ", but " + std::to_string(types.size()) + " are given");
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Words allowed = allowed_types(*generics[i]);
    if (std::find(allowed.begin(), allowed.end(), types[i]) != allowed.end()) continue;
    const bool half = types[i] == "f16" || types[i] == "bf16";
    throw Error(ErrorKind::usage, "TYPES: the type parameter `" + generics[i]->name + "` of " +
                                      of_function + " may be " + alternatives(allowed) + ", not `" +
                                      types[i] + "`" +
                                      (half ? ", which teenyc can't instantiate yet" : ""));
  }
  return types;
}

std::vector<std::string> bind_constants(const KernelRequest& request, const Candidate& candidate) {
  const auto generics = generics_of(candidate, GenericKind::constant);
  const Values values = read_pairs(request.constants);
  const std::string has =
      "`" + candidate.function + "` has " + (generics.empty() ? "no constants" : list_of(generics));
  for (const Values::value_type& given : values) {
    const std::string& name = given.first;
    const bool known = std::any_of(generics.begin(), generics.end(),
                                   [&](const RustGeneric* each) { return each->name == name; });
    if (!known) refuse_constants("there is no constant `" + name + "`; " + has);
  }
  Words bound;
  for (const RustGeneric* each : generics) {
    if (each->type != "bool" && each->type != "char" && !integer_type(each->type)) {
      fail_at(request, candidate, each->location,
              "expected bool, char or an integer of at most 64 bits as the type of the constant `" +
                  each->name + "`, found `" + each->type + "`");
    }
    const std::string declared = "`" + each->name + ": " + each->type + "`";
    const auto found = values.find(each->name);
    if (found == values.end()) {
      refuse_constants(declared + " has no value, it may be " + accepted_values(each->type) + "; " +
                       has);
    }
    std::optional<std::string> value = normal_value(found->second, each->type);
    if (!value) {
      refuse_constants(declared + " of `" + candidate.function + "` may be " +
                       accepted_values(each->type) + ", not `" + found->second + "`");
    }
    bound.push_back(*std::move(value));
  }
  return bound;
}

}  // namespace teeny::tool
