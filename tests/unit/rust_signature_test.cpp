#include "rust_signature.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace teeny::tool {
namespace {

using Words = std::vector<std::string>;

Words names_of(std::string_view text) {
  Words names;
  for (const RustFunction& function : parse_functions("k.rs", text)) {
    names.push_back(function.module_path + function.name);
  }
  return names;
}

RustFunction only_function(std::string_view text) {
  const std::vector<RustFunction> functions = parse_functions("k.rs", text);
  EXPECT_EQ(functions.size(), 1U) << text;
  return functions.empty() ? RustFunction{} : functions.front();
}

RustArgument only_argument(std::string_view argument) {
  const RustFunction function =
      only_function("fn f<T: Triton, D: Num, U>(" + std::string(argument) + ") {}");
  EXPECT_EQ(function.arguments.size(), 1U) << argument;
  return function.arguments.empty() ? RustArgument{} : function.arguments.front();
}

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kernel);
    return error.what();
  }
  return "no error";
}

std::string parse_error(std::string_view text) {
  return error_of([&] { static_cast<void>(parse_functions("k.rs", text)); });
}

std::string check_error(std::string_view text) {
  return error_of([&] { check_self_contained("k.rs", text); });
}

constexpr std::string_view k_vector_add = R"(use teeny::*;

/// Adds two vectors.
#[kernel(dtypes = [f32, f64])]
#[inline(never)]
pub(crate) unsafe fn vector_add<'a, T: Triton, D: Num + Copy, const BLOCK_SIZE: i32, const FAST: bool = true>(
    a_ptr: In<T::Pointer<D>>, mut b_ptr: *const f32, _n: i32,
) -> Result<u8, ()>
where
    T::Tensor<D>: Add<Output = T::Tensor<D>>,
{
    let x = { 1 }; // }
    "}"
}
// behind
)";

TEST(RustSignature, ReadsAllPartsOfAFunction) {
  const RustFunction function = only_function(k_vector_add);
  EXPECT_EQ(function.name, "vector_add");
  EXPECT_EQ(function.module_path, "");
  EXPECT_EQ(function.visibility, "pub(crate)");
  EXPECT_EQ(function.qualifiers, Words{"unsafe"});
  EXPECT_EQ(function.abi, std::nullopt);
  EXPECT_EQ(function.location.line, 6U);
  EXPECT_EQ(function.location.column, 22U);
  EXPECT_EQ(function.begin.line, 6U);
  EXPECT_EQ(function.begin.column, 1U);
  EXPECT_EQ(function.return_type, "Result<u8, ()>");
  EXPECT_EQ(function.where_clause, "T::Tensor<D>: Add<Output = T::Tensor<D>>,");
  EXPECT_TRUE(function.has_body);
  const std::string cut(
      k_vector_add.substr(function.range.begin, function.range.end - function.range.begin));
  EXPECT_TRUE(cut.starts_with("pub(crate) unsafe fn vector_add<'a"));
  EXPECT_TRUE(cut.ends_with("\"}\"\n}"));
}

TEST(RustSignature, GenericsKeepTheirOrder) {
  const RustFunction function = only_function(k_vector_add);
  ASSERT_EQ(function.generics.size(), 5U);
  EXPECT_EQ(function.generics[0].kind, GenericKind::lifetime);
  EXPECT_EQ(function.generics[0].name, "'a");
  EXPECT_EQ(function.generics[1].kind, GenericKind::hardware);
  EXPECT_EQ(function.generics[2].kind, GenericKind::dtype);
  EXPECT_EQ(function.generics[2].bounds, (Words{"Num", "Copy"}));
  EXPECT_EQ(function.generics[3].kind, GenericKind::constant);
  EXPECT_EQ(function.generics[3].name, "BLOCK_SIZE");
  EXPECT_EQ(function.generics[3].type, "i32");
  EXPECT_EQ(function.generics[3].location.line, 6U);
  EXPECT_EQ(function.generics[3].location.column, 69U);
  EXPECT_EQ(function.generics[4].type, "bool");
  EXPECT_EQ(function.generics[4].default_value, "true");
}

