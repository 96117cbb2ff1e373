#[unsafe(no_mangle)] pub unsafe extern "C" fn k_entry_point(x: *const f32, y: *mut u8, n: usize) {}
fn k<T: Triton>() {}
