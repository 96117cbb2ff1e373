// The device prelude of FRONTEND rust.
//
// A kernel is compiled as this text followed by the kernel's own, as one `no_core` crate for
// `nvptx64-nvidia-cuda`, so that no standard library for that target has to be installed. What a kernel
// may use is everything below, without any `use` line. Names defined by the kernel win over these.
// The parts of Rust's core that are here have its names and meanings and are reachable as `core::…` too.
// Not here: statics, slices and strings, formatting, `?`, iterator adaptors, shared memory.
//
// Needs rustc 1.90 or newer with RUSTC_BOOTSTRAP=1.

#![no_core]
#![feature(abi_ptx, asm_experimental_arch, auto_traits, cfg_version, decl_macro)]
#![feature(intrinsics, lang_items, link_llvm_intrinsics, no_core, prelude_import, rustc_attrs, unboxed_closures)]
#![rustc_coherence_is_core]
#![allow(internal_features, incomplete_features, stable_features)]

extern crate self as core;

// What derives and `core::…` name.
#[allow(unused_imports)]
use self::device_prelude::{clone, cmp, intrinsics, iter, marker, ops, option};

/// Everything a kernel can name, in every module of it, unless it has an item of that name itself.
#[allow(unnecessary_transmutes)]
pub mod device_prelude {
    pub use self::clone::Clone;
    pub use self::cmp::{PartialEq, PartialOrd};
    pub use self::iter::{grid_stride, IntoIterator, Iterator};
    pub use self::marker::{Copy, PhantomData, Sized};
    pub use self::ops::*;
    pub use self::option::Option::{self, None, Some};
    pub use self::builtin::{asm, assert, derive, panic, unreachable};
    pub use self::{atomic::*, thread::*, warp::*};

    // ---- Markers: what the compiler asks of types -------------------------------------------------------

    pub mod marker {
        use super::Option;

        #[lang = "pointee_sized"]
        pub trait PointeeSized {}
        #[lang = "meta_sized"]
        pub trait MetaSized: PointeeSized {}
        /// Types whose size is known at compile time.
        #[lang = "sized"]
        pub trait Sized: MetaSized {}

        /// Types that are duplicated by copying their bits.
        #[lang = "copy"]
        pub trait Copy: super::Clone {}
        /// Derives `Copy`.
        #[rustc_builtin_macro] pub macro Copy($item:item) {}
        macro_rules! copy {
            ($($t:ty)*) => { $(impl Copy for $t {})* };
        }
        copy! { bool char i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64 }
        impl<T: PointeeSized> Copy for *const T {}
        impl<T: PointeeSized> Copy for *mut T {}
        impl<T: PointeeSized> Copy for &T {}
        impl<T: Copy, const N: usize> Copy for [T; N] {}
        impl<T: Copy> Copy for Option<T> {}

        /// Types without interior mutability (known to the compiler only).
        #[lang = "freeze"]
        pub unsafe auto trait Freeze {}
        /// Types that may be moved at will.
        #[lang = "unpin"]
        pub auto trait Unpin {}
        #[lang = "unsafe_unpin"]
        pub unsafe auto trait UnsafeUnpin {}
        #[lang = "destruct"]
        pub trait Destruct: PointeeSized {}
        #[lang = "tuple_trait"]
        pub trait Tuple {}
        #[lang = "structural_peq"]
        pub trait StructuralPartialEq {}

        #[lang = "discriminant_kind"]
        pub trait DiscriminantKind {
            #[lang = "discriminant_type"]
            type Discriminant;
        }

        #[lang = "legacy_receiver"]
        pub trait LegacyReceiver {}
        impl<T: PointeeSized> LegacyReceiver for &T {}
        impl<T: PointeeSized> LegacyReceiver for &mut T {}

        /// Stands for a `T` in a type that holds none.
        #[lang = "phantom_data"]
        pub struct PhantomData<T: PointeeSized>;
        impl<T: PointeeSized> Copy for PhantomData<T> {}
        impl<T: PointeeSized> super::Clone for PhantomData<T> {
            #[inline(always)] fn clone(&self) -> Self { *self }
        }
    }

    pub mod clone {
        use super::Option;
        use super::marker::{Copy, PointeeSized, Sized};

        /// Types that can be duplicated.
        #[lang = "clone"]
        pub trait Clone: Sized {
            /// Returns a duplicate of `self`.
            fn clone(&self) -> Self;
        }
        /// Derives `Clone`.
        #[rustc_builtin_macro] pub macro Clone($item:item) {}
        macro_rules! clone_by_copy {
            ($([$($parameters:tt)*] $t:ty,)*) => { $(
                impl<$($parameters)*> Clone for $t {
                    #[inline(always)] fn clone(&self) -> Self { *self }
                }
            )* };
        }
        clone_by_copy! {
            [] bool, [] char, [] i8, [] u8, [] i16, [] u16, [] i32, [] u32, [] i64, [] u64, [] isize, [] usize,
            [] f32, [] f64, [T: PointeeSized] *const T, [T: PointeeSized] *mut T, [T: PointeeSized] &T,
            [T: Copy, const N: usize] [T; N], [T: Copy] Option<T>,
        }

        // `#[derive(Clone)]` writes these two names.
        pub struct AssertParamIsClone<T: Clone>(super::PhantomData<T>);
        pub unsafe trait TrivialClone: Clone {}
    }

    // ---- Operators --------------------------------------------------------------------------------------

    pub mod ops {
        use super::marker::{PointeeSized, Tuple};