TEST(RustSignature, BoundsMayStandInTheWhereClause) {
  const RustFunction function = only_function(
      "fn f<D, T, const N: usize = { 3 + 4 }, E: ?Sized + Fn(u8) -> Float, 'b: 'a, F: (Num) + "
      "a::Int<X = u8>>() where for<'x> D: Foo<'x>, D: teeny::Float, T: teeny::Triton {}");
  ASSERT_EQ(function.generics.size(), 6U);
  EXPECT_EQ(function.generics[0].bounds, Words{"Float"});
  EXPECT_EQ(function.generics[1].kind, GenericKind::hardware);
  EXPECT_EQ(function.generics[2].default_value, "{ 3 + 4 }");
  EXPECT_EQ(function.generics[3].bounds, (Words{"Sized", "Fn"}));
  EXPECT_EQ(function.generics[4].kind, GenericKind::lifetime);
  EXPECT_EQ(function.generics[5].bounds, (Words{"Num", "Int"}));
}

TEST(RustSignature, ArgumentsAreClassified) {
  struct Case {
    std::string_view text;
    ArgumentKind kind;
    std::string_view value_type;
    Mutability mutability;
    Direction direction;
  };
  constexpr auto k_const = Mutability::constant;
  constexpr auto k_mut = Mutability::mutable_;
  for (const Case& each : std::vector<Case>{
           {"x: T::Pointer<D>", ArgumentKind::pointer, "D", k_mut, Direction::unmarked},
           {"x: T :: Pointer < f32 >", ArgumentKind::pointer, "f32", k_mut, Direction::unmarked},
           {"x: <T as Triton>::Pointer<D>", ArgumentKind::pointer, "D", k_mut, Direction::unmarked},
           {"x: <T>::Pointer<D>", ArgumentKind::pointer, "D", k_mut, Direction::unmarked},
           {"x: In<T::Pointer<D>>", ArgumentKind::pointer, "D", k_const, Direction::in},
           {"x: teeny::Out<T::Pointer<D>,>", ArgumentKind::pointer, "D", k_mut, Direction::out},
           {"x: ::teeny::io::InOut<*mut i8>", ArgumentKind::pointer, "i8", k_mut,
            Direction::in_out},
           {"x: *const f64", ArgumentKind::pointer, "f64", k_const, Direction::unmarked},
           {"x: *mut *const u8", ArgumentKind::pointer, "*const u8", k_mut, Direction::unmarked},
           {"x: i32", ArgumentKind::primitive, "i32", k_mut, Direction::unmarked},
           {"x: bf16", ArgumentKind::primitive, "bf16", k_mut, Direction::unmarked},
           {"x: D", ArgumentKind::primitive, "D", k_mut, Direction::unmarked},
           {"x: T", ArgumentKind::other, "T", k_mut, Direction::unmarked},
           {"x: T::Tensor<D>", ArgumentKind::other, "T::Tensor<D>", k_mut, Direction::unmarked},
           {"x: U::Pointer<D>", ArgumentKind::other, "U::Pointer<D>", k_mut, Direction::unmarked},
           {"x: In<Tile<T, D>>", ArgumentKind::other, "Tile<T, D>", k_const, Direction::in},
           {"x: In<D, D>", ArgumentKind::other, "In<D, D>", k_mut, Direction::unmarked},
           {"x: In<i32>", ArgumentKind::other, "i32", k_const, Direction::in},
           {"x: &'a mut [f32; {N} as usize]", ArgumentKind::other, "&'a mut [f32; { N } as usize]",
            k_mut, Direction::unmarked},
           {"x: fn(u8) -> Vec<u8>", ArgumentKind::other, "fn(u8) -> Vec<u8>", k_mut,
            Direction::unmarked},
           {"x: Pointer<D>", ArgumentKind::other, "Pointer<D>", k_mut, Direction::unmarked},
           {"x: i128", ArgumentKind::other, "i128", k_mut, Direction::unmarked}}) {
    const RustArgument argument = only_argument(each.text);
    EXPECT_EQ(argument.name, "x") << each.text;
    EXPECT_EQ(argument.kind, each.kind) << each.text;
    EXPECT_EQ(argument.value_type, each.value_type) << each.text;
    EXPECT_EQ(argument.mutability, each.mutability) << each.text;
    EXPECT_EQ(argument.direction, each.direction) << each.text;
  }
}

