// A sum without shared memory: the lanes of a warp add theirs up by shuffles, then each warp adds once to memory.
// Launch whole warps along x: a block size that is a multiple of 32.

/// The sum over all lanes of the warp; only lane 0 has it in full.
unsafe fn warp_sum(mut value: f32) -> f32 {
    let mut delta = WARP_SIZE / 2;
    while delta > 0 {
        value += shfl_down_sync(FULL_MASK, value, delta);
        delta /= 2;
    }
    value
}

/// *out += x[0] + x[1] + … + x[n - 1]
#[no_mangle]
pub unsafe extern "ptx-kernel" fn block_sum(n: u32, x: *const f32, out: *mut f32) {
    let mut sum = 0.0;
    for i in grid_stride(n as usize) {
        sum += *x.add(i);
    }
    // All lanes are back together here, those without an element too: FULL_MASK is true.
    sum = warp_sum(sum);
    if lane_id() == 0 {
        atomic_add(out, sum);
    }
}