        // Each entry: lang item, trait, method, sign; the same with assignment; the types that have it.
        macro_rules! binary_operators {
            ($($(#[$doc:meta])* $lang:literal $Trait:ident $method:ident $op:tt,
               $lang_assign:literal $Assign:ident $method_assign:ident $op_assign:tt: $($t:ty)*;)*) => { $(
                $(#[$doc])*
                #[lang = $lang]
                pub trait $Trait<Rhs = Self> {
                    /// The type of the result.
                    type Output;
                    /// Returns `self` and `rhs` combined.
                    fn $method(self, rhs: Rhs) -> Self::Output;
                }
                $(#[$doc])*
                /// This is the form that assigns.
                #[lang = $lang_assign]
                pub trait $Assign<Rhs = Self> {
                    /// Combines `rhs` into `self`.
                    fn $method_assign(&mut self, rhs: Rhs);
                }
                $(binary_operator! { $Trait $method $op, $Assign $method_assign $op_assign: $t, $t })*
            )* };
        }
        macro_rules! binary_operator {
            ($Trait:ident $method:ident $op:tt, $Assign:ident $method_assign:ident $op_assign:tt: $t:ty, $rhs:ty) => {
                impl $Trait<$rhs> for $t {
                    type Output = $t;
                    #[inline(always)] fn $method(self, rhs: $rhs) -> $t { self $op rhs }
                }
                impl $Assign<$rhs> for $t {
                    #[inline(always)] fn $method_assign(&mut self, rhs: $rhs) { *self $op_assign rhs }
                }
            };
        }
        binary_operators! {
            /// Addition; integers wrap.
            "add" Add add +, "add_assign" AddAssign add_assign +=:
                i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
            /// Subtraction; integers wrap.
            "sub" Sub sub -, "sub_assign" SubAssign sub_assign -=:
                i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
            /// Multiplication; integers wrap.
            "mul" Mul mul *, "mul_assign" MulAssign mul_assign *=:
                i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
            /// Division; by an integer zero, a trap.
            "div" Div div /, "div_assign" DivAssign div_assign /=:
                i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
            /// Remainder; by an integer zero, a trap.
            "rem" Rem rem %, "rem_assign" RemAssign rem_assign %=:
                i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
            /// And, bit by bit.
            "bitand" BitAnd bitand &, "bitand_assign" BitAndAssign bitand_assign &=:
                bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize;
            /// Or, bit by bit.
            "bitor" BitOr bitor |, "bitor_assign" BitOrAssign bitor_assign |=:
                bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize;
            /// Exclusive or, bit by bit.
            "bitxor" BitXor bitxor ^, "bitxor_assign" BitXorAssign bitxor_assign ^=:
                bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize;
            /// Shift to the left, by `rhs` modulo the width in bits.
            "shl" Shl shl <<, "shl_assign" ShlAssign shl_assign <<=: ;
            /// Shift to the right, by `rhs` modulo the width in bits; signed types keep their sign.
            "shr" Shr shr >>, "shr_assign" ShrAssign shr_assign >>=: ;
        }
        macro_rules! shifts {
            ($($t:ty)*) => { $(
                shifts! { $t: i8 u8 i16 u16 i32 u32 i64 u64 isize usize }
            )* };
            ($t:ty: $($rhs:ty)*) => { $(
                binary_operator! { Shl shl <<, ShlAssign shl_assign <<=: $t, $rhs }
                binary_operator! { Shr shr >>, ShrAssign shr_assign >>=: $t, $rhs }
            )* };
        }
        shifts! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize }

        macro_rules! unary_operator {
            ($(#[$doc:meta])* $lang:literal $Trait:ident $method:ident $op:tt: $($t:ty)*) => {
                $(#[$doc])*
                #[lang = $lang]
                pub trait $Trait {
                    /// The type of the result.
                    type Output;
                    /// Applies the operator to `self`.
                    fn $method(self) -> Self::Output;
                }
                $(
                    impl $Trait for $t {
                        type Output = $t;
                        #[inline(always)] fn $method(self) -> $t { $op self }
                    }
                )*
            };
        }
        unary_operator! {
            /// Negation; integers wrap.
            "neg" Neg neg -: i8 i16 i32 i64 isize f32 f64
        }
        unary_operator! {
            /// Logical not, bit by bit for integers.
            "not" Not not !: bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize
        }

        /// What `*x` reads.
        #[lang = "deref"]
        pub trait Deref {
            /// The type behind the reference.
            #[lang = "deref_target"]
            type Target: PointeeSized;
            /// Returns a reference to the value.
            fn deref(&self) -> &Self::Target;
        }
        /// What `*x = …` writes.
        #[lang = "deref_mut"]
        pub trait DerefMut: Deref {
            /// Returns a mutable reference to the value.
            fn deref_mut(&mut self) -> &mut Self::Target;
        }
        impl<T: PointeeSized> Deref for &T {
            type Target = T;
            #[inline(always)] fn deref(&self) -> &T { *self }
        }
        impl<T: PointeeSized> Deref for &mut T {
            type Target = T;
            #[inline(always)] fn deref(&self) -> &T { *self }
        }
        impl<T: PointeeSized> DerefMut for &mut T {
            #[inline(always)] fn deref_mut(&mut self) -> &mut T { *self }
        }

        /// What `x[i]` reads; an index out of bounds is a trap.
        #[lang = "index"]
        pub trait Index<Idx: PointeeSized> {
            /// The type of an element.
            type Output: PointeeSized;
            /// Returns a reference to the element.
            fn index(&self, index: Idx) -> &Self::Output;
        }
        /// What `x[i] = …` writes; an index out of bounds is a trap.
        #[lang = "index_mut"]
        pub trait IndexMut<Idx: PointeeSized>: Index<Idx> {
            /// Returns a mutable reference to the element.
            fn index_mut(&mut self, index: Idx) -> &mut Self::Output;
        }
        impl<T, const N: usize> Index<usize> for [T; N] {
            type Output = T;
            #[inline(always)] fn index(&self, index: usize) -> &T { &self[index] }
        }
        impl<T, const N: usize> IndexMut<usize> for [T; N] {
            #[inline(always)] fn index_mut(&mut self, index: usize) -> &mut T { &mut self[index] }
        }

        /// Closures that can be called once.
        #[lang = "fn_once"]
        #[rustc_paren_sugar]
        pub trait FnOnce<Args: Tuple> {
            /// The type of the result.
            #[lang = "fn_once_output"]
            type Output;
            extern "rust-call" fn call_once(self, args: Args) -> Self::Output;
        }
        /// Closures that may change what they hold.
        #[lang = "fn_mut"]
        #[rustc_paren_sugar]
        pub trait FnMut<Args: Tuple>: FnOnce<Args> {
            extern "rust-call" fn call_mut(&mut self, args: Args) -> Self::Output;
        }
        /// Closures that only read what they hold.
        #[lang = "fn"]
        #[rustc_paren_sugar]
        pub trait Fn<Args: Tuple>: FnMut<Args> {
            extern "rust-call" fn call(&self, args: Args) -> Self::Output;
        }

        /// Types that clean up when they go out of scope.
        #[lang = "drop"]
        pub trait Drop {
            /// Cleans up.
            fn drop(&mut self);
        }
        // The compiler writes the body of this one. Its name and parameter changed in 1.97.
        #[cfg(not(version("1.97")))]
        #[lang = "drop_in_place"]
        unsafe fn drop_in_place<T: PointeeSized>(_: *mut T) {}
        #[cfg(version("1.97"))]
        #[lang = "drop_glue"]
        unsafe fn drop_glue<T: PointeeSized>(_: &mut T) {}

        /// `start..end`, without the end.
        #[lang = "Range"]
        pub struct Range<Idx> {
            /// The first value.
            pub start: Idx,
            /// The value behind the last.
            pub end: Idx,
        }
        /// `start..=end`, with the end.
        #[lang = "RangeInclusive"]
        pub struct RangeInclusive<Idx> {
            pub(super) start: Idx,
            pub(super) end: Idx,
        }
        impl<Idx> RangeInclusive<Idx> {
            /// Returns `start..=end`.
            #[lang = "range_inclusive_new"]
            #[inline(always)]
            pub const fn new(start: Idx, end: Idx) -> Self { RangeInclusive { start, end } }
        }
    }

    pub mod cmp {
        use super::marker::PointeeSized;

        /// `==` and `!=`.
        #[lang = "eq"]
        pub trait PartialEq<Rhs: PointeeSized = Self>: PointeeSized {
            /// Whether the two are equal.
            fn eq(&self, other: &Rhs) -> bool;
            /// Whether the two differ.
            #[inline(always)] fn ne(&self, other: &Rhs) -> bool { !self.eq(other) }
        }
        /// Derives `PartialEq`.
        #[rustc_builtin_macro] pub macro PartialEq($item:item) {}
        /// `<`, `<=`, `>` and `>=`.
        #[lang = "partial_ord"]
        pub trait PartialOrd<Rhs: PointeeSized = Self>: PartialEq<Rhs> {
            /// Whether `self` is less.
            fn lt(&self, other: &Rhs) -> bool;
            /// Whether `self` is less or equal.
            fn le(&self, other: &Rhs) -> bool;
            /// Whether `self` is greater.
            fn gt(&self, other: &Rhs) -> bool;
            /// Whether `self` is greater or equal.
            fn ge(&self, other: &Rhs) -> bool;
        }
        macro_rules! compare {
            ($([$($parameters:tt)*] $t:ty,)*) => { $(
                impl<$($parameters)*> PartialEq for $t {
                    #[inline(always)] fn eq(&self, other: &Self) -> bool { *self == *other }
                    #[inline(always)] fn ne(&self, other: &Self) -> bool { *self != *other }
                }
                impl<$($parameters)*> PartialOrd for $t {
                    #[inline(always)] fn lt(&self, other: &Self) -> bool { *self < *other }
                    #[inline(always)] fn le(&self, other: &Self) -> bool { *self <= *other }
                    #[inline(always)] fn gt(&self, other: &Self) -> bool { *self > *other }
                    #[inline(always)] fn ge(&self, other: &Self) -> bool { *self >= *other }
                }
            )* };
        }
        compare! {
            [] bool, [] char, [] i8, [] u8, [] i16, [] u16, [] i32, [] u32, [] i64, [] u64, [] isize, [] usize,
            [] f32, [] f64, [T] *const T, [T] *mut T,
        }
        impl<A: PointeeSized + PartialEq<B>, B: PointeeSized> PartialEq<&B> for &A {
            #[inline(always)] fn eq(&self, other: &&B) -> bool { **self == **other }
        }
    }

    // ---- Option and `for` -------------------------------------------------------------------------------

    pub mod option {
        use super::ops::FnOnce;
        use self::Option::{None, Some};

        /// A value, or none.
        pub enum Option<T> {
            /// No value.
            #[lang = "None"]
            None,
            /// This value.
            #[lang = "Some"]
            Some(T),
        }
        impl<T> Option<T> {
            /// Whether there is a value.
            #[inline(always)] pub const fn is_some(&self) -> bool {
                match self {
                    Some(_) => true,
                    None => false,
                }
            }
            /// Whether there is none.
            #[inline(always)] pub const fn is_none(&self) -> bool { !self.is_some() }
            /// The value; a trap if there is none.
            #[inline(always)] pub fn unwrap(self) -> T {
                match self {
                    Some(value) => value,
                    None => super::trap(),
                }
            }
            /// The value, or else `default`.
            #[inline(always)] pub fn unwrap_or(self, default: T) -> T {
                match self {
                    Some(value) => value,
                    None => default,
                }
            }
            /// `f` of the value, if there is one.
            #[inline(always)] pub fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Option<U> {
                match self {
                    Some(value) => Some(f(value)),
                    None => None,
                }
            }
        }
    }

