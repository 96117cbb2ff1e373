#include <unordered_map>
#include <utility>

#include "kernel_source_parts.h"

namespace teeny::tool {
namespace {

using TypeValues = std::unordered_map<std::string, std::string>;  // by dtype parameter

const std::string& substituted(const TypeValues& types, const std::string& type) {
  const auto found = types.find(type);
  return found == types.end() ? type : found->second;
}

// A name that the entry point can pass on, which `_` is not.
std::string name_of(const RustArgument& argument, std::size_t index, const std::string& name) {
  return argument.name == "_" ? "arg" + std::to_string(index) : name;
}

KernelParameter parameter_of(const KernelRequest& request, const Candidate& candidate,
                             std::size_t index, const TypeValues& types) {
  const RustArgument& argument = candidate.signature.arguments[index];
  if (argument.name.empty()) {
    fail_at(request, candidate, argument.location, "expected a name for this argument of a kernel");
  }
  if (argument.kind == ArgumentKind::other) {
    const bool ready_made = candidate.kind == CandidateKind::ready_made;
    fail_at(request, candidate, argument.location,
            "expected a primitive type or a pointer (" +
                std::string(ready_made ? "`*mut f32`" : "`T::Pointer<D>`") +
                ") as the type of the kernel argument `" + argument.name + "`, found `" +
                argument.type + "`");
  }
  KernelParameter parameter;
  parameter.name = name_of(argument, index, argument.name);
  parameter.kind =
      argument.kind == ArgumentKind::pointer ? ParameterKind::pointer : ParameterKind::primitive;
  parameter.dtype = substituted(types, argument.value_type);
  parameter.mutability = argument.mutability;
  parameter.direction = argument.direction;
  if (candidate.kind != CandidateKind::ready_made && !is_primitive_type(parameter.dtype)) {
    fail_at(request, candidate, argument.location,
            "expected a primitive type or a type parameter behind the pointer `" + argument.name +
                "`, found `" + argument.value_type + "`");
  }
  return parameter;
}

struct Entry {
  std::string parameters;
  std::string wraps;
  std::string call_arguments;
};

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

void add_argument(Entry& entry, const RustArgument& argument, std::size_t index,
                  const KernelParameter& parameter) {
  const std::string name = name_of(argument, index, argument.spelling);
  std::string type = parameter.dtype;
  if (argument.is_hardware_pointer) {
    type.insert(0, "*mut ");
    entry.wraps += "    let " + name + " = LlvmPointer(" + name + " as *mut _);\n";
  } else if (argument.kind == ArgumentKind::pointer) {
    const bool constant = argument.type.find("*const ") != std::string::npos;
    type.insert(0, constant ? "*const " : "*mut ");
  }
  append(entry.parameters, name + ": " + type);
  append(entry.call_arguments, name);
}

// The form that the Rust macro gives it.
std::string entry_point_text(const Candidate& candidate, const std::string& generics,
                             const Entry& entry) {
  const RustFunction& function = candidate.signature;
  // A marked function is compiled alone, at top level.
  const bool alone = candidate.kind == CandidateKind::marked;
  const std::string path = (alone ? "" : function.module_path) + function.spelling;
  std::string call = path + "::<" + generics + ">(" + entry.call_arguments + ")";
  for (const std::string& qualifier : function.qualifiers) {
    if (qualifier == "unsafe") call = "unsafe { " + call + " }";
  }
  return "use triton::llvm::triton::num::*;\n"
         "use triton::llvm::triton::pointer::LlvmPointer;\n"
         "type LlvmTriton = triton::llvm::triton::LlvmTriton;\n"
         "\n"
         "#[no_mangle]\n"
         "pub extern \"C\" fn " +
         candidate.function + "_entry_point(" + entry.parameters + ") {\n" + entry.wraps + "    " +
         call + ";\n}";
}

}  // namespace

std::vector<KernelParameter> declared_parameters(const KernelRequest& request,
                                                 const Candidate& candidate) {
  std::vector<KernelParameter> parameters;
  for (std::size_t i = 0; i < candidate.signature.arguments.size(); ++i) {
    parameters.push_back(parameter_of(request, candidate, i, {}));
  }
  return parameters;
}

Instantiation instantiate(const KernelRequest& request, const Candidate& candidate) {
  const std::vector<std::string> types = bind_types(request, candidate);
  const std::vector<std::string> constants = bind_constants(request, candidate);
  Instantiation result;
  result.id = candidate.function;
  for (const std::string& type : types) result.id += "__" + type;
  for (const std::string& constant : constants) result.id += "__" + constant;

  TypeValues type_values;
  std::string generics;
  auto type = types.begin();
  auto constant = constants.begin();
  bool has_hardware = false;
  for (const RustGeneric& each : candidate.signature.generics) {
    switch (each.kind) {
      case GenericKind::lifetime:
        break;  // inferred; a late-bound one may not even be named
      case GenericKind::hardware:
        has_hardware = true;
        append(generics, "LlvmTriton");
        break;
      case GenericKind::dtype:
        type_values[each.name] = *type;
        append(generics, *type++);
        break;
      case GenericKind::constant:
        append(generics, each.type == "char" ? "'" + *constant + "'" : *constant);
        ++constant;
        break;
    }
  }
  if (!has_hardware || !candidate.signature.has_body) {
    fail_at(request, candidate, candidate.signature.location,
            "expected a type parameter bound by `Triton` and a body in the kernel `" +
                candidate.function + "`");
  }
  Entry entry;
  for (std::size_t i = 0; i < candidate.signature.arguments.size(); ++i) {
    result.parameters.push_back(parameter_of(request, candidate, i, type_values));
    add_argument(entry, candidate.signature.arguments[i], i, result.parameters.back());
  }
  result.entry_point_text = entry_point_text(candidate, generics, entry);
  return result;
}

}  // namespace teeny::tool
