fn f() { core::include_str!("a"); env != (3); }
#[cfg_attr(a, path = "b")] mod m {}
use core::env as e; option_env!["A"];
