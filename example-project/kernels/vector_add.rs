// One thread an element: launch at least n threads along x.

/// c[i] = a[i] + b[i] for i < n
#[no_mangle]
pub unsafe extern "ptx-kernel" fn vector_add(n: u32, a: *const f32, b: *const f32, c: *mut f32) {
    let i = global_thread_x();
    if i < n as usize {
        *c.add(i) = *a.add(i) + *b.add(i);
    }
}
