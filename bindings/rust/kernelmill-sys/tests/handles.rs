//! Garbage, stale and wrong-type handles into every function of the raw layer: refused, without
//! effect, without a crash.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};

use kernelmill_sys::*;

/// For each function: 10^4, and 10^5 with KM_TEST_LONG=1.
fn rounds() -> u64 {
    if std::env::var_os("KM_TEST_LONG").is_some() { 100_000 } else { 10_000 }
}
const STALE_COUNT: usize = 64;
const OUT_BYTES: usize = 512;
const UNTOUCHED: u8 = 0x5A;

struct Values {
    out: [[u8; OUT_BYTES]; 4],
    text: &'static CStr,
    bytes: [u8; 64],
    config: km_launch_config,
}

impl Values {
    fn out<T>(&mut self, index: usize) -> *mut T {
        self.out[index].as_mut_ptr().cast()
    }

    fn bytes(&self) -> *const c_void {
        self.bytes.as_ptr().cast()
    }
}

struct HandleCall {
    name: &'static str,
    types: &'static [usize],
    null_is_fine: bool, // for the first handle
    call: fn(&[u64; 3], &mut Values) -> km_status,
}

fn handle<T>(value: u64) -> *mut T {
    without_provenance_mut(value as usize)
}

include!("generated/handle_calls.rs");

const PTX: &str = "\
    .version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry empty()\n{\n  ret;\n}\n";

/// Creates an object by a call that gives its handle out.
macro_rules! create {
    ($call:ident($($argument:expr),*)) => {{
        let mut made = null_mut();
        assert_eq!(unsafe { $call($($argument,)* &mut made) }, km_status::SUCCESS);
        made.addr() as u64
    }};
}

fn create_all() -> [u64; TYPE_COUNT] {
    let mut all = [0; TYPE_COUNT];
    let ptx: *const c_char = PTX.as_ptr().cast();
    all[DEVICE] = create!(km_device_open(c"cpu".as_ptr()));
    all[CONTEXT] = create!(km_context_create(handle(all[DEVICE])));
    let context = all[CONTEXT];
    all[STREAM] = create!(km_stream_create(handle(context), km_stream_flags::DEFAULT, 0));
    all[EVENT] = create!(km_event_create(handle(context), km_event_flags::DEFAULT));
    let no_flags = km_host_memory_flags::DEFAULT;
    all[HOST_MEMORY] = create!(km_host_memory_create(handle(context), 64, no_flags));
    all[SLICE] = create!(km_slice_create(handle(context), 16, 4, km_slice_flags::DEFAULT));
    all[PROGRAM] = create!(km_program_create(c"".as_ptr(), 0, null()));
    all[POOL] = create!(km_pool_create(handle(context), 0));
    all[MODULE] = create!(km_module_load_ptx(handle(context), ptx, PTX.len() as u64, null()));
    all[FUNCTION] = create!(km_module_function(handle(all[MODULE]), c"empty".as_ptr()));
    all[LAUNCH] = create!(km_launch_create(handle(all[STREAM]), handle(all[FUNCTION])));
    all[GRAPH] = create!(km_graph_create(handle(context)));
    all[GRAPH_EXEC] = create!(km_graph_exec_create(handle(all[GRAPH])));
    all[BLAS] = create!(km_blas_create(handle(all[STREAM]), km_blas_layout::ROWS));
    let shape = km_fft_shape {
        kind: km_fft_kind::COMPLEX,
        type_: km_data_type::F32,
        rank: 1,
        sizes: [8, 0, 0],
        batch_count: 1,
        ..Default::default()
    };
    all[FFT] = create!(km_fft_create(handle(all[STREAM]), &shape));
    let mut id = km_comm_id { bytes: [0; 128] };
    assert_eq!(unsafe { km_comm_id_create(handle(context), &mut id) }, km_status::SUCCESS);
    all[COMM] = create!(km_comm_create(handle(context), &id, 1, 0));
    all[TUNE] =
        create!(km_tune_create(handle(all[DEVICE]), ptx, PTX.len() as u64, c"empty".as_ptr()));
    all
}

