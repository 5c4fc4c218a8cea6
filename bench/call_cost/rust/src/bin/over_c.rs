//! The cost that the Rust layer adds to calls of the C ABI: over_c EMPTY.ptx. See
//! ../../../README.md.

use std::process::ExitCode;
use std::time::Instant;

use kernelmill::{Context, Function, LaunchConfig, Result, Slice, Stream, sys};

const PAIRS: usize = 200; // of batches
const QUERIES: usize = 20_000;
const LAUNCHES: usize = 2560;
const LAUNCHES_PER_WAIT: usize = 256;

const SUMS: &str = r#"
.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 a, .param .u64 b, .param .f32 factor, .param .u32 count)
{
  ret;
}
"#;

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
const RAW_ONE: sys::km_launch_config =
    sys::km_launch_config { grid: [1; 3], block: [1; 3], shared_bytes: 0 };

/// A status, checked as a C program does it.
#[inline]
fn is_success(status: sys::km_status) -> bool {
    status == sys::km_status::SUCCESS
}

/// Arguments as C programs pass them.
#[repr(C)]
struct SumsArguments {
    a: u64,
    b: u64,
    factor: f32,
    count: i32,
}

struct Bench {
    stream: Stream,
    empty: Function,
    sums: Function,
    a: Slice<f32>,
    b: Slice<f32>,
    factor: f32,
    count: i32,
}

impl Bench {
    fn query(&self) -> bool {
        matches!(self.stream.is_done(), Ok(true))
    }

    fn query_raw(&self) -> bool {
        // SAFETY: handles are checked ids.
        is_success(unsafe { sys::km_stream_query(self.stream.as_raw()) })
    }

    fn launch(&self) -> bool {
        // SAFETY: the kernel does nothing.
        unsafe { self.stream.launch_builder(&self.empty).launch(ONE) }.is_ok()
    }

    fn launch_raw(&self) -> bool {
        let (stream, function) = (self.stream.as_raw(), self.empty.as_raw());
        let (none, no_operands) = (std::ptr::null(), std::ptr::null());
        // SAFETY: handles are checked ids, and the kernel has no parameters.
        is_success(unsafe {
            sys::km_launch_kernel_operands(stream, function, &RAW_ONE, none, 0, no_operands, 0)
        })
    }

    fn launch_sums(&mut self) -> bool {
        let mut launch = self.stream.launch_builder(&self.sums);
        launch.arg(&self.a).arg(&mut self.b).arg(&self.factor).arg(&self.count);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(ONE) }.is_ok()
    }

    fn launch_sums_raw(&mut self) -> bool {
        let arguments = SumsArguments { a: 0, b: 0, factor: self.factor, count: self.count };
        let operand = |parameter, access, slice: &Slice<f32>| sys::km_launch_operand {
            parameter,
            access,
            slice: slice.as_raw().addr() as u64,
            offset_bytes: 0,
            size_bytes: 4 * slice.len() as u64,
        };
        let operands = [
            operand(0, sys::km_access::READ, &self.a),
            operand(1, sys::km_access::READ_WRITE, &self.b),
        ];
        let (stream, function) = (self.stream.as_raw(), self.sums.as_raw());
        let (arguments, operands) = ((&raw const arguments).cast(), operands.as_ptr());
        // SAFETY: the arguments lie as the kernel's parameters do, and live through the call.
        is_success(unsafe {
            sys::km_launch_kernel_operands(stream, function, &RAW_ONE, arguments, 24, operands, 2)
        })
    }
}

/// Nanoseconds for each of the calls.
fn batch(
    bench: &mut Bench,
    calls: usize,
    per_wait: usize,
    call: fn(&mut Bench) -> bool,
) -> Result<f64> {
    let start = Instant::now();
    let mut succeeded = true;
    for number in 1..=calls {
        succeeded &= call(bench);
        if number % per_wait == 0 {
            bench.stream.synchronize()?;
        }
    }
    assert!(succeeded, "a call failed");
    Ok(start.elapsed().as_nanos() as f64 / calls as f64)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Batches of the two in turn, the first one changing.
fn compare(
    bench: &mut Bench,
    metric: &str,
    (calls, per_wait): (usize, usize),
    pair: [fn(&mut Bench) -> bool; 2],
) -> Result<()> {
    let (mut native, mut differences) = (Vec::new(), Vec::new());
    for turn in 0..=PAIRS {
        let first = turn % 2;
        let mut times = [0.0; 2];
        for index in [first, 1 - first] {
            times[index] = batch(bench, calls, per_wait, pair[index])?;
        }
        if turn > 0 {
            native.push(times[0]);
            differences.push(times[0] - times[1]);
        }
    }
    for (name, value) in [("", median(native)), ("_over_c", median(differences))] {
        println!("{{\"metric\": \"{metric}{name}\", \"unit\": \"ns\", \"value\": {value:.3}}}");
    }
    Ok(())
}

fn run(ptx: &str) -> Result<()> {
    let context = Context::open("cpu:0")?;
    let stream = context.new_stream()?;
    let mut bench = Bench {
        empty: context.load_file(ptx)?.load_function("empty")?,
        sums: context.load_ptx(SUMS)?.load_function("sums")?,
        a: stream.alloc_zeros(1000)?,
        b: stream.alloc_zeros(1000)?,
        factor: 2.0,
        count: 1000,
        stream,
    };
    let (queries, launches) = ((QUERIES, QUERIES), (LAUNCHES, LAUNCHES_PER_WAIT));
    compare(&mut bench, "query", queries, [|b| b.query(), |b| b.query_raw()])?;
    compare(&mut bench, "launch", launches, [|b| b.launch(), |b| b.launch_raw()])?;
    compare(&mut bench, "launch_of_4", launches, [Bench::launch_sums, Bench::launch_sums_raw])
}

fn main() -> ExitCode {
    let Some(ptx) = std::env::args().nth(1) else {
        eprintln!("usage: over_c EMPTY.ptx");
        return ExitCode::from(2);
    };
    match run(&ptx) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("over_c: {error}");
            ExitCode::FAILURE
        }
    }
}
