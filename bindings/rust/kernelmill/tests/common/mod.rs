//! What the tests share.
#![allow(dead_code)] // each test program uses a part of it

use kernelmill::{Context, Function, Module, Result, Status};

pub const KERNELS: &str = r#"
extern "C" __global__ void empty() {}

extern "C" __global__ void scale(float* data, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

extern "C" __global__ void add(const int* a, const int* b, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

struct Point { float x, y; int tag; };
extern "C" __global__ void widths(double* out, unsigned char a, short b, int c, long long d,
                                  float e, double f, Point point, unsigned char last) {
  double values[] = {double(a), double(b), double(c), double(d), double(e), f, double(point.x),
                     double(point.y), double(point.tag), double(last)};
  for (int i = 0; i < 10; ++i) out[i] = values[i];
}

extern "C" __global__ void sum_many(int* out, int a, int b, int c, int d, int e, int f, int g,
    int h, int i, int j, int k, int l, int m, int n, int o, int p, long long q[1], long long r[1],
    long long s, long long t, long long u, long long v, long long w, long long x, long long y,
    long long* z0, long long* z1, long long* z2, long long* z3, long long* z4, long long* z5,
    long long* z6, long long* z7) {
  *out = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + s + t + u + v + w + x + y
      + *q + *r + *z0 + *z1 + *z2 + *z3 + *z4 + *z5 + *z6 + *z7;
}

extern "C" __global__ void dynamic_shared(int* out) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void wild(int* address) { *address = 1; }
extern "C" __global__ void trap() { __trap(); }
extern "C" __global__ void hello(int n) { printf("hello %d\n", n); }

__device__ int counters[4] = {1, 2, 3, 4};
"#;

pub fn context() -> Context {
    Context::open("cpu").expect("a CPU device")
}

pub fn module(context: &Context) -> Module {
    context.load_source(KERNELS).expect("kernels that compile")
}

pub fn function(context: &Context, name: &str) -> Function {
    module(context).load_function(name).expect("a kernel of this name")
}

/// The call failed with this status, and its text has this part.
#[track_caller]
pub fn expect_error<T>(result: Result<T>, status: Status, part: &str) {
    match result {
        Ok(_) => panic!("succeeded, expected {status:?}"),
        Err(error) => {
            assert_eq!(error.status(), status, "{error}");
            assert!(error.message().contains(part), "expected '{part}' in: {error}");
        }
    }
}
