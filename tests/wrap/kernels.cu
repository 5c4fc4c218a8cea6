// Kernels with parameters of all kinds, for wrappers. PROGRAM_ONLY: those that the programs launch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
struct Point {
  float x, y;
};
struct alignas(16) Padded {
  char tag;
  double value;
  short list[3];
  Point points[2];
  float grid[2][3];
  const float* p;
};
struct Bits {
  int a : 3;
  int b : 5;
};
struct Base {
  int id;
};
struct Derived : Base {
  float w;
};
union Either {
  int i;
  float f;
};
struct Refs {
  float& r;
  int n;
};
struct Inner {
  unsigned char list[3];
};
struct Nested {
  Inner inner;
  long id;
};
struct Empty {};
struct alignas(32) Wide {
  float4 v;
  bool flags[3];
  __half h;
  __half2 pair;
  volatile int n;
};
struct type {
  int self, func, end;
};
struct Opaque;
namespace geo {
struct Line {
  Point a, b;
};
enum class Mode : short { on, off };
template <class T>
struct Box {
  T lo, hi;
};
#ifndef PROGRAM_ONLY
__global__ void shift(Line* lines, geo::Mode mode, int n) {
  if (threadIdx.x < n) lines[threadIdx.x].a.x += (int)mode;
}
__global__ void boxes(const Box<float>* in, Box<double> b, double* out) {
  out[0] = in[0].lo + b.hi;
}
#endif
}  // namespace geo
extern "C" {
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void vector_value(float4 v, float* out) { out[0] = v.w; }
__global__ void padded(Padded p, double* out) {
  out[0] = p.value + p.tag + p.list[1] + p.points[1].y + p.grid[1][2];
}
__global__ void lines(const geo::Line* in, geo::Line* out) { out[0] = in[0]; }
__global__ void modes(geo::Mode* modes, geo::Mode mode) { modes[0] = mode; }
__global__ void half_sum(const __half* x, const __half2* pairs, __half v, float* out) {
  out[0] = __half2float(x[0]) + __half2float(pairs[0].x) + __half2float(v);
}
#ifndef PROGRAM_ONLY
__global__ void by_address(const Padded* p, double* out) { out[0] = p->value; }
__global__ void bits(Bits b, int* out) { out[0] = b.a + b.b; }
__global__ void derived(Derived d, float* out) { out[0] = d.id + d.w; }
__global__ void either(Either e, float* out) { out[0] = e.f; }
__global__ void refs(Refs r, int* out) { out[0] = r.n; }
__global__ void vectors(const float4* a, int2* b, uchar3* c, double2* d, short4* e) {
  b[0].x = (int)a[0].w;
}
__global__ void halves(const __half* a, __half2* b, __nv_bfloat16* c, __half v) {
  b[0].x = a[0] + v;
}
__global__ void bytes(char* a, signed char* b, unsigned char* c, bool* d, bool v) { d[0] = v; }
__global__ void shorts(short* a, unsigned short* b) { a[0] = b[0]; }
__global__ void longs(long* a, unsigned long* b, long long* c, unsigned long long* d, size_t n) {
  a[0] = n;
}
__global__ void anything(void* p, const void* q) {}
__global__ void rows(float** p, int type, int in) {}
__global__ void nothing() {}
__global__ void reference(Point& p) { p.x = 1; }
__global__ void more_vectors(const ushort4* a, uint4* b, longlong2* c, const ulonglong2* d,
                             float3* e, char2* f) {
  b[0].x = a[0].x;
}
__global__ void volatile_flag(volatile int* flag, const volatile float* x) { flag[0] = (int)x[0]; }
__global__ void wide(__int128 a, unsigned __int128* b) { b[0] = a; }
__global__ void nested(Nested n, const Nested* m, int* out) {
  out[0] = n.inner.list[2] + m->inner.list[1];
}
__global__ void empty_struct(Empty e, int* out) { out[0] = 1; }
__global__ void const_values(const double a, const int b, double* out) { out[0] = a * b; }
__global__ void callback(void (*function)(int), int n) {}
__global__ void mixed_members(Wide w, const Wide* p, int* out) { out[0] = p->n + w.n; }
__global__ void func(int stream, int config, int launch, int self, type grid, const type* block) {}
__global__ void K_1(float* x) {}
__global__ void k_1(float* x, int _x, int x_) {}
__global__ void unnamed(int, float*, double) {}
__global__ void opaque(const Opaque* o, int n) {}
__global__ void eights(const __nv_fp8_e4m3* a, __nv_fp8_e5m2* b, __nv_fp8_e4m3 v) {
  b[0].__x = v.__x;
}
__global__ void bfloats(const __nv_bfloat162* a, __nv_bfloat16* b, __nv_bfloat16 v, float* out) {
  out[0] = __bfloat162float(v) + __bfloat162float(b[0]);
}
#endif
}
template <class T>
__global__ void scale(T* x, T factor, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= factor;
}
