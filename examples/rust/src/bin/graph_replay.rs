//! Heat that spreads over a plate: a hundred steps are captured once, as a graph with its copies to
//! and from the host, and replayed for one plate after the other. It checks each against the host.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use kernelmill::{Capture, Context, Function, LaunchConfig, Slice};

const KERNEL: &str = r#"
extern "C" __global__ void spread(const float* old, float* heat, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x;
  bool is_border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
  heat[i] = is_border ? old[i]
                      : 0.25f * ((old[i - 1] + old[i + 1]) + (old[i - width] + old[i + width]));
}
"#;
const WIDTH: usize = 96;
const HEIGHT: usize = 64;
const STEPS: usize = 100;
const PLATES: usize = 20;

/// Captures a step, from one plate to the other.
fn capture_step(
    capture: &Capture,
    spread: &Function,
    old: &Slice<f32>,
    heat: &mut Slice<f32>,
) -> kernelmill::Result<()> {
    let mut launch = capture.launch_builder(spread);
    launch.arg(old).arg(heat).arg(&(WIDTH as i32)).arg(&(HEIGHT as i32));
    let config = LaunchConfig {
        grid_dim: ((WIDTH as u32).div_ceil(32), (HEIGHT as u32).div_ceil(8), 1),
        block_dim: (32, 8, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the kernel stays within the plates, and each launch of the graph has them to itself.
    unsafe { launch.launch(config) }
}

/// A step on the host, by the same operations.
fn step(old: &[f32]) -> Vec<f32> {
    let mut heat = old.to_vec();
    for y in 1..HEIGHT - 1 {
        for x in 1..WIDTH - 1 {
            let i = y * WIDTH + x;
            heat[i] = 0.25 * ((old[i - 1] + old[i + 1]) + (old[i - WIDTH] + old[i + WIDTH]));
        }
    }
    heat
}

/// A plate that is hot on one side.
fn plate(number: usize) -> Vec<f32> {
    (0..WIDTH * HEIGHT).map(|i| if i % WIDTH == 0 { number as f32 + 1.0 } else { 0.0 }).collect()
}

fn run() -> Result<(), Box<dyn Error>> {
    let context = Context::open("auto")?;
    let spread = context.load_source(KERNEL)?.load_function("spread")?;
    let len = WIDTH * HEIGHT;
    let (mut a, mut b) = (context.alloc_zeros(len)?, context.alloc_zeros(len)?);
    let (input, output) = (context.alloc_graph_buffer(len)?, context.alloc_graph_buffer(len)?);

    let capture = context.begin_capture()?;
    capture.upload(&input, &mut a)?;
    for _ in 0..STEPS / 2 {
        capture_step(&capture, &spread, &a, &mut b)?;
        capture_step(&capture, &spread, &b, &mut a)?;
    }
    capture.download(&a, &output)?;
    let graph = capture.end()?;
    let exec = graph.instantiate()?;

    let stream = context.default_stream()?;
    let mut expected: Vec<Vec<f32>> = (0..PLATES).map(plate).collect();
    let start = Instant::now();
    let mut results = Vec::new();
    for plate in &expected {
        input.lock()?.copy_from_slice(plate); // waits until no launch uses the buffer
        exec.launch(&stream)?;
        results.push(output.lock()?.to_vec());
    }
    let nodes = graph.nodes()?.len();
    println!("{nodes} nodes, replayed {PLATES} times in {:?}", start.elapsed());
    for (plate, result) in expected.iter_mut().zip(results) {
        (0..STEPS).for_each(|_| *plate = step(plate));
        if *plate != result {
            return Err("a plate differs from the host's".into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    run().map_or_else(
        |error| {
            eprintln!("graph_replay: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
