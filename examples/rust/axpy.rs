//! axpy.rs - y = y + a x from Rust, as a compiler would emit it: key, entry, module and packet.
//!
//! The program includes no file of librex. rex-info --abi --json has the layouts, and
//! rex-codegen(7) the rules. As in C the linker makes a table of the section with the entry.
//!
//! Run it:  make && $(make -s print-O)/examples/rust/rust
//! By hand: rex-cc --images kernels.cu
//!          rustc --edition 2021 axpy.rs -L folder-of-librex -l rex \
//!              -C link-arg=-Wl,-z,nostart-stop-gc,-rpath,folder-of-librex
//!
//! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#![allow(unused_unsafe)] // older compilers need `unsafe` for the address of a static
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{addr_of, addr_of_mut, null, null_mut};

/// struct __tgt_offload_entry
#[repr(C)]
pub struct Entry {
    key: *const u8,
    name: *const u8,
    size: usize,
    flags: i32,
    reserved: i32,
}

/// struct rex_module; librex's own fields and unused fields are 0.
#[repr(C)]
pub struct Module {
    struct_size: u32,
    flags: u32,
    entries_begin: *const Entry,
    entries_end: *const Entry,
    image_name: *const u8,
    host_image_name: *const u8,
    others: [usize; 13],
}

/// struct __tgt_kernel_arguments
#[repr(C)]
struct Packet {
    version: u32,
    rows: u32,
    base: *const *mut c_void,
    begin: *const *mut c_void,
    sizes: *const i64,
    types: *const i64,
    names: *const c_void,
    mappers: *const c_void,
    trip_count: u64,
    flags: u64,
    teams: [u32; 3],
    threads: [u32; 3],
    dynamic_memory: u32,
}

extern "C" {
    #[link_name = "__start_omp_offloading_entries"]
    static ENTRIES: Entry;
    #[link_name = "__stop_omp_offloading_entries"]
    static ENTRIES_END: Entry;
    fn rex_module_target_kernel(module: *mut Module, device: i64, teams: i32, threads: i32,
                                key: *const u8, packet: *const Packet) -> c_int;
    fn rex_last_error() -> *const c_char;
}

/// The key's address stands for the kernel. The key is mutable, so no other object shares it.
#[export_name = "axpy__id__"]
static mut KEY: u8 = 0;
#[used]
#[export_name = "axpy__omp_offload_entry__"]
#[link_section = "omp_offloading_entries"]
static mut ENTRY: Entry = Entry {
    key: unsafe { addr_of!(KEY) },
    name: b"axpy__kernel__\0".as_ptr(),
    size: 0,
    flags: 0,
    reserved: 0,
};
static mut MODULE: Module = Module {
    struct_size: std::mem::size_of::<Module>() as u32,
    flags: 0,
    entries_begin: unsafe { addr_of!(ENTRIES) },
    entries_end: unsafe { addr_of!(ENTRIES_END) },
    image_name: b"rex_lib_nvidia.cubin\0".as_ptr(),
    host_image_name: b"rex_lib_host.so\0".as_ptr(),
    others: [0; 13],
};

const PARAMETER: i64 = 0x20;
const LITERAL: i64 = 0x100;
const TO: i64 = 0x1;
const FROM: i64 = 0x2;

fn axpy(a: f64, x: &[f64], y: &mut [f64]) -> Result<(), String> {
    let bytes = std::mem::size_of_val(x) as i64;
    let base = [
        x.len() as *mut c_void,
        a.to_bits() as *mut c_void,
        x.as_ptr() as *mut c_void,
        y.as_mut_ptr() as *mut c_void,
    ];
    let sizes = [8, 8, bytes, bytes];
    let value = PARAMETER | LITERAL;
    let types = [value, value, PARAMETER | TO, PARAMETER | TO | FROM];
    let packet = Packet {
        version: 3,
        rows: 4,
        base: base.as_ptr(),
        begin: base.as_ptr(),
        sizes: sizes.as_ptr(),
        types: types.as_ptr(),
        names: null(),
        mappers: null_mut(),
        trip_count: x.len() as u64,
        flags: 0,
        teams: [64, 1, 1],
        threads: [128, 1, 1],
        dynamic_memory: 0,
    };
    unsafe {
        match rex_module_target_kernel(addr_of_mut!(MODULE), -1, 64, 128, addr_of!(KEY), &packet) {
            0 => Ok(()),
            -1 => Err("nothing was launched".into()),
            _ => Err(CStr::from_ptr(rex_last_error()).to_string_lossy().into_owned()),
        }
    }
}

fn main() -> Result<(), String> {
    let x: Vec<f64> = (0..100000).map(f64::from).collect();
    let mut y = vec![1.0; x.len()];
    axpy(2.0, &x, &mut y)?;
    let wrong = x.iter().zip(&y).filter(|(x, y)| **y != 1.0 + 2.0 * **x).count();
    println!("y[{}] = {}, {} of {} values wrong", y.len() - 1, y[y.len() - 1], wrong, y.len());
    match wrong {
        0 => Ok(()),
        _ => Err("axpy is wrong".into()),
    }
}
