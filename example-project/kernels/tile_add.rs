// The tile language: one program of the grid works on a block of BLOCK_SIZE elements.

/// output[i] = x[i] + y[i] for i < n_elements
#[kernel]
pub fn tile_add<T: Triton, D: Num, const BLOCK_SIZE: i32>(
    x_ptr: T::Pointer<D>,
    y_ptr: T::Pointer<D>,
    output_ptr: T::Pointer<D>,
    n_elements: i32,
) where
    T::I32Tensor: Tensor<i32>,
{
    let pid = T::program_id(Axis::X);
    let offsets = T::arange(0, BLOCK_SIZE) + pid * BLOCK_SIZE;
    let mask = offsets.lt(n_elements);
    let x = T::load(x_ptr.add_offsets(offsets), Some(mask), None, &[], None, None, None, false);
    let y = T::load(y_ptr.add_offsets(offsets), Some(mask), None, &[], None, None, None, false);
    T::store(output_ptr.add_offsets(offsets), x + y, Some(mask), &[], None, None);
}
