use teeny::*;
/// Adds.
#[kernel(dtypes = [f32])]
pub fn add<T: Triton, D: Num, const BLOCK: i32>(
  a: In<T::Pointer<D>>, mut b: teeny::Out<T::Pointer<D>>, _: i32, c: D,
) where T::Tensor<D>: Add<Output = T::Tensor<D>> { let x = "}"; }