    pub mod iter {
        use super::ops::{Range, RangeInclusive};
        use super::{Copy, None, Option, PartialOrd, Sized, Some};

        /// A sequence of values.
        #[lang = "iterator"]
        pub trait Iterator {
            /// The type of a value.
            type Item;
            /// Returns the next value, or `None` at the end.
            #[lang = "next"]
            fn next(&mut self) -> Option<Self::Item>;
        }
        /// What `for` goes through.
        pub trait IntoIterator: Sized {
            /// The type of a value.
            type Item;
            /// The type of the sequence.
            type IntoIter: Iterator<Item = Self::Item>;
            /// Returns the sequence.
            #[lang = "into_iter"]
            fn into_iter(self) -> Self::IntoIter;
        }
        impl<I: Iterator> IntoIterator for I {
            type Item = I::Item;
            type IntoIter = I;
            #[inline(always)] fn into_iter(self) -> I { self }
        }

        /// Integers, as the bounds of a range.
        pub trait Step: Copy + PartialOrd {
            /// The integer after `self`; that of the largest is the smallest.
            fn successor(self) -> Self;
            /// `self + count`, or `end` if that is not below `end`; `self` is below `end`.
            fn forward(self, count: usize, end: Self) -> Self;
        }
        macro_rules! step {
            ($($t:ty as $unsigned:ty,)*) => { $(
                impl Step for $t {
                    #[inline(always)] fn successor(self) -> $t { self.wrapping_add(1) }
                    #[inline(always)] fn forward(self, count: usize, end: $t) -> $t {
                        let left = (end as $unsigned).wrapping_sub(self as $unsigned) as usize;
                        if left > count { self.wrapping_add(count as $t) } else { end }
                    }
                }
            )* };
        }
        step! {
            i8 as u8, u8 as u8, i16 as u16, u16 as u16, i32 as u32, u32 as u32, i64 as u64, u64 as u64,
            isize as usize, usize as usize,
        }