TEST(RustSignature, ArgumentNames) {
  EXPECT_EQ(only_argument("mut x: i32").name, "x");
  EXPECT_EQ(only_argument("_x: i32").name, "_x");
  EXPECT_EQ(only_argument("_: i32").name, "_");
  EXPECT_EQ(only_argument("r#type: i32").name, "type");
  EXPECT_EQ(only_argument("r#type: i32").spelling, "r#type");
  EXPECT_EQ(only_argument("#[cfg(a)] x: i32,").name, "x");
  EXPECT_EQ(only_argument("(a, b): (i32, i32)").name, "");
  EXPECT_EQ(only_argument("Foo { a: b }: Foo").name, "");
}

TEST(RustSignature, AttributesAreRecognised) {
  const RustFunction function = only_function(
      "#![allow(x)] #[teeny::kernel] #[unsafe(no_mangle)]\n#[export_name = \"sym\"] fn f() {}");
  ASSERT_EQ(function.attributes.size(), 3U);
  EXPECT_EQ(function.attributes[0].path, "teeny::kernel");
  EXPECT_EQ(function.attributes[1].path, "no_mangle");
  EXPECT_EQ(function.attributes[1].text, "unsafe(no_mangle)");
  EXPECT_EQ(function.attributes[2].value, "sym");
  EXPECT_EQ(function.attributes[2].location.line, 2U);
  EXPECT_NE(function.attribute("kernel"), nullptr);
  EXPECT_EQ(function.attribute("ernel"), nullptr);
  EXPECT_EQ(function.attribute("mangle"), nullptr);
  EXPECT_EQ(only_function(k_vector_add).attributes[0].text, "kernel(dtypes = [f32, f64])");
  const RustFunction exported = only_function("#[unsafe(export_name = \"s\")] fn f() {}");
  EXPECT_EQ(exported.attribute("export_name")->value, "s");
}

TEST(RustSignature, QualifiersAndAbi) {
  EXPECT_EQ(only_function("extern \"ptx-kernel\" fn f() {}").abi, "ptx-kernel");
  EXPECT_EQ(only_function("extern fn f() {}").abi, "C");
  EXPECT_EQ(only_function("extern r#\"C\"# fn f() {}").abi, "C");
  const RustFunction function = only_function("pub const async unsafe extern \"C\" fn f();");
  EXPECT_EQ(function.qualifiers, (Words{"const", "async", "unsafe"}));
  EXPECT_EQ(function.visibility, "pub");
  EXPECT_FALSE(function.has_body);
}

