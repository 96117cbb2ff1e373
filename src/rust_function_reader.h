// Reads one `fn` item. Private to rust_signature.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "rust_signature.h"
#include "rust_tokens.h"

namespace teeny::tool {

// Reads the function whose `fn` keyword stands at `index`, inside of a scope that ends at
// `scope_end`, into name, generics, arguments, return type, where clause, body and the end of its
// range. The rest of `function` is the caller's. The result is the index behind the function.
// Throws Error(kernel) at the first token that does not fit.
std::size_t read_function(const RustTokens& tokens, std::size_t index, std::size_t scope_end,
                          RustFunction& function);

using GenericKinds = std::unordered_map<std::string_view, GenericKind>;  // by name

// Sets kind, value type, mutability, direction and markers from the type in the range.
void classify_argument(const RustTokens& tokens, TokenRange type, const GenericKinds& generics,
                       RustArgument& argument);

[[nodiscard]] SourceLocation location_of(const RustToken& token);

}  // namespace teeny::tool