fn destroy_all(all: &[u64; TYPE_COUNT]) {
    let statuses = unsafe {
        [
            km_device_destroy(handle(all[DEVICE])),
            km_context_destroy(handle(all[CONTEXT])),
            km_stream_destroy(handle(all[STREAM])),
            km_event_destroy(handle(all[EVENT])),
            km_host_memory_destroy(handle(all[HOST_MEMORY])),
            km_slice_destroy(handle(all[SLICE])),
            km_program_destroy(handle(all[PROGRAM])),
            km_pool_destroy(handle(all[POOL])),
            km_module_destroy(handle(all[MODULE])),
            km_function_destroy(handle(all[FUNCTION])),
            km_launch_destroy(handle(all[LAUNCH])),
            km_graph_destroy(handle(all[GRAPH])),
            km_graph_exec_destroy(handle(all[GRAPH_EXEC])),
            km_blas_destroy(handle(all[BLAS])),
            km_fft_destroy(handle(all[FFT])),
            km_comm_destroy(handle(all[COMM])),
            km_tune_destroy(handle(all[TUNE])),
        ]
    };
    assert_eq!(statuses, [km_status::SUCCESS; TYPE_COUNT]);
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

struct Objects {
    live: [u64; TYPE_COUNT],
    stale: Vec<[u64; TYPE_COUNT]>,
    random: Random,
}

impl Objects {
    fn new() -> Self {
        let stale = (0..STALE_COUNT).map(|_| create_all()).inspect(destroy_all).collect();
        Self { live: create_all(), stale, random: Random(88172645463325252) }
    }

    /// A value that is not a live handle of the type.
    fn bad_handle(&mut self, kind: usize, way: u64, null_is_fine: bool) -> u64 {
        let random = self.random.next();
        let live = self.live[kind];
        let other = (kind + 1 + random as usize % (TYPE_COUNT - 1)) % TYPE_COUNT;
        let bad = match way % 7 {
            0 => return self.stale[random as usize % STALE_COUNT][kind],
            1 => return self.live[other],
            2 => live ^ (1 << (random % 64)),
            3 => live.wrapping_add(random % 16).wrapping_sub(8),
            4 => (&raw const self.live[kind]).addr() as u64,
            5 if !null_is_fine => 0,
            _ => random,
        };
        if self.live.contains(&bad) { u64::MAX } else { bad }
    }
}

#[test]
fn bad_handles_into_every_function() {
    let mut objects = Objects::new();
    let mut values = Values {
        out: [[UNTOUCHED; OUT_BYTES]; 4],
        text: c"text",
        bytes: [0; 64],
        config: km_launch_config { grid: [1; 3], block: [1; 3], shared_bytes: 0 },
    };
    for entry in HANDLE_CALLS {
        for round in 0..rounds() {
            let mut handles = [0; 3];
            for (place, kind) in handles.iter_mut().zip(entry.types) {
                *place = objects.live[*kind];
            }
            let wrong = round as usize % entry.types.len();
            let null_is_fine = entry.null_is_fine && wrong == 0;
            handles[wrong] = objects.bad_handle(entry.types[wrong], round, null_is_fine);
            let status = (entry.call)(&handles, &mut values);
            let bad = handles[wrong];
            assert_eq!(status, km_status::ERROR_INVALID_HANDLE, "{} of {bad:#x}", entry.name);
        }
        assert!(values.out.as_flattened().iter().all(|byte| *byte == UNTOUCHED), "{}", entry.name);
    }
    destroy_all(&objects.live); // all of them are alive still
}

#[test]
fn every_handle_type_is_in_the_table() {
    for kind in 0..TYPE_COUNT {
        assert!(HANDLE_CALLS.iter().any(|entry| entry.types.contains(&kind)));
    }
    assert!(HANDLE_CALLS.len() > 70);
}
