#include "kernel_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "error.h"

namespace teeny::tool {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

Json golden(const std::string& name) {
  std::ifstream file(std::string(TEENY_TEST_GOLDEN_DIR) + "/" + name);
  EXPECT_TRUE(file) << name;
  return Json::parse(file);
}

KernelRequest request_of(std::string text) {
  KernelRequest request;
  request.sources.push_back({"k.rs", std::move(text)});
  return request;
}

std::string error_of(const KernelRequest& request, ErrorKind kind) {
  try {
    static_cast<void>(make_kernel_source(request));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

std::string usage_error(const KernelRequest& request) {
  return error_of(request, ErrorKind::usage);
}

std::string kernel_error(const KernelRequest& request) {
  return error_of(request, ErrorKind::kernel);
}

// A kernel with the generics and arguments that a golden entry records, and a body of our own.
std::string source_of(const Json& kernel) {
  std::ostringstream text;
  const bool has_attribute = kernel["attr"].is_string();
  text << "use teeny_triton::*;\n\n/// One kernel of the list.\n#[kernel";
  if (has_attribute) text << '(' << kernel["attr"].get<std::string>() << ')';
  text << "]\npub fn " << kernel["name"].get<std::string>() << "<T: Triton";
  for (const Json& each : kernel["dtype_params"]) {
    text << ", " << each["name"].get<std::string>() << ": " << each["bound"].get<std::string>();
  }
  for (const Json& each : kernel["const_params"]) {
    text << ", const " << each["name"].get<std::string>() << ": "
         << each["type"].get<std::string>();
  }
  text << ">(\n";
  for (const Json& each : kernel["args"]) {
    text << "    " << each["name"].get<std::string>() << ": " << each["type"].get<std::string>()
         << ",\n";
  }
  text << ") {\n    let pid = T::program_id(Axis::X);\n}\n";
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(KernelSource, EveryGoldenKernelIsInstantiatedAsTheMacroDoesIt) {
  const Json list = golden("kernel_args.json");
  ASSERT_GE(list["kernels"].size(), 30U);
  for (const Json& kernel : list["kernels"]) {
    const auto name = kernel["name"].get<std::string>();
    SCOPED_TRACE(name);
    KernelRequest request = request_of(source_of(kernel));
    auto id = kernel["id_template"].get<std::string>();
    std::string turbofish = "LlvmTriton";
    std::map<std::string, std::string> types;
    for (const Json& each : kernel["dtype_params"]) {
      const auto dtype = each["name"].get<std::string>();
      types[dtype] = each["bound"] == "Num" ? "u16" : "f64";
      request.types.push_back(types[dtype]);
      turbofish += ", " + types[dtype];
      id = replaced(id, "{" + dtype + "}", types[dtype]);
    }
    int value = 16;
    for (const Json& each : kernel["const_params"]) {
      const auto constant = each["name"].get<std::string>();
      const std::string text = each["type"] == "bool" ? "true" : std::to_string(value++);
      request.constants.push_back(constant + "=" + text);
      turbofish += ", " + text;
      id = replaced(id, "{" + constant + "}", text);
    }
    std::reverse(request.constants.begin(), request.constants.end());

    const KernelSource source = make_kernel_source(request);
    EXPECT_EQ(source.function, name);
    EXPECT_EQ(source.entry_point, kernel["entry_point"].get<std::string>());
    EXPECT_EQ(source.id_auto, id);
    ASSERT_EQ(source.parameters.size(), kernel["args"].size());
    EXPECT_EQ(source.parameters.size() + 2, kernel["ptx_param_count"].get<std::size_t>());
    std::string parameters;
    std::string wraps;
    std::string arguments;
    for (std::size_t i = 0; i < source.parameters.size(); ++i) {
      const Json& argument = kernel["args"][i];
      const KernelParameter& parameter = source.parameters[i];
      const auto its_name = argument["name"].get<std::string>();
      auto type = argument["entry_type"].get<std::string>();
      const bool pointer = type.starts_with("*mut ");
      std::string dtype = pointer ? type.substr(5) : type;
      if (types.contains(dtype)) dtype = types[dtype];
      type = (pointer ? "*mut " : "") + dtype;
      EXPECT_EQ(parameter.name, its_name);
      EXPECT_EQ(parameter.kind, pointer ? ParameterKind::pointer : ParameterKind::primitive);
      EXPECT_EQ(parameter.dtype, dtype);
      EXPECT_EQ(parameter.direction, Direction::unmarked);
      EXPECT_EQ(parameter.mutability, Mutability::mutable_);
      parameters += (i == 0 ? "" : ", ") + its_name + ": " + type;
      arguments += (i == 0 ? "" : ", ") + its_name;
      if (pointer) wraps += "    let " + its_name + " = LlvmPointer(" + its_name + " as *mut _);\n";
    }
    const std::string text = source.text();
    EXPECT_TRUE(text.starts_with("pub fn " + name + "<T: Triton")) << text;
    EXPECT_TRUE(text.ends_with(
        "}\n\nuse triton::llvm::triton::num::*;\nuse triton::llvm::triton::pointer::LlvmPointer;\n"
        "type LlvmTriton = triton::llvm::triton::LlvmTriton;\n\n#[no_mangle]\npub extern \"C\" "
        "fn " +
        name + "_entry_point(" + parameters + ") {\n" + wraps + "    " + name + "::<" + turbofish +
        ">(" + arguments + ");\n}"))
        << text;
  }
}

TEST(KernelSource, IdAutoIsTheIdOfTheGoldenKeys) {
  std::map<std::string, Json> kernels;
  const Json list = golden("kernel_args.json");
  for (const Json& kernel : list["kernels"]) {
    kernels[kernel["name"].get<std::string>()] = kernel;
  }
  std::size_t compared = 0;
  const Json keys = golden("cache_keys.json");
  for (const Json& key : keys["keys"]) {
    const auto found = kernels.find(key["name"].get<std::string>());
    if (found == kernels.end()) continue;
    const auto id = key["id"].get<std::string>();
    Words parts;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = id.find("__", at);
      parts.push_back(id.substr(at, end == std::string::npos ? end : end - at));
      at = end == std::string::npos ? end : end + 2;
    }
    KernelRequest request = request_of(source_of(found->second));
    auto part = parts.begin() + 1;
    for (std::size_t i = 0; i < found->second["dtype_params"].size(); ++i) {
      request.types.push_back(*part++);
    }
    for (const Json& each : found->second["const_params"]) {
      request.constants.push_back(each["name"].get<std::string>() + "=" + *part++);
    }
    EXPECT_EQ(make_kernel_source(request).id_auto, id);
    ++compared;
  }
  EXPECT_GE(compared, 50U);
}

constexpr const char* k_marked =
    "use teeny::*;\n"
    "\n"
    "/// Scales. é\n"
    "  #[kernel] /* é */ pub fn scale<const N: i8, D: Float, T: teeny::Triton>(\n"
    "    mut x: In<T::Pointer<D>>, // the é input\n"
    "    y: teeny::Out<\n"
    "        T::Pointer<f32>,\n"
    "    >, _: D, r#type: *const D,\n"
    ") where D: Sized { \"In<x>\" } // behind\n"
    "fn helper() { include!(\"not compiled\"); }\n";

KernelRequest marked() {
  KernelRequest request = request_of(k_marked);
  request.types = {"f64"};
  request.constants = {"N=-0x10"};
  return request;
}

TEST(KernelSource, MarkedFunctionIsTakenAloneAndKeepsLinesAndColumns) {
  const KernelSource source = make_kernel_source(marked());
  ASSERT_EQ(source.segments.size(), 2U);
  EXPECT_EQ(source.segments[0].file, 0U);
  EXPECT_EQ(source.segments[0].first_line, 4U);
  EXPECT_EQ(source.segments[0].text,
            "                    pub fn scale<const N: i8, D: Float, T: teeny::Triton>(\n"
            "    mut x:    T::Pointer<D> , // the é input\n"
            "    y:            \n"
            "        T::Pointer<f32> \n"
            "     , _: D, r#type: *const D,\n"
            ") where D: Sized { \"In<x>\" }\n");
  EXPECT_EQ(source.segments[1].file, std::nullopt);
}

TEST(KernelSource, EntryPointFollowsTheDeclaredOrder) {
  const KernelSource source = make_kernel_source(marked());
  EXPECT_EQ(source.id_auto, "scale__f64__-16");
  EXPECT_TRUE(source.text().ends_with(
      "pub extern \"C\" fn scale_entry_point(x: *mut f64, y: *mut f32, arg2: f64, r#type: *const "
      "f64) {\n"
      "    let x = LlvmPointer(x as *mut _);\n"
      "    let y = LlvmPointer(y as *mut _);\n"
      "    scale::<-16, f64, LlvmTriton>(x, y, arg2, r#type);\n"
      "}"))
      << source.text();
  ASSERT_EQ(source.parameters.size(), 4U);
  EXPECT_EQ(source.parameters[0].mutability, Mutability::constant);
  EXPECT_EQ(source.parameters[0].direction, Direction::in);
  EXPECT_EQ(source.parameters[1].mutability, Mutability::mutable_);
  EXPECT_EQ(source.parameters[1].direction, Direction::out);
  EXPECT_EQ(source.parameters[2].name, "arg2");
  EXPECT_EQ(source.parameters[2].dtype, "f64");
  EXPECT_EQ(source.parameters[3].name, "type");
  EXPECT_EQ(source.parameters[3].mutability, Mutability::constant);
}

TEST(KernelSource, UnmarkedFunctionTakesTheWholeFile) {
  const std::string text =
      "use a::b;\nmod m {\n  pub unsafe fn k<'a, T: Triton, const C: char>() {}\n}";
  KernelRequest request = request_of(text);
  request.constants = {"C='x'"};
  const KernelSource source = make_kernel_source(request);
  EXPECT_TRUE(source.text().starts_with(text + "\n\nuse triton::"));
  EXPECT_TRUE(source.text().ends_with(
      "fn k_entry_point() {\n    unsafe { m::k::<LlvmTriton, 'x'>() };\n}"));
  EXPECT_EQ(source.id_auto, "k__x");
}

TEST(KernelSource, DirectionMarkersAreBlankedInAWholeFileToo) {
  const KernelSource source = make_kernel_source(
      request_of("#!run\nfn k<T: Triton>(x: In<T::Pointer<f32>>) { /* In<x> */ }"));
  EXPECT_EQ(source.segments[0].text,
            "     \nfn k<T: Triton>(x:    T::Pointer<f32> ) { /* In<x> */ }\n");
  const std::string ready = "#[no_mangle] extern \"C\" fn k(x: In<*mut f32>) {}\n";
  EXPECT_EQ(make_kernel_source(request_of(ready)).text(), ready);
}

TEST(KernelSource, NoTypesAndNoConstantsGiveTheNameAlone) {
  EXPECT_EQ(make_kernel_source(request_of("fn k<T: Triton>() {}")).id_auto, "k");
}

TEST(KernelSource, OtherFilesAreTakenWholeAndInOrder) {
  KernelRequest request = marked();
  request.sources.insert(request.sources.begin(), {"a.rs", "\xEF\xBB\xBF#!é run\r\nfn a() {}\r\n"});
  request.sources.push_back({"empty.rs", ""});
  request.sources.push_back({"z.rs", "fn z() {}"});
  const KernelSource source = make_kernel_source(request);
  ASSERT_EQ(source.segments.size(), 4U);
  EXPECT_EQ(source.segments[0].text, "       \r\nfn a() {}\r\n");
  EXPECT_EQ(source.segments[1].file, 1U);
  EXPECT_EQ(source.segments[2].text, "fn z() {}\n");
  EXPECT_EQ(source.segments[2].file, 3U);
}

TEST(LineMap, EveryLineHasItsOrigin) {
  KernelRequest request = marked();
  request.sources.insert(request.sources.begin(), {"a.rs", "// 1\r\nfn a() {}"});
  const LineMap map(make_kernel_source(request), 3);
  struct Case {
    std::size_t line;
    LineOwner owner;
    std::size_t file;
    std::size_t its_line;
  };
  for (const Case& each : std::vector<Case>{{0, LineOwner::outside, 0, 0},
                                            {1, LineOwner::prelude, 0, 1},
                                            {3, LineOwner::prelude, 0, 3},
                                            {4, LineOwner::source, 0, 1},
                                            {5, LineOwner::source, 0, 2},
                                            {6, LineOwner::source, 1, 4},
                                            {11, LineOwner::source, 1, 9},
                                            {12, LineOwner::generated, 0, 1},
                                            {22, LineOwner::generated, 0, 11},
                                            {23, LineOwner::outside, 0, 0},
                                            {1000, LineOwner::outside, 0, 0}}) {
    const LineOrigin origin = map.find(each.line);
    EXPECT_EQ(origin.owner, each.owner) << each.line;
    EXPECT_EQ(origin.file, each.file) << each.line;
    EXPECT_EQ(origin.line, each.its_line) << each.line;
  }
}

// The property behind the table above: a line of the text is the line that the map says it is.
TEST(LineMap, LinesOfWholeFilesAreEqual) {
  KernelRequest request = request_of("one\n\nthree");
  request.frontend = Frontend::rust;
  request.sources[0].text = "// one\n\n// three";
  request.sources.push_back(
      {"b.rs", "// b\r\n#[no_mangle] extern \"ptx-kernel\" fn k() {}\n// end"});
  const KernelSource source = make_kernel_source(request);
  const LineMap map(source, 0);
  std::istringstream text(source.text());
  std::string line;
  for (std::size_t number = 1; std::getline(text, line); ++number) {
    const LineOrigin origin = map.find(number);
    ASSERT_EQ(origin.owner, LineOwner::source);
    std::istringstream file(request.sources[origin.file].text);
    std::string original;
    for (std::size_t i = 0; i < origin.line; ++i) std::getline(file, original);
    EXPECT_EQ(line, original);
  }
  EXPECT_EQ(map.find(6).line, 3U);
  EXPECT_EQ(map.find(7).owner, LineOwner::outside);
}

TEST(ChooseFunction, FunctionThenNameThenTheOnlyOne) {
  const std::string two = "#[kernel] fn a<T: Triton>() {} #[kernel] fn b<T: Triton>() {}";
  KernelRequest request = request_of(two);
  request.name = "b";
  EXPECT_EQ(make_kernel_source(request).function, "b");
  request.function = "a";
  EXPECT_EQ(make_kernel_source(request).function, "a");
  KernelRequest single = request_of("#[kernel] fn a<T: Triton>() {} fn other() {}");
  single.name = "other";
  EXPECT_EQ(make_kernel_source(single).function, "a");
}

TEST(ChooseFunction, GenericHelpersAreNoKernels) {
  EXPECT_EQ(make_kernel_source(request_of("fn relu<T: Triton>(x: T::Tensor) {} fn get<T: Triton>() "
                                          "-> i32 {} fn k<T: Triton>(n: i32) {}"))
                .function,
            "k");
  EXPECT_EQ(make_kernel_source(
                request_of("fn helper<T: Triton>(n: i32) {} #[tiled_kernel] fn k<T: Triton>() {}"))
                .function,
            "k");
}

TEST(ChooseFunction, ReadyMadeEntryPointWins) {
  const std::string text =
      "pub fn k<T: Triton>(n: i32) {}\n"
      "#[no_mangle]\npub extern \"C\" fn k_entry_point(x: *const f32, y: *mut Foo, n: i32) {}\n";
  for (const char* name : {"k", "k_entry_point"}) {
    KernelRequest request = request_of(text);
    request.function = name;
    const KernelSource source = make_kernel_source(request);
    EXPECT_EQ(source.function, "k");
    EXPECT_EQ(source.entry_point, "k_entry_point");
    EXPECT_EQ(source.id_auto, "k");
    EXPECT_EQ(source.text(), text);
    ASSERT_EQ(source.parameters.size(), 3U);
    EXPECT_EQ(source.parameters[0].mutability, Mutability::constant);
    EXPECT_EQ(source.parameters[1].dtype, "Foo");
  }
  EXPECT_EQ(make_kernel_source(request_of(text)).entry_point, "k_entry_point");
  EXPECT_EQ(make_kernel_source(
                request_of("#[unsafe(no_mangle)] extern \"ptx-kernel\" fn _entry_point() {}"))
                .function,
            "_entry_point");
}

TEST(ChooseFunction, PlainRustKernels) {
  KernelRequest request = request_of(
      "#[unsafe(export_name = \"sym\")]\nunsafe extern \"ptx-kernel\" fn k(x: *mut f32, a: f32) "
      "{}\n"
      "#[no_mangle] extern \"C\" fn device() {}\n");
  request.frontend = Frontend::rust;
  const KernelSource source = make_kernel_source(request);
  EXPECT_EQ(source.function, "k");
  EXPECT_EQ(source.entry_point, "sym");
  EXPECT_EQ(source.segments.size(), 1U);
  request.function = "sym";
  EXPECT_EQ(make_kernel_source(request).function, "k");
  request.types = {"f32"};
  EXPECT_EQ(usage_error(request),
            "TYPES: `k` is an entry point already and has no generic parameters, so there is "
            "nothing to give");
  request.types.clear();
  request.constants = {"A=1"};
  EXPECT_EQ(usage_error(request),
            "CONSTANTS: `k` is an entry point already and has no generic parameters, so there is "
            "nothing to give");
}

TEST(ChooseFunction, SaysWhatIsWrong) {
  KernelRequest request = request_of(
      "#[kernel] fn vector_add<T: Triton>() {}\n#[kernel] fn vector_mul<T: Triton>() {}\n"
      "fn plain() {}\n");
  EXPECT_EQ(usage_error(request),
            "FUNCTION: the SOURCE has several kernel functions, so say which one is meant: "
            "`vector_add` (k.rs:1), `vector_mul` (k.rs:2)");
  request.function = "vectr_add";
  EXPECT_EQ(usage_error(request),
            "FUNCTION: there is no function `vectr_add`; it may be `vector_add`, `vector_mul`; did "
            "you mean `vector_add`?");
  request.function = "x";
  EXPECT_EQ(usage_error(request),
            "FUNCTION: there is no function `x`; it may be `vector_add`, `vector_mul`");
  request.function = "plain";
  EXPECT_EQ(
      kernel_error(request),
      "k.rs:3:4: expected a kernel function, which has `#[kernel]`, a type parameter bound by "
      "`Triton`, or `#[no_mangle] extern \"C\"`, but `plain` has not");
  EXPECT_EQ(kernel_error(request_of("fn plain() {}")),
            "k.rs:1:1: expected a kernel function in the SOURCE, which has `#[kernel]`, a type "
            "parameter bound by `Triton`, or `#[no_mangle] extern \"C\"`");
  EXPECT_EQ(usage_error({}), "SOURCE: expected at least one file");
  KernelRequest twice = request_of("#[kernel] fn a<T: Triton>() {}");
  twice.sources.push_back({"b.rs", "\nmod m { #[kernel] fn a<T: Triton>() {} }"});
  EXPECT_EQ(usage_error(twice),
            "FUNCTION: there are several functions `a` (k.rs:1, b.rs:2); a kernel needs a name of "
            "its own");
  KernelRequest missing = request_of("");
  missing.function = "a";
  EXPECT_EQ(usage_error(missing),
            "FUNCTION: there is no function `a`; the SOURCE has no kernel function");
}

TEST(ChooseFunction, SaysWhatIsWrongWithPlainRust) {
  KernelRequest request = request_of("#[no_mangle] pub extern \"C\" fn k() {}");
  request.frontend = Frontend::rust;
  const std::string device =
      "k.rs:1:32: expected `extern \"ptx-kernel\"` on `k`: an `extern \"C\"` function is only a "
      "device function for rustc, no kernel";
  EXPECT_EQ(kernel_error(request), device);
  request.function = "k";
  EXPECT_EQ(kernel_error(request), device);
  request.sources[0].text = "extern \"ptx-kernel\" fn k() {}";
  EXPECT_EQ(kernel_error(request),
            "k.rs:1:24: expected `#[no_mangle]` on `k`: without it the kernel's symbol is not its "
            "name");
  request.sources[0].text = "#[kernel] fn k<T: Triton>() {}";
  EXPECT_EQ(kernel_error(request),
            "k.rs:1:14: expected a kernel function, which has `#[no_mangle] extern \"ptx-kernel\" "
            "fn`, but `k` has not");
}

TEST(Types, AreCheckedAgainstTheBound) {
  const std::map<std::string, Words> accepted = {
      {"Float", {"f32", "f64"}},
      {"Int", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}},
      {"Num", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}},
      {"Bool", {"bool"}},
      {"Dtype", {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}},
      {"Dtype + Num + Float", {"f32", "f64"}},
      {"Mine", {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}}};
  for (const auto& [bound, types] : accepted) {
    for (const std::string type : {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                                   "f16", "bf16", "f32", "f64", "char", "D", ""}) {
      KernelRequest request = request_of("fn k<T: Triton, D: " + bound + ">() {}");
      request.types = {type};
      const bool fits = std::find(types.begin(), types.end(), type) != types.end();
      EXPECT_EQ(usage_error(request) == "no error", fits) << bound << ' ' << type;
    }
  }
}

TEST(Types, ErrorsNameTheParameterAndWhatItMayBe) {
  KernelRequest request = request_of("fn k<T: Triton, D: Float, B: Bool>() {}");
  request.types = {"f64", "i32"};
  EXPECT_EQ(usage_error(request), "TYPES: the type parameter `B` of `k` may be bool, not `i32`");
  request.types = {"f16", "bool"};
  EXPECT_EQ(usage_error(request),
            "TYPES: the type parameter `D` of `k` may be f32 or f64, not `f16`, which teenyc can't "
            "instantiate yet");
  request.types = {"f32"};
  EXPECT_EQ(usage_error(request),
            "TYPES: `k` takes a type for each of `D` (f32 or f64), `B` (bool), but 1 are given");
  KernelRequest none = request_of("fn k<T: Triton>() {}");
  none.types = {"f32"};
  EXPECT_EQ(usage_error(none), "TYPES: `k` takes no types, but 1 are given");
}

// The value as the id has it, or the error.
std::string constant(const std::string& type, const std::string& value) {
  KernelRequest request = request_of("fn k<T: Triton, const N: " + type + ">() {}");
  request.constants = {"N=" + value};
  try {
    return make_kernel_source(request).id_auto.substr(3);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

TEST(Constants, AreNormalised) {
  for (const auto& [type, value, wanted] : std::vector<std::array<std::string, 3>>{
           {"i32", "1024", "1024"},
           {"i32", " 1_024_ ", "1024"},
           {"i32", "007", "7"},
           {"i32", "-0", "0"},
           {"i32", "0xFf", "255"},
           {"u8", "0b1111_1111", "255"},
           {"i8", "-0o200", "-128"},
           {"i8", "127", "127"},
           {"u16", "65535", "65535"},
           {"i64", "-9223372036854775808", "-9223372036854775808"},
           {"i64", "9223372036854775807", "9223372036854775807"},
           {"u64", "18446744073709551615", "18446744073709551615"},
           {"usize", "0xFFFF_FFFF_FFFF_FFFF", "18446744073709551615"},
           {"isize", "-1", "-1"},
           {"bool", "true", "true"},
           {"bool", "false", "false"},
           {"char", "é", "é"},
           {"char", "'a'", "a"}}) {
    EXPECT_EQ(constant(type, value), wanted) << type << ' ' << value;
  }
}

TEST(Constants, OutOfRangeIsRefused) {
  for (const auto& [type, value, accepted] : std::vector<std::array<std::string, 3>>{
           {"i8", "128", "an integer from -128 to 127"},
           {"i8", "-129", "an integer from -128 to 127"},
           {"u8", "256", "an integer from 0 to 255"},
           {"u8", "-1", "an integer from 0 to 255"},
           {"i32", "2147483648", "an integer from -2147483648 to 2147483647"},
           {"i64", "9223372036854775808",
            "an integer from -9223372036854775808 to 9223372036854775807"},
           {"u64", "18446744073709551616", "an integer from 0 to 18446744073709551615"},
           {"u64", "99999999999999999999999999", "an integer from 0 to 18446744073709551615"},
           {"u8", "", "an integer from 0 to 255"},
           {"u8", "_1", "an integer from 0 to 255"},
           {"u8", "0x", "an integer from 0 to 255"},
           {"u8", "1u8", "an integer from 0 to 255"},
           {"u8", "0b2", "an integer from 0 to 255"},
           {"u8", "1.0", "an integer from 0 to 255"},
           {"u8", "+1", "an integer from 0 to 255"},
           {"bool", "1", "true or false"},
           {"bool", "TRUE", "true or false"},
           {"char", "ab", "one character"},
           {"char", "\\", "one character"},
           {"char", "", "one character"}}) {
    EXPECT_EQ(constant(type, value),
              "CONSTANTS: `N: " + type + "` of `k` may be " + accepted + ", not `" + value + "`");
  }
}

TEST(Constants, EachIsGivenOnceByItsName) {
  KernelRequest request = request_of("fn k<T: Triton, const A: i8, const B: bool>() {}");
  EXPECT_EQ(usage_error(request),
            "CONSTANTS: `A: i8` has no value, it may be an integer from -128 to 127; `k` has `A: "
            "i8`, `B: bool`");
  request.constants = {"A=1", "C=2"};
  EXPECT_EQ(usage_error(request),
            "CONSTANTS: there is no constant `C`; `k` has `A: i8`, `B: bool`");
  request.constants = {"A=1", "A=1"};
  EXPECT_EQ(usage_error(request), "CONSTANTS: `A` is given twice");
  request.constants = {"A"};
  EXPECT_EQ(usage_error(request), "CONSTANTS: expected NAME=value, found `A`");
  request.constants = {"=1"};
  EXPECT_EQ(usage_error(request), "CONSTANTS: expected NAME=value, found `=1`");
  KernelRequest none = request_of("fn k<T: Triton>() {}");
  none.constants = {"A=1"};
  EXPECT_EQ(usage_error(none), "CONSTANTS: there is no constant `A`; `k` has no constants");
  KernelRequest odd = request_of("fn k<T: Triton, const N: u128>() {}");
  odd.constants = {"N=1"};
  EXPECT_EQ(kernel_error(odd),
            "k.rs:1:23: expected bool, char or an integer of at most 64 bits as the type of the "
            "constant `N`, found `u128`");
}

TEST(Arguments, ThatCannotBePassedAreRefusedWhereTheyStand) {
  KernelRequest request = request_of("#[kernel]\nfn k<T: Triton>(x: T::Tensor) {}");
  EXPECT_EQ(
      kernel_error(request),
      "k.rs:2:17: expected a primitive type or a pointer (`T::Pointer<D>`) as the type of the "
      "kernel argument `x`, found `T::Tensor`");
  request.sources[0].text = "#[kernel]\nfn k<T: Triton>(x: T::Pointer<Foo>) {}";
  EXPECT_EQ(
      kernel_error(request),
      "k.rs:2:17: expected a primitive type or a type parameter behind the pointer `x`, found "
      "`Foo`");
  request.sources[0].text = "#[kernel]\nfn k<T: Triton>((x, y): (u8, u8)) {}";
  EXPECT_EQ(kernel_error(request), "k.rs:2:17: expected a name for this argument of a kernel");
  request.sources[0].text = "#[no_mangle] extern \"C\" fn k(x: &u8) {}";
  EXPECT_EQ(kernel_error(request),
            "k.rs:1:30: expected a primitive type or a pointer (`*mut f32`) as the type of the "
            "kernel argument `x`, found `&u8`");
  request.sources[0].text = "#[kernel] fn k(x: u8) {}";
  EXPECT_EQ(kernel_error(request),
            "k.rs:1:14: expected a type parameter bound by `Triton` and a body in the kernel `k`");
}

TEST(KernelSource, ReadsNoOtherFiles) {
  KernelRequest request = request_of("#[kernel] fn k<T: Triton>() { include!(\"x\"); }");
  EXPECT_TRUE(kernel_error(request).starts_with("k.rs:1:31: `include!` reads another file"));
  request.sources[0].text = "fn k<T: Triton>() {} mod x;";
  EXPECT_TRUE(kernel_error(request).starts_with("k.rs:1:22: `mod x;` reads another file"));
  request.sources[0].text = "#[kernel] fn k<T: Triton>() {} mod x;";
  EXPECT_EQ(kernel_error(request), "no error");
  request.sources.push_back({"b.rs", "env!(\"A\");"});
  EXPECT_TRUE(kernel_error(request).starts_with("b.rs:1:1: `env!` reads the environment"));
}

TEST(Frontend, WordsAndValues) {
  EXPECT_EQ(parse_frontend(to_string(Frontend::triton)), Frontend::triton);
  EXPECT_EQ(parse_frontend(to_string(Frontend::rust)), Frontend::rust);
  EXPECT_EQ(parse_frontend("Rust"), std::nullopt);
}

}  // namespace
}  // namespace teeny::tool
