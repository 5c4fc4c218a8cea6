"""What the tests of the Python module have in common: kernels, a context, numpy where it is."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernelmill as km  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipUnless(numpy, "numpy is not installed")
ROOT = Path(__file__).resolve().parents[3]
KERNELS = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct Pair { int a; float b; };
enum class Colour : int { red, green = 7 };
extern "C" {
__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void count(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}
__global__ void sum4(float4 v, float* out) { *out = v.x + v.y * 10 + v.z * 100 + v.w * 1000; }
__global__ void pair(Pair p, float* out) { *out = p.a + p.b; }
__global__ void colour(Colour c, int* out) { *out = int(c); }
__global__ void kinds(signed char a, unsigned char b, short c, unsigned short d, unsigned e,
                      long long f, unsigned long long g, double h, bool i, __half j,
                      __nv_bfloat16 k, double* out) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = h;
  out[8] = i; out[9] = __half2float(j); out[10] = __bfloat162float(k);
}
__global__ void is_null(const int* p, int* out) { *out = p == nullptr; }
__global__ void same(int* a, int* b, int* out) { *out = a == b; }
__global__ void hello(int n) { printf("hello %d\n", n); }
__global__ void wild(int* out, int n) { out[n] = 1; }
__global__ void spin(volatile int* flag) { while (*flag == 0) {} }
__device__ int table[4] = {1, 2, 3, 4};
__global__ void shared(int* out) {
  extern __shared__ int room[];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
}
template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= FACTOR; }
"""
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry bits(.param .u64 out, .param .b32 raw, .param .u32 whole, .param .f32 real,
                     .param .b64 wide) {
  .reg .b64 %a<3>; .reg .b32 %r<3>; .reg .f32 %f;
  ld.param.u64 %a0, [out]; ld.param.b32 %r0, [raw]; ld.param.u32 %r1, [whole];
  ld.param.f32 %f, [real]; ld.param.b64 %a1, [wide];
  st.global.b32 [%a0], %r0; st.global.b32 [%a0+4], %r1; st.global.f32 [%a0+8], %f;
  st.global.b64 [%a0+16], %a1; ret;
}
"""


class Case(unittest.TestCase):
    """A context and the module of KERNELS, made once for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.context = km.Context("cpu")
        cls.module = cls.context.module(source=KERNELS, options=["-DFACTOR=2"],
                                        expressions=["twice<float>"])

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def kernel(self, name):
        return self.module.function(name)

    def said(self, kind, call, *arguments, **named):
        """The text of the exception that a call raises."""
        with self.assertRaises(kind) as raised:
            call(*arguments, **named)
        return str(raised.exception)