        impl<T: Step> Iterator for Range<T> {
            type Item = T;
            #[inline(always)] fn next(&mut self) -> Option<T> {
                if self.start < self.end {
                    let value = self.start;
                    self.start = value.successor();
                    Some(value)
                } else {
                    None
                }
            }
        }
        /// What `for` goes through for `start..=end`.
        pub struct Inclusive<T> {
            next: T,
            end: T,
            more: bool,
        }
        impl<T: Step> IntoIterator for RangeInclusive<T> {
            type Item = T;
            type IntoIter = Inclusive<T>;
            #[inline(always)] fn into_iter(self) -> Inclusive<T> {
                Inclusive { next: self.start, end: self.end, more: self.start <= self.end }
            }
        }
        impl<T: Step> Iterator for Inclusive<T> {
            type Item = T;
            #[inline(always)] fn next(&mut self) -> Option<T> {
                if self.more {
                    let value = self.next;
                    self.more = value < self.end;
                    self.next = value.successor();
                    Some(value)
                } else {
                    None
                }
            }
        }

        /// A range of which only every `step`th value is taken.
        pub struct StepBy<T> {
            start: T,
            end: T,
            step: usize,
        }
        impl<T: Step> Range<T> {
            /// Returns `start`, `start + step` and so on, below `end`. A step of 0 is a trap.
            #[inline(always)] pub fn step_by(self, step: usize) -> StepBy<T> {
                if step == 0 {
                    super::trap()
                }
                StepBy { start: self.start, end: self.end, step }
            }
        }
        impl<T: Step> Iterator for StepBy<T> {
            type Item = T;
            #[inline(always)] fn next(&mut self) -> Option<T> {
                if self.start < self.end {
                    let value = self.start;
                    self.start = value.forward(self.step, self.end);
                    Some(value)
                } else {
                    None
                }
            }
        }

        /// The indices of a grid-stride loop: see `grid_stride`.
        pub struct GridStride {
            next: usize,
            count: usize,
            step: usize,
        }
        /// The indices below `count` that fall to this thread in a grid-stride loop along x:
        /// `global_thread_x()`, then on by `global_threads_x()`.
        #[inline(always)] pub fn grid_stride(count: usize) -> GridStride {
            GridStride { next: super::global_thread_x(), count, step: super::global_threads_x() }
        }
        impl Iterator for GridStride {
            type Item = usize;
            #[inline(always)] fn next(&mut self) -> Option<usize> {
                if self.next < self.count {
                    let index = self.next;
                    // No grid is large enough to overflow this for any count that memory has room for.
                    self.next = index + self.step;
                    Some(index)
                } else {
                    None
                }
            }
        }
    }

    // ---- Macros and attributes --------------------------------------------------------------------------

    pub mod builtin {
        /// Derives `Clone`, `Copy` and `PartialEq`.
        #[rustc_builtin_macro] pub macro derive($item:item) {}
        /// PTX instructions, as in `asm!("membar.gl;")`.
        #[rustc_builtin_macro] pub macro asm($template:expr, $($arguments:tt)*) {}

        /// Traps when the condition does not hold; a message is not kept.
        pub macro assert($condition:expr $(, $($message:tt)*)?) {
            if !$condition {
                $crate::device_prelude::trap()
            }
        }
        /// Traps; a message is not kept.
        pub macro panic($($message:tt)*) {
            $crate::device_prelude::trap()
        }
        /// Traps: the code should not be reachable.
        pub macro unreachable($($message:tt)*) {
            $crate::device_prelude::trap()
        }
    }

    /// Ends the kernel with an error, as `__trap()` does: the launch fails and the context is lost.
    #[inline(always)] pub fn trap() -> ! { intrinsics::abort() }

    // What checked operations call when they fail. Overflow is checked only if a kernel's OPTIONS ask for it.
    mod panicking {
        macro_rules! panics {
            ($($lang:literal $name:ident($($argument:ty),*))*) => { $(
                #[lang = $lang]
                #[cold] #[inline]
                #[track_caller]
                fn $name($(_: $argument),*) -> ! { super::trap() }
            )* };
        }
        panics! {
            "panic_bounds_check" bounds_check(usize, usize)
            "panic_const_add_overflow" add_overflow()
            "panic_const_sub_overflow" sub_overflow()
            "panic_const_mul_overflow" mul_overflow()
            "panic_const_div_overflow" div_overflow()
            "panic_const_rem_overflow" rem_overflow()
            "panic_const_neg_overflow" neg_overflow()
            "panic_const_shl_overflow" shl_overflow()
            "panic_const_shr_overflow" shr_overflow()
            "panic_const_div_by_zero" div_by_zero()
            "panic_const_rem_by_zero" rem_by_zero()
        }
        #[lang = "panic_location"]
        struct Location<'a> {
            _file: &'a str,
            _line: u32,
            _column: u32,
        }
    }

    // ---- Numbers ----------------------------------------------------------------------------------------

    pub mod intrinsics {
        use super::Copy;

        #[rustc_intrinsic] pub fn abort() -> !;
        #[rustc_intrinsic] pub const fn size_of<T>() -> usize;
        #[rustc_intrinsic]
        pub const fn discriminant_value<T>(value: &T) -> <T as super::marker::DiscriminantKind>::Discriminant;
        #[rustc_intrinsic] pub const unsafe fn transmute<Src, Dst>(source: Src) -> Dst;
        #[rustc_intrinsic] pub const unsafe fn offset<Pointer, Count>(pointer: Pointer, count: Count) -> Pointer;
        #[rustc_intrinsic] pub const unsafe fn read_via_copy<T>(source: *const T) -> T;
        #[rustc_intrinsic] pub const unsafe fn write_via_move<T>(destination: *mut T, value: T);
        #[rustc_intrinsic] pub const fn wrapping_add<T: Copy>(a: T, b: T) -> T;
        #[rustc_intrinsic] pub const fn wrapping_sub<T: Copy>(a: T, b: T) -> T;
        #[rustc_intrinsic] pub const fn wrapping_mul<T: Copy>(a: T, b: T) -> T;
        #[rustc_intrinsic] pub const fn ctpop<T: Copy>(value: T) -> u32;
        #[rustc_intrinsic] pub const fn ctlz<T: Copy>(value: T) -> u32;
        #[rustc_intrinsic] pub const fn cttz<T: Copy>(value: T) -> u32;
    }

    // Intrinsics of LLVM, whose names and types have been the same from LLVM 20 on.
    mod llvm {
        macro_rules! llvm {
            ($($link_name:literal fn $name:ident($($argument:ident: $t:ty),*) $(-> $result:ty)?;)*) => {
                unsafe extern "C" { $(
                    #[link_name = $link_name]
                    pub safe fn $name($($argument: $t),*) $(-> $result)?;
                )* }
            };
        }
        llvm! {
            "llvm.nvvm.bar.warp.sync" fn bar_warp_sync(mask: u32);
            "llvm.nvvm.shfl.sync.idx.i32" fn shfl_idx_i32(mask: u32, value: i32, lane: u32, clamp: u32) -> i32;
            "llvm.nvvm.shfl.sync.up.i32" fn shfl_up_i32(mask: u32, value: i32, delta: u32, clamp: u32) -> i32;
            "llvm.nvvm.shfl.sync.down.i32" fn shfl_down_i32(mask: u32, value: i32, delta: u32, clamp: u32) -> i32;
            "llvm.nvvm.shfl.sync.bfly.i32" fn shfl_xor_i32(mask: u32, value: i32, lanes: u32, clamp: u32) -> i32;
            "llvm.sqrt.f32" fn sqrt_f32(x: f32) -> f32;
            "llvm.sqrt.f64" fn sqrt_f64(x: f64) -> f64;
            "llvm.fabs.f32" fn abs_f32(x: f32) -> f32;
            "llvm.fabs.f64" fn abs_f64(x: f64) -> f64;
            "llvm.floor.f32" fn floor_f32(x: f32) -> f32;
            "llvm.floor.f64" fn floor_f64(x: f64) -> f64;
            "llvm.ceil.f32" fn ceil_f32(x: f32) -> f32;
            "llvm.ceil.f64" fn ceil_f64(x: f64) -> f64;
            "llvm.minnum.f32" fn min_f32(a: f32, b: f32) -> f32;
            "llvm.minnum.f64" fn min_f64(a: f64, b: f64) -> f64;
            "llvm.maxnum.f32" fn max_f32(a: f32, b: f32) -> f32;
            "llvm.maxnum.f64" fn max_f64(a: f64, b: f64) -> f64;
            "llvm.fma.f32" fn fma_f32(a: f32, b: f32, c: f32) -> f32;
            "llvm.fma.f64" fn fma_f64(a: f64, b: f64, c: f64) -> f64;
        }
    }

    mod numbers {
        use super::builtin::asm;
        use super::{intrinsics, llvm};

        macro_rules! integers {
            ($($t:ident, $bits:literal, $min:expr, $max:expr;)*) => { $(
                impl $t {
                    /// The smallest value.
                    pub const MIN: $t = $min;
                    /// The largest value.
                    pub const MAX: $t = $max;
                    /// The width in bits.
                    pub const BITS: u32 = $bits;
                    /// The lesser of the two.
                    #[inline(always)] pub fn min(self, other: $t) -> $t { if other < self { other } else { self } }
                    /// The greater of the two.
                    #[inline(always)] pub fn max(self, other: $t) -> $t { if other < self { self } else { other } }
                    /// The sum, modulo 2 to the width.
                    #[inline(always)]
                    pub const fn wrapping_add(self, other: $t) -> $t { intrinsics::wrapping_add(self, other) }
                    /// The difference, modulo 2 to the width.
                    #[inline(always)]
                    pub const fn wrapping_sub(self, other: $t) -> $t { intrinsics::wrapping_sub(self, other) }
                    /// The product, modulo 2 to the width.
                    #[inline(always)]
                    pub const fn wrapping_mul(self, other: $t) -> $t { intrinsics::wrapping_mul(self, other) }
                    /// How many bits are 1, as `__popc`.
                    #[inline(always)] pub const fn count_ones(self) -> u32 { intrinsics::ctpop(self) }
                    /// How many bits above the highest 1, as `__clz`.
                    #[inline(always)] pub const fn leading_zeros(self) -> u32 { intrinsics::ctlz(self) }
                    /// How many bits below the lowest 1.
                    #[inline(always)] pub const fn trailing_zeros(self) -> u32 { intrinsics::cttz(self) }
                }
            )* };
        }
        integers! {
            i8, 8, -0x80, 0x7f; u8, 8, 0, 0xff; i16, 16, -0x8000, 0x7fff; u16, 16, 0, 0xffff;
            i32, 32, -0x8000_0000, 0x7fff_ffff; u32, 32, 0, 0xffff_ffff;
            i64, 64, -0x8000_0000_0000_0000, 0x7fff_ffff_ffff_ffff; u64, 64, 0, 0xffff_ffff_ffff_ffff;
            isize, 64, -0x8000_0000_0000_0000, 0x7fff_ffff_ffff_ffff; usize, 64, 0, 0xffff_ffff_ffff_ffff;
        }
        macro_rules! signed {
            ($($t:ident)*) => { $(
                impl $t {
                    /// The absolute value; that of `MIN` is `MIN`.
                    #[inline(always)]
                    pub const fn abs(self) -> $t { if self < 0 { intrinsics::wrapping_sub(0, self) } else { self } }
                }
            )* };
        }
        signed! { i8 i16 i32 i64 isize }

        macro_rules! floats {
            ($($t:ident, $bits:ident, $max:expr, $epsilon:expr,
               $sqrt:ident $abs:ident $floor:ident $ceil:ident $min:ident $max_of:ident $fma:ident;)*) => { $(
                impl $t {
                    /// The largest finite value.
                    pub const MAX: $t = $max;
                    /// The smallest finite value.
                    pub const MIN: $t = -$max;
                    /// The difference between 1 and the next larger value.
                    pub const EPSILON: $t = $epsilon;
                    /// Infinity.
                    pub const INFINITY: $t = 1.0 / 0.0;
                    /// Minus infinity.
                    pub const NEG_INFINITY: $t = -1.0 / 0.0;
                    /// The square root, correctly rounded.
                    #[inline(always)] pub fn sqrt(self) -> $t { llvm::$sqrt(self) }
                    /// The absolute value.
                    #[inline(always)] pub fn abs(self) -> $t { llvm::$abs(self) }
                    /// The largest integer that is not above.
                    #[inline(always)] pub fn floor(self) -> $t { llvm::$floor(self) }
                    /// The smallest integer that is not below.
                    #[inline(always)] pub fn ceil(self) -> $t { llvm::$ceil(self) }
                    /// The lesser of the two; if one is NaN, the other.
                    #[inline(always)] pub fn min(self, other: $t) -> $t { llvm::$min(self, other) }
                    /// The greater of the two; if one is NaN, the other.
                    #[inline(always)] pub fn max(self, other: $t) -> $t { llvm::$max_of(self, other) }
                    /// `self * a + b`, rounded once.
                    #[inline(always)] pub fn mul_add(self, a: $t, b: $t) -> $t { llvm::$fma(self, a, b) }
                    /// Whether this is not a number.
                    #[inline(always)] pub const fn is_nan(self) -> bool { self != self }
                    /// The bits.
                    #[inline(always)] pub const fn to_bits(self) -> $bits { unsafe { intrinsics::transmute(self) } }
                    /// The value of these bits.
                    #[inline(always)]
                    pub const fn from_bits(bits: $bits) -> $t { unsafe { intrinsics::transmute(bits) } }
                }
            )* };
        }
        floats! {
            f32, u32, 3.40282347e+38, 1.1920929e-7, sqrt_f32 abs_f32 floor_f32 ceil_f32 min_f32 max_f32 fma_f32;
            f64, u64, 1.7976931348623157e+308, 2.2204460492503131e-16,
                sqrt_f64 abs_f64 floor_f64 ceil_f64 min_f64 max_f64 fma_f64;
        }

        macro_rules! approximations {
            ($($(#[$doc:meta])* $name:ident $instruction:literal)*) => {
                impl f32 { $(
                    $(#[$doc])*
                    #[inline(always)] pub fn $name(self) -> f32 {
                        let result: f32;
                        unsafe {
                            asm!($instruction, out(reg32) result, in(reg32) self, options(pure, nomem, nostack));
                        }
                        result
                    }
                )* }
            };
        }
        approximations! {
            /// 2 to the power of `self`, fast and within 2 ulp.
            exp2_approx "ex2.approx.f32 {}, {};"
            /// The logarithm to base 2, fast and roughly.
            log2_approx "lg2.approx.f32 {}, {};"
            /// 1 over the square root, fast and roughly.
            rsqrt_approx "rsqrt.approx.f32 {}, {};"
        }
    }

    // ---- Pointers ---------------------------------------------------------------------------------------

    mod pointers {
        use super::intrinsics;

        macro_rules! pointers {
            ($($qualifier:ident)*) => { $(
                impl<T> *$qualifier T {
                    /// Whether the pointer is null.
                    #[inline(always)] pub fn is_null(self) -> bool { self as usize == 0 }
                    /// The pointer `count` elements on.
                    ///
                    /// # Safety
                    /// Both pointers must be inside one allocation, or just behind it.
                    #[inline(always)]
                    pub const unsafe fn offset(self, count: isize) -> Self {
                        unsafe { intrinsics::offset(self, count) }
                    }
                    /// The pointer `count` elements on.
                    ///
                    /// # Safety
                    /// Both pointers must be inside one allocation, or just behind it.
                    #[inline(always)]
                    pub const unsafe fn add(self, count: usize) -> Self { unsafe { intrinsics::offset(self, count) } }
                    /// The pointer `count` elements back.
                    ///
                    /// # Safety
                    /// Both pointers must be inside one allocation, or just behind it.
                    #[inline(always)] pub const unsafe fn sub(self, count: usize) -> Self {
                        unsafe { intrinsics::offset(self, intrinsics::wrapping_sub(0, count as isize)) }
                    }
                    /// The value in memory.
                    ///
                    /// # Safety
                    /// The pointer must be aligned, and the memory hold a `T` that no thread is writing.
                    #[inline(always)]
                    pub unsafe fn read(self) -> T { unsafe { intrinsics::read_via_copy(self as *const T) } }
                    /// The same address as a pointer to `U`.
                    #[inline(always)] pub const fn cast<U>(self) -> *$qualifier U { self as *$qualifier U }
                }
            )* };
        }
        pointers! { const mut }
        impl<T> *mut T {
            /// Stores a value, without a look at what was there.
            ///
            /// # Safety
            /// The pointer must be aligned, and the memory be this thread's to write.
            #[inline(always)] pub unsafe fn write(self, value: T) { unsafe { intrinsics::write_via_move(self, value) } }
        }
        impl<T, const N: usize> [T; N] {
            /// How many elements there are.
            #[inline(always)] pub const fn len(&self) -> usize { N }
            /// A pointer to the first element.
            #[inline(always)] pub const fn as_ptr(&self) -> *const T { self as *const [T; N] as *const T }
            /// A pointer to the first element, for writing.
            #[inline(always)] pub const fn as_mut_ptr(&mut self) -> *mut T { self as *mut [T; N] as *mut T }
        }
    }

    // ---- Threads, blocks and the grid -------------------------------------------------------------------

    pub mod thread {
        use super::builtin::asm;

        macro_rules! special_registers {
            ($($name:ident $link_name:literal $doc:literal)*) => { $(
                #[doc = $doc]
                #[inline(always)] pub fn $name() -> u32 {
                    unsafe extern "C" {
                        #[link_name = $link_name]
                        safe fn register() -> u32;
                    }
                    register()
                }
            )* };
        }
        special_registers! {
            thread_idx_x "llvm.nvvm.read.ptx.sreg.tid.x" "threadIdx.x: the thread's index in its block."
            thread_idx_y "llvm.nvvm.read.ptx.sreg.tid.y" "threadIdx.y: the thread's index in its block."
            thread_idx_z "llvm.nvvm.read.ptx.sreg.tid.z" "threadIdx.z: the thread's index in its block."
            block_idx_x "llvm.nvvm.read.ptx.sreg.ctaid.x" "blockIdx.x: the block's index in the grid."
            block_idx_y "llvm.nvvm.read.ptx.sreg.ctaid.y" "blockIdx.y: the block's index in the grid."
            block_idx_z "llvm.nvvm.read.ptx.sreg.ctaid.z" "blockIdx.z: the block's index in the grid."
            block_dim_x "llvm.nvvm.read.ptx.sreg.ntid.x" "blockDim.x: threads in a block."
            block_dim_y "llvm.nvvm.read.ptx.sreg.ntid.y" "blockDim.y: threads in a block."
            block_dim_z "llvm.nvvm.read.ptx.sreg.ntid.z" "blockDim.z: threads in a block."
            grid_dim_x "llvm.nvvm.read.ptx.sreg.nctaid.x" "gridDim.x: blocks in the grid."
            grid_dim_y "llvm.nvvm.read.ptx.sreg.nctaid.y" "gridDim.y: blocks in the grid."
            grid_dim_z "llvm.nvvm.read.ptx.sreg.nctaid.z" "gridDim.z: blocks in the grid."
            lane_id "llvm.nvvm.read.ptx.sreg.laneid" "The thread's lane, its index in its warp: 0 to 31."
        }

        macro_rules! global_indices {
            ($($index:ident $count:ident: $thread:ident $block:ident $dim:ident $grid:ident;)*) => { $(
                /// The thread's index in the whole grid along this axis: blockIdx * blockDim + threadIdx.
                /// It is a `usize`, since a large grid has more threads than an `u32` counts.
                #[inline(always)] pub fn $index() -> usize { $block() as usize * $dim() as usize + $thread() as usize }
                /// The threads of the whole grid along this axis: gridDim * blockDim.
                #[inline(always)] pub fn $count() -> usize { $grid() as usize * $dim() as usize }
            )* };
        }
        global_indices! {
            global_thread_x global_threads_x: thread_idx_x block_idx_x block_dim_x grid_dim_x;
            global_thread_y global_threads_y: thread_idx_y block_idx_y block_dim_y grid_dim_y;
            global_thread_z global_threads_z: thread_idx_z block_idx_z block_dim_z grid_dim_z;
        }

        /// Waits for all threads of the block, as `__syncthreads()`; their writes before it are then visible.
        ///
        /// # Safety
        /// Every thread of the block that has not ended must come to a barrier as often as the others.
        //
        // Without `.aligned`: rustc's and LLVM's jump threading duplicate calls, so that lanes of one warp may
        // wait at different copies. The PTX ISA allows that here, and for the `.sync` forms of warps, from sm_70 on.
        #[inline(always)] pub unsafe fn sync_threads() { unsafe { asm!("barrier.sync 0;", options(nostack)) } }

        /// Orders the thread's writes before this for every thread of the device, as `__threadfence()`.
        #[inline(always)] pub fn thread_fence() { unsafe { asm!("membar.gl;", options(nostack)) } }
    }

    // ---- Warps ------------------------------------------------------------------------------------------

    pub mod warp {
        use super::{llvm, Copy};

        /// Threads in a warp.
        pub const WARP_SIZE: u32 = 32;
        /// The mask that names all lanes of a warp.
        pub const FULL_MASK: u32 = 0xffff_ffff;

        /// Types that lanes exchange.
        pub trait Shuffle: Copy {
            #[doc(hidden)]
            fn to_lane(self) -> i32;
            #[doc(hidden)]
            fn from_lane(bits: i32) -> Self;
        }
        macro_rules! shuffle {
            ($($t:ty: $value:ident $to:expr, $bits:ident $from:expr;)*) => { $(
                impl Shuffle for $t {
                    #[inline(always)] fn to_lane(self) -> i32 { let $value = self; $to }
                    #[inline(always)] fn from_lane($bits: i32) -> $t { $from }
                }
            )* };
        }
        shuffle! {
            i32: value value, bits bits;
            u32: value value as i32, bits bits as u32;
            f32: value value.to_bits() as i32, bits f32::from_bits(bits as u32);
        }

        macro_rules! shuffles {
            ($($(#[$doc:meta])* $name:ident $lane:ident $intrinsic:ident $clamp:literal)*) => { $(
                $(#[$doc])*
                ///
                /// # Safety
                /// The lanes in `mask` are those that come here, and the calling lane is one of them.
                #[inline(always)] pub unsafe fn $name<T: Shuffle>(mask: u32, value: T, $lane: u32) -> T {
                    T::from_lane(llvm::$intrinsic(mask, value.to_lane(), $lane, $clamp))
                }
            )* };
        }
        shuffles! {
            /// The `value` of lane `lane`, as `__shfl_sync`.
            shfl_sync lane shfl_idx_i32 0x1f
            /// The `value` of the lane `delta` below; the lowest `delta` lanes keep theirs. As `__shfl_up_sync`.
            shfl_up_sync delta shfl_up_i32 0
            /// The `value` of the lane `delta` above; the highest `delta` lanes keep theirs. As `__shfl_down_sync`.
            shfl_down_sync delta shfl_down_i32 0x1f
            /// The `value` of the lane whose number is this one's exclusive-or `lanes`, as `__shfl_xor_sync`.
            shfl_xor_sync lanes shfl_xor_i32 0x1f
        }

        /// Waits for the lanes in `mask`, as `__syncwarp`; their writes before it are then visible.
        ///
        /// # Safety
        /// The lanes in `mask` are those that come here, and the calling lane is one of them.
        #[inline(always)] pub unsafe fn sync_warp(mask: u32) { llvm::bar_warp_sync(mask) }
    }

    // ---- Atomics ----------------------------------------------------------------------------------------

    pub mod atomic {
        use super::builtin::asm;
        use super::Copy;

        // For each type and operation: the PTX instruction, on generic addresses, relaxed, for the whole device.
        macro_rules! atomics {
            ($($(#[$doc:meta])* $name:ident $Trait:ident {
                $($t:ident $register:ident $instruction:literal)*
            })*) => { $(
                $(#[$doc])*
                /// Relaxed, and atomic for the whole device; the address is in global or shared memory.
                ///
                /// # Safety
                /// The address must be aligned and valid, and other threads touch it only by atomics meanwhile.
                #[inline(always)] pub unsafe fn $name<T: $Trait>(address: *mut T, value: T) -> T {
                    unsafe { T::$name(address, value) }
                }
                #[doc(hidden)]
                pub trait $Trait: Copy {
                    unsafe fn $name(address: *mut Self, value: Self) -> Self;
                }
                $(
                    impl $Trait for $t {
                        #[inline(always)] unsafe fn $name(address: *mut $t, value: $t) -> $t {
                            let old: $t;
                            unsafe {
                                asm!($instruction, out($register) old, in(reg64) address, in($register) value,
                                     options(nostack));
                            }
                            old
                        }
                    }
                )*
            )* };
        }
        atomics! {
            /// Adds `value` in memory and returns what was there, as `atomicAdd`.
            atomic_add AtomicAdd {
                i32 reg32 "atom.add.s32 {}, [{}], {};"
                u32 reg32 "atom.add.u32 {}, [{}], {};"
                u64 reg64 "atom.add.u64 {}, [{}], {};"
                f32 reg32 "atom.add.f32 {}, [{}], {};"
                f64 reg64 "atom.add.f64 {}, [{}], {};"
            }
            /// Stores the lesser of `value` and what was there, and returns what was there, as `atomicMin`.
            atomic_min AtomicMin {
                i32 reg32 "atom.min.s32 {}, [{}], {};"
                u32 reg32 "atom.min.u32 {}, [{}], {};"
                i64 reg64 "atom.min.s64 {}, [{}], {};"
                u64 reg64 "atom.min.u64 {}, [{}], {};"
            }
            /// Stores the greater of `value` and what was there, and returns what was there, as `atomicMax`.
            atomic_max AtomicMax {
                i32 reg32 "atom.max.s32 {}, [{}], {};"
                u32 reg32 "atom.max.u32 {}, [{}], {};"
                i64 reg64 "atom.max.s64 {}, [{}], {};"
                u64 reg64 "atom.max.u64 {}, [{}], {};"
            }
            /// Stores `value` and returns what was there, as `atomicExch`.
            atomic_exchange AtomicExchange {
                i32 reg32 "atom.exch.b32 {}, [{}], {};"
                u32 reg32 "atom.exch.b32 {}, [{}], {};"
                u64 reg64 "atom.exch.b64 {}, [{}], {};"
                f32 reg32 "atom.exch.b32 {}, [{}], {};"
            }
        }
    }
}

// This has to stand behind the module.
#[allow(unused_imports)]
#[prelude_import]
use self::device_prelude::*;