TEST(RustSignature, FunctionsAreFoundWhereTheyMatter) {
  EXPECT_EQ(names_of(R"(
    #![feature(no_core)]
    fn a() { fn inner() {} }
    pub mod outer { fn b() {} mod r#in { fn c() {} } fn d() {} }
    mod gone;
    struct S<const N: usize = { 1 }> { f: fn(u8) }
    struct U; struct T(u8) where u8: Copy;
    enum E { A { x: u8 } }
    union N { a: u8 }
    trait Q { fn method(&self) {} }
    unsafe trait R {}
    impl<T> S<{ 1 > 2 }> { fn method() {} }
    unsafe impl Send for S {}
    const impl Q for S { fn method() {} }
    const X: S = S { f: || { fn y() {} } };
    const fn e() {}
    static mut G: [u8; 2] = [1; { 2 }];
    use a::{b, c};
    type A = [u8; 3];
    extern crate core;
    extern "C" { fn foreign(); }
    unsafe extern "C" { safe fn foreign(); }
    macro_rules! m { ($x:ident) => { fn macro_made() {} } }
    core::arch::global_asm!("fn no() {}");
    ::x::y! { fn no() {} }
    macro z($a:expr) { fn no() {} }
    auto trait Auto {}
    ;
    // fn comment() {}
    fn last() {}
  )"),
            (Words{"a", "outer::b", "outer::r#in::c", "outer::d", "e", "last"}));
}

TEST(RustSignature, SaysWhereItCannotRead) {
  EXPECT_EQ(parse_error("fn"),
            "k.rs:1:3: expected the name of a function, found the end of the file");
  EXPECT_EQ(parse_error("\nfn 1"), "k.rs:2:4: expected the name of a function, found `1`");
  EXPECT_EQ(parse_error("fn f {}"),
            "k.rs:1:6: expected `(` to begin the arguments of `f`, found `{`");
  EXPECT_EQ(parse_error("fn f<T() {}"),
            "k.rs:1:12: expected `>` to close the generic parameters of `f`, found the end of the "
            "file");
  EXPECT_EQ(parse_error("fn f<,>() {}"), "k.rs:1:6: expected a generic parameter, found `,`");
  EXPECT_EQ(parse_error("fn f<3>() {}"), "k.rs:1:6: expected a generic parameter, found `3`");
  EXPECT_EQ(parse_error("fn f<T U>() {}"), "k.rs:1:8: expected `:`, `,` or `>`, found `U`");
  EXPECT_EQ(parse_error("fn f<const 3>() {}"),
            "k.rs:1:12: expected the name of a constant, found `3`");
  EXPECT_EQ(parse_error("fn f<const N>() {}"),
            "k.rs:1:13: expected `:` and the type of the constant `N`, found `>`");
  EXPECT_EQ(parse_error("fn f<const N: >() {}"), "k.rs:1:15: expected the type of `N`, found `>`");
  EXPECT_EQ(parse_error("fn f(x) {}"),
            "k.rs:1:7: expected an argument of the form `name: type`, found `)`");
  EXPECT_EQ(parse_error("fn f(, x: u8) {}"),
            "k.rs:1:6: expected an argument of the form `name: type`, found `,`");
  EXPECT_EQ(parse_error("fn f(x: , y: u8) {}"),
            "k.rs:1:9: expected the type of this argument, found `,`");
  EXPECT_EQ(parse_error("fn f(x: u8>) {}"),
            "k.rs:1:11: expected `,` or the end of the list, found `>`");
  EXPECT_EQ(parse_error("fn f() -> {}"), "k.rs:1:11: expected the return type of `f`, found `{`");
  EXPECT_EQ(parse_error("fn f() u8"),
            "k.rs:1:8: expected `{` to begin the body of `f`, found `u8`");
  EXPECT_EQ(parse_error("mod a { fn f() }"),
            "k.rs:1:16: expected `{` to begin the body of `f`, found `}`");
  EXPECT_EQ(parse_error("fnn f() {}"),
            "k.rs:1:1: expected an item (fn, mod, use, struct, …), found `fnn`");
  EXPECT_EQ(parse_error("mod 1 {}"), "k.rs:1:5: expected the name of a module, found `1`");
  EXPECT_EQ(parse_error("mod a = 1;"),
            "k.rs:1:7: expected `{` or `;` behind the name of a module, found `=`");
  EXPECT_EQ(parse_error("use a\nfn f() {}"),
            "k.rs:2:10: expected `;` to end the `use` of line 1, found the end of the file");
  EXPECT_EQ(parse_error("struct A"),
            "k.rs:1:9: expected `{` or `;` of the item, found the end of the file");
  EXPECT_EQ(parse_error("# fn"), "k.rs:1:3: expected `[` of an attribute, found `fn`");
  EXPECT_EQ(parse_error("#[a]"),
            "k.rs:1:5: expected an item behind the attribute, found the end of the file");
  EXPECT_EQ(parse_error("a! b;"), "k.rs:1:5: expected `(`, `[` or `{` of a macro, found `;`");
  EXPECT_EQ(parse_error("fn f(] {}"),
            "k.rs:1:6: expected `)` to close the `(` of line 1, found `]`");
  EXPECT_EQ(parse_error("}"), "k.rs:1:1: expected an opening bracket before this one, found `}`");
  EXPECT_EQ(parse_error("fn f() {"), "k.rs:1:8: expected `}` to close this `{`");
  EXPECT_EQ(parse_error("fn f() \"" + std::string(50, 'x') + "\""),
            "k.rs:1:8: expected `{` to begin the body of `f`, found a longer token");
}

TEST(RustSignature, DepthIsBounded) {
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "mod a{";
  deep += std::string(65, '}');
  EXPECT_EQ(parse_error(deep), "k.rs:1:389: modules are nested deeper than 64");
  const std::string brackets(200'000, '(');
  EXPECT_EQ(parse_error("fn f" + brackets + std::string(200'000, ')')),
            "k.rs:1:400004: expected an argument of the form `name: type`, found `)`");
}

TEST(SelfContained, RefusesWhatReadsOtherFiles) {
  const std::string list =
      "` reads another file, but a kernel is its SOURCE files alone: list that file under SOURCE";
  EXPECT_EQ(check_error("fn f() {}\n  include!(\"a.rs\");"), "k.rs:2:3: `include!" + list);
  EXPECT_EQ(check_error("const X: &str = core::include_str ! [\"a\"];"),
            "k.rs:1:23: `include_str!" + list);
  EXPECT_EQ(check_error("x(::std::r#include_bytes!{\"a\"})"), "k.rs:1:10: `include_bytes!" + list);
  EXPECT_EQ(check_error("#[path = \"x.rs\"] mod m {}"), "k.rs:1:3: `#[path]" + list);
  EXPECT_EQ(check_error("#![cfg_attr(a, b(c), path = \"x.rs\")]"), "k.rs:1:22: `#[path]" + list);
  EXPECT_EQ(check_error("mod /* */ helpers ;"), "k.rs:1:1: `mod helpers;" + list);
  EXPECT_EQ(check_error("use core::include_str as s;"), "k.rs:1:11: `include_str!" + list);
  EXPECT_EQ(check_error("macro_rules! m { () => { include!(\"x\") } }"),
            "k.rs:1:26: `include!" + list);
}

TEST(SelfContained, RefusesTheEnvironment) {
  const std::string advice =
      "` reads the environment, which is not part of a kernel: pass the value under CONSTANTS";
  EXPECT_EQ(check_error("env!(\"A\")"), "k.rs:1:1: `env!" + advice);
  EXPECT_EQ(check_error("core :: option_env ! (\"A\")"), "k.rs:1:9: `option_env!" + advice);
  EXPECT_EQ(check_error("use core::{option_env as o};"), "k.rs:1:12: `option_env!" + advice);
}

TEST(SelfContained, IsNotFooled) {
  for (const std::string_view text :
       {"// include!(\"a\")\n/* env!(\"A\") */ /// mod x;\n", "\"include!(x)\"; r#\"env!(x)\"#",
        "let env = 1; if env != (2) { env(3) }", "mod env { fn include() {} }",
        "#[foo(path = \"x\")] fn f() {}", "let path = (1); #[a] path = 2;", "$env!(x)",
        "use a::env; let x = b as env;", "fn include_str() {}", "my_include!(\"a\")", "r#mod x;",
        "#[path] fn f() {}"}) {
    EXPECT_EQ(check_error(text), "no error") << text;
  }
}

TEST(SelfContained, LooksOnlyIntoTheRange) {
  const std::string_view text = "mod x; fn f() {} env!(\"A\");";
  EXPECT_NO_THROW(check_self_contained("k.rs", text, {7, 16}));
  EXPECT_THROW(check_self_contained("k.rs", text, {7, 18}), Error);
}

// Each of these would take minutes if a scan began anew for every item.
TEST(RustSignature, LongInputIsReadInLinearTime) {
  constexpr int k_repeats = 40'000;
  for (const std::string_view piece :
       {"fn f<T: A, const N: u8>(x: In<T>) -> u8 where T: B {}", "#[cfg_attr(", "a::", "mod a;",
        "#[a]", "use x;", "<", "fn f<", "impl<A<", "pub(x) "}) {
    std::string text;
    for (int i = 0; i < k_repeats; ++i) text += piece;
    static_cast<void>(parse_error(text));
    static_cast<void>(check_error(text));
  }
  std::string generics;
  std::string arguments;
  std::string bounds;
  for (int i = 0; i < k_repeats; ++i) {
    const std::string name = "D" + std::to_string(i);
    generics += name + ',';
    arguments += "x:" + name + ',';
    bounds += name + ":Num,";
  }
  const std::string long_function =
      "fn f<" + generics + ">(" + arguments + ") where " + bounds + "{}";
  EXPECT_EQ(parse_error(long_function), "no error");
}

}  // namespace
}  // namespace teeny::tool
