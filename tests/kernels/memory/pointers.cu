// Calls through pointers: tables, arguments, virtual functions, pointers that travel in memory.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef u32 (*Operation)(u32, u32);

__device__ __noinline__ u32 add(u32 a, u32 b) { return a + b; }
__device__ __noinline__ u32 subtract(u32 a, u32 b) { return a - b; }
__device__ __noinline__ u32 times(u32 a, u32 b) { return a * b; }
__device__ __noinline__ u32 sum_to(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 k = 0; k < b % 16; ++k) sum += a + k;
  return sum;
}

__device__ Operation operations[4] = {add, subtract, times, sum_to};
__constant__ Operation first_operation = times;

extern "C" __global__ void by_table(u32* out, const u32* a, const u32* b, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = operations[a[i] % 4](a[i], b[i]) + first_operation(a[i], 2);
}

// In memory from one kernel to the next, and past the host.
extern "C" __global__ void give(Operation* chosen) {
  chosen[INDEX()] = threadIdx.x % 3 == 0 ? subtract : operations[threadIdx.x % 4];
}

extern "C" __global__ void take(u32* out, const Operation* chosen, u32 a, u32 b) {
  out[INDEX()] = chosen[INDEX()](a, b);
}

__device__ __noinline__ u32 fold(const u32* values, u32 count, Operation operation) {
  if (count == 1) return values[0];
  return operation(fold(values, count - 1, operation), values[count - 1]);
}

extern "C" __global__ void folds(u32* out, const u32* values, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = fold(values, 1 + i % 9, operations[i % 4]);
}

class Shape {
 public:
  __device__ virtual float area() const = 0;
  __device__ virtual float scaled(float by) const { return by * area(); }
  float size;
};
class Square : public Shape {
 public:
  __device__ float area() const override { return size * size; }
};
class Frame : public Square {
 public:
  __device__ float area() const override { return size * 4; }
  __device__ float scaled(float by) const override { return Square::scaled(by) + 1; }
};

extern "C" __global__ void virtual_calls(float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  Square square;
  Frame frame;
  square.size = i;
  frame.size = i + 0.5f;
  const Shape* shape = i % 3 == 0 ? static_cast<Shape*>(&square) : &frame;
  out[i] = shape->scaled(0.25f) + shape->area();
}

extern "C" __global__ void no_function(u32* out, Operation operation) {
  out[threadIdx.x] = operation(1, 2);
}
