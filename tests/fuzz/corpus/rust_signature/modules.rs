pub mod a { mod r#in { fn f<T>() where T: teeny::Triton {} } mod x; }
impl<T> S<{ 1 > 2 }> { fn m(&self) {} }
macro_rules! m { ($x:ident) => { fn $x() {} } }
::core::asm!("x");
const X: S = S { a: 1 };
use a::{b, c};
