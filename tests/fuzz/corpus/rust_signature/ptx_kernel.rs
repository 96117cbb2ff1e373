#![no_std]
#[export_name = "s"] extern "ptx-kernel" fn k(x: *mut f32) { loop {} }
