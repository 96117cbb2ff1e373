// Uses of everything that the device prelude offers, to see that it compiles cleanly everywhere; not meant to be run.

use core::ops::{Add, Mul};

#[derive(Clone, Copy, PartialEq)]
struct Complex {
    re: f32,
    im: f32,
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Up(u32),
    Down,
}

#[derive(Clone)]
struct Pair<T> {
    first: T,
    second: T,
}

impl<T> Pair<T> {
    fn swap(self) -> Pair<T> {
        Pair { first: self.second, second: self.first }
    }
}

struct Counter<const N: usize> {
    counts: [u32; N],
}

impl<const N: usize> Counter<N> {
    fn new() -> Self {
        Counter { counts: [0; N] }
    }

    fn count(&mut self, i: usize) {
        self.counts[i % N] += 1;
    }

    fn total(&self) -> u32 {
        let mut total = 0;
        for i in 0..self.counts.len() {
            total += self.counts[i];
        }
        total
    }
}

/// Cleans up: `Drop` runs at the end of the scope.
struct AddAtEnd {
    out: *mut u32,
}

impl Drop for AddAtEnd {
    fn drop(&mut self) {
        unsafe { *self.out += 1 }
    }
}

fn axpy<T: Copy + Add<Output = T> + Mul<Output = T>>(a: T, x: T, y: T) -> T {
    a * x + y
}

fn apply<T, U, F: Fn(T) -> U>(f: F, x: T) -> U {
    f(x)
}

/// A name that the prelude has too: the kernel's own wins.
fn lane_id() -> u32 {
    7
}

unsafe fn horner<const DEGREE: usize>(coefficients: &[f32; DEGREE], x: f32) -> f32 {
    let mut value = 0.0;
    let mut i = DEGREE;
    loop {
        if i == 0 {
            break value;
        }
        i -= 1;
        value = value * x + coefficients[i];
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn prelude_features(
    n: u32,
    x: *const f32,
    y: *mut f32,
    counts: *mut u32,
    wide: *mut u64,
) {
    let i = global_thread_x() + global_threads_y() * global_thread_z();
    if i >= n as usize || x.is_null() {
        return;
    }

    // Numbers.
    let mut f = x.add(i).read();
    f += 1.0;
    f -= 0.5;
    f *= 3.0;
    f /= 7.0;
    f %= 2.0;
    f = (-f).abs().sqrt().min(4.0).max(f32::NEG_INFINITY).mul_add(2.0, 1.0).floor() + f.ceil();
    f += f.exp2_approx() + f.log2_approx() + f.rsqrt_approx();
    let d = (f as f64).sqrt().mul_add(2.0, f64::EPSILON);
    let mut k = f as i32;
    k = -k;
    k <<= 3;
    k >>= 1u32;
    k ^= 0x55;
    k |= 1 << (i & 7);
    k &= !0x100;
    k = k.max(-5).wrapping_mul(3) % 17 + k / 5;
    let small = (k as u8 + 1) as i16 - 2;
    let wide_value = (k as i64 * 3) as u64 + small as u64 + (d.to_bits() >> 32);
    let flag = (f > 0.0) & !(k == 3) | (wide_value != 9) ^ f.is_nan();

    // Control flow.
    let mut sum = 0u32;
    for j in 0..n {
        sum += j ^ k as u32;
    }
    for j in (0..100i32).step_by(7) {
        sum += j as u32 * sum;
    }
    for j in 0..=255u8 {
        sum ^= j as u32 + sum;
    }
    'outer: while sum > 10 {
        for j in 2..5usize {
            if sum as usize % j == 0 {
                continue 'outer;
            }
            sum -= 1;
        }
        sum /= 3;
    }
    sum += match k {
        0 => 1,
        1 | 2 => 20,
        3..=9 => 300,
        _ if flag => 4000,
        _ => 0,
    };

    // Types.
    let z = axpy(Complex { re: f, im: 1.0 }, Complex { re: 2.0, im: f }, Complex { re: 0.0, im: 0.0 });
    if z == z.clone() {
        f = z.re + z.im;
    }
    let step = if flag { Step::Up(sum) } else { Step::Down };
    if step != Step::Down {
        sum += 1;
    }
    if let Step::Up(by) = step {
        sum += by;
    }
    let pair = Pair { first: sum, second: 2 }.clone().swap();
    let mut counter = Counter::<8>::new();
    counter.count(i);
    counter.counts[sum as usize & 15] += pair.first;
    sum += counter.total();
    let scale = 3.0;
    f += apply(|value: f32| value * scale, f) + horner(&[1.0, 2.0, 3.0], f);
    sum += Some(sum).map(|value| value + 1).unwrap_or(0) + lane_id();
    let reference = &mut sum;
    *reference += sum_of([1, 2, 3]);
    assert!(sum != 12345, "unlikely");

    // Pointers, atomics, warps and the block.
    let _end = AddAtEnd { out: counts.add(1) };
    y.offset(i as isize).write(f);
    *y.add(i + 1).sub(1) += shfl_xor_sync(FULL_MASK, f, 1);
    atomic_add(counts, sum);
    atomic_add(wide, wide_value);
    atomic_add(y, f);
    atomic_add(y.cast::<i32>(), k);
    atomic_max(counts, atomic_min(counts, shfl_up_sync(FULL_MASK, sum, 2)));
    atomic_exchange(y, shfl_sync(FULL_MASK, f, 0));
    thread_fence();
    sync_warp(FULL_MASK);
    sync_threads();
    if grid_dim_x() * grid_dim_y() * grid_dim_z() == block_dim_y() + block_dim_z() + block_idx_z() + thread_idx_z() {
        panic!("unlikely {}", 1);
    }
}

fn sum_of<const N: usize>(values: [u32; N]) -> u32 {
    let mut sum = 0;
    let mut i = 0;
    while i < N {
        sum += values[i];
        i += 1;
    }
    sum
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn second_kernel(out: *mut u32) {
    unsafe { *out = warp_of(thread_idx_x()) }
}

pub fn warp_of(thread: u32) -> u32 {
    thread / WARP_SIZE
}
