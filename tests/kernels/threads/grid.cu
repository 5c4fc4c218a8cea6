// Grids of several dimensions, as images and volumes are gone through: one element for each thread.
typedef unsigned int u32;

struct Size {
  int x, y, z;
};

struct Place {
  int x, y, z;
  __device__ Place() {
    x = blockIdx.x * blockDim.x + threadIdx.x;
    y = blockIdx.y * blockDim.y + threadIdx.y;
    z = blockIdx.z * blockDim.z + threadIdx.z;
  }
  __device__ bool is_in(Size size) const { return x < size.x && y < size.y && z < size.z; }
  __device__ int index(Size size) const { return (z * size.y + y) * size.x + x; }
};

// Where the thread is, by all that says so.
extern "C" __global__ void places(u32* out, const u32* in, Size size) {
  const Place at;
  if (!at.is_in(size)) return;
  const u32 block = blockIdx.x + 1000 * (blockIdx.y + 1000 * blockIdx.z);
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[at.index(size)] = in[at.index(size)] * 31 + block * 1024 + thread;
}

// Neighbours, at the border the element itself.
extern "C" __global__ void blurred(u32* out, const u32* in, Size size) {
  const Place at;
  if (!at.is_in(size)) return;
  const u32* row = in + (at.z * size.y + at.y) * size.x;
  const u32 left = row[max(at.x - 1, 0)], right = row[min(at.x + 1, size.x - 1)];
  const u32 above = in[(at.z * size.y + max(at.y - 1, 0)) * size.x + at.x];
  out[at.index(size)] = left + 3 * row[at.x] + 5 * right + 7 * above;
}

// Rows that go through what is written, a value for each row, quotients.
extern "C" __global__ void scaled(float* data, const float* of_row, int divisor, Size size) {
  const Place at;
  if (!at.is_in(size)) return;
  const float factor = at.y % divisor == 0 ? of_row[at.y] : 1.0f;
  data[at.index(size)] = data[at.index(size)] * factor + of_row[at.y / divisor];
}

// Columns of what is read are rows of what is written.
extern "C" __global__ void turned(u32* out, const u32* in, Size size) {
  const Place at;
  if (at.is_in(size)) out[at.x * size.y + at.y] = in[at.y * size.x + at.x];
}

// Tiles that lie one after the other.
extern "C" __global__ void tiles(u32* out, const u32* in) {
  const u32 block = blockIdx.y * gridDim.x + blockIdx.x;
  const u32 i = (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[i] = in[i] ^ block;
}

// One place for all: whoever comes last.
extern "C" __global__ void last_one(u32* out, u32* own, Size size) {
  const Place at;
  if (!at.is_in(size)) return;
  own[at.index(size)] = 1;
  *out = at.index(size);
}
