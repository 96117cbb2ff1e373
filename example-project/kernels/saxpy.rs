// A grid-stride loop: any number of threads along x will do.

/// y[i] = a * x[i] + y[i] for i < n
#[no_mangle]
pub unsafe extern "ptx-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    for i in grid_stride(n as usize) {
        *y.add(i) = a.mul_add(*x.add(i), *y.add(i));
    }
}
