pub fn vector_add<T: Triton, D: Num, const BLOCK_SIZE: i32>(
    a_ptr: T::Pointer<D>,
    b_ptr: T::Pointer<D>,
    c_ptr: T::Pointer<D>,
    n: i32,
) {
    let start = T::program_id(0) * BLOCK_SIZE;
    let at = T::arange(start, start + BLOCK_SIZE);
    let a = T::load::<D>(a_ptr, at, n);
    let b = T::load::<D>(b_ptr, at, n);
    T::store::<D>(c_ptr, at, n, T::add::<D>(a, b));
}

use triton::llvm::triton::num::*;
use triton::llvm::triton::pointer::LlvmPointer;
type LlvmTriton = triton::llvm::triton::LlvmTriton;

#[no_mangle]
pub extern "C" fn vector_add_entry_point(a_ptr: *mut f32, b_ptr: *mut f32, c_ptr: *mut f32, n: i32) {
    let a_ptr = LlvmPointer(a_ptr as *mut _);
    let b_ptr = LlvmPointer(b_ptr as *mut _);
    let c_ptr = LlvmPointer(c_ptr as *mut _);
    vector_add::<LlvmTriton, f32, 128>(a_ptr, b_ptr, c_ptr, n);
}
