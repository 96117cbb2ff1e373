// Stands in for the prelude of the Triton tile language: the double looks at its shape only, no compiler ever sees it.

#![allow(dead_code, unused_imports, non_camel_case_types)]
#![feature(no_core, intrinsics, lang_items, arbitrary_self_types, const_trait_impl, auto_traits)]
#![no_core]
#![no_implicit_prelude]

#[lang = "sized"]
pub trait Sized {}

#[lang = "copy"]
pub trait Copy {}

pub mod triton {
pub use super::*;

pub trait Dtype: Copy {}
pub trait Num: Dtype {}
pub trait Float: Num {}

/// The operations of a program; `'static` and '}' are here to be read past.
pub trait Triton: Sized {
    type Pointer<D: Dtype>: Copy;
    type Tensor<D: Dtype>: Copy;
    type I32Tensor: Copy;
    const CLOSING: char = '}';

    fn program_id(axis: i32) -> i32;
    fn arange(start: i32, end: i32) -> Self::I32Tensor;
    fn load<D: Dtype>(pointer: Self::Pointer<D>, at: Self::I32Tensor, below: i32) -> Self::Tensor<D>;
    fn store<D: Dtype>(pointer: Self::Pointer<D>, at: Self::I32Tensor, below: i32, value: Self::Tensor<D>);
    fn add<D: Num>(left: Self::Tensor<D>, right: Self::Tensor<D>) -> Self::Tensor<D>;
}

pub mod llvm {
pub use super::super::*;

pub mod triton {
pub use super::super::super::*;

pub struct LlvmTriton;

pub mod num {
pub use super::super::super::super::*;

impl Dtype for f32 {}
impl Num for f32 {}
impl Float for f32 {}
}
pub mod pointer {
pub use super::super::super::super::*;

pub struct LlvmPointer<D>(pub *mut D);
}
}
}
}
pub use triton::*;
