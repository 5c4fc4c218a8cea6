//! The facade's tests share these.
#![allow(dead_code)] // each test program uses a part of it

use std::sync::{Arc, OnceLock};

use kernelmill::driver::{CudaContext, CudaFunction, DriverError};
use kernelmill::nvrtc::{Ptx, compile_ptx};

pub type Tested = Result<(), Box<dyn std::error::Error>>;

pub const KERNELS: &str = r#"
extern "C" __global__ void scale(float* data, float factor, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

extern "C" __global__ void add(const float* a, const float* b, float* sum, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

extern "C" __global__ void reverse(int* out) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

// Writes to the last bytes of its dynamic shared memory, which has so many.
extern "C" __global__ void fill_shared(unsigned* out, unsigned size) {
  extern __shared__ unsigned words[];
  for (unsigned i = threadIdx.x; i < size / 4; i += blockDim.x) words[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = words[size / 4 - 1];
}

struct Config { float threshold; int rounds; double weight; };
extern "C" __global__ void configured(double* out, Config config, unsigned char last) {
  out[0] = config.threshold;
  out[1] = config.rounds;
  out[2] = config.weight;
  out[3] = last;
}

// Keeps its stream busy for a while: each step needs the one before.
extern "C" __global__ void slow(unsigned* out, unsigned steps) {
  unsigned x = *out;
  for (unsigned i = 0; i < steps; ++i) x = x * 1664525u + 1013904223u;
  *out = x;
}

extern "C" __global__ void empty() {}
extern "C" __global__ void wild(int* address) { *address = 1; }
extern "C" __global__ void trap() { __trap(); }
"#;

/// A context of its own, which a test may break.
pub fn own_context() -> Result<Arc<CudaContext>, DriverError> {
    CudaContext::new_non_primary(0, 0)
}

pub fn function(context: &Arc<CudaContext>, name: &str) -> CudaFunction {
    static PTX: OnceLock<Ptx> = OnceLock::new();
    let ptx = PTX.get_or_init(|| compile_ptx(KERNELS).expect("kernels that compile"));
    let module = context.load_module(ptx.clone()).expect("a module");
    module.load_function(name).expect("a kernel of this name")
}

/// The call failed with this result, and its text has this part.
#[track_caller]
pub fn expect_error<T>(result: Result<T, DriverError>, expected: DriverError, part: &str) {
    match result {
        Ok(_) => panic!("succeeded, expected {expected:?}"),
        Err(error) => {
            let text = error.to_string();
            assert_eq!(error, expected, "{text}");
            assert!(text.contains(part), "expected '{part}' in: {text}");
        }
    }
}
