//! The Rust contestant: call_cost EMPTY.ptx. See ../README.md.

use std::process::ExitCode;
use std::time::Instant;

use kernelmill::{Context, Function, LaunchConfig, Result, Stream};

const BATCHES: usize = 200;
const QUERIES: usize = 20_000;
const LAUNCHES: usize = 2560;
const LAUNCHES_PER_WAIT: usize = 256;

fn query(stream: &Stream) -> Result<()> {
    for _ in 0..QUERIES {
        stream.is_done()?;
    }
    Ok(())
}

fn launch(stream: &Stream, function: &Function) -> Result<()> {
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    for call in 1..=LAUNCHES {
        // SAFETY: the kernel does nothing.
        unsafe { stream.launch_builder(function).launch(config) }?;
        if call % LAUNCHES_PER_WAIT == 0 {
            stream.synchronize()?;
        }
    }
    Ok(())
}

fn measure(metric: &str, calls: usize, mut run: impl FnMut() -> Result<()>) -> Result<()> {
    run()?;
    let mut least = f64::INFINITY;
    for _ in 0..BATCHES {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_nanos() as f64 / calls as f64);
    }
    println!("{{\"metric\": \"{metric}\", \"unit\": \"ns\", \"value\": {least:.3}}}");
    Ok(())
}

fn run(ptx: &str) -> Result<()> {
    let context = Context::open("cpu:0")?;
    let stream = context.new_stream()?;
    let function = context.load_file(ptx)?.load_function("empty")?;
    measure("status_query", QUERIES, || query(&stream))?;
    measure("launch_empty", LAUNCHES, || launch(&stream, &function))
}

fn main() -> ExitCode {
    let Some(ptx) = std::env::args().nth(1) else {
        eprintln!("usage: call_cost EMPTY.ptx");
        return ExitCode::from(2);
    };
    match run(&ptx) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("call_cost: {error}");
            ExitCode::FAILURE
        }
    }
}
