// The kernels of package guda: what its functions on vectors of f32 do on every device.

enum Operation {
  OP_ADD, OP_MULTIPLY, OP_ADD_SCALAR, OP_MULTIPLY_SCALAR, OP_RELU, OP_SIGMOID, OP_TANH, OP_GELU,
  OP_ADD_CYCLED
};

struct Step {
  int operation;
  float alpha;
  int other;         // which vector it takes
  long long length;  // of that, for OP_ADD_CYCLED
};

struct Steps {
  Step list[8];
  int count;
};

enum Term { TERM_VALUE, TERM_SQUARE, TERM_EXPONENTIAL, TERM_PRODUCT };

enum { kThreads = 256 };

static __device__ long long first_of() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

static __device__ long long stride_of() { return static_cast<long long>(gridDim.x) * blockDim.x; }

static __device__ float applied(const Step& step, const float* other, float x, long long i) {
  switch (step.operation) {
    case OP_ADD: return x + step.alpha * other[i];
    case OP_MULTIPLY: return x * other[i];
    case OP_ADD_SCALAR: return x + step.alpha;
    case OP_MULTIPLY_SCALAR: return x * step.alpha;
    case OP_RELU: return x < 0 ? 0 : x;
    case OP_SIGMOID: return 1 / (1 + expf(-x));
    case OP_TANH: return tanhf(x);
    case OP_GELU: return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    case OP_ADD_CYCLED: return x + other[i % step.length];
    default: return x;
  }
}

// All steps on each of n numbers, with one load and one store.
extern "C" __global__ void apply(const float* in, float* out, long long n, Steps steps,
                                 const float* other0, const float* other1, const float* other2,
                                 const float* other3) {
  for (long long i = first_of(); i < n; i += stride_of()) {
    float x = in[i];
    for (int k = 0; k < steps.count; ++k) {
      const int number = steps.list[k].other;
      const float* first = number == 0 ? other0 : other1;
      const float* other = number < 2 ? first : number == 2 ? other2 : other3;
      x = applied(steps.list[k], other, x, i);
    }
    out[i] = x;
  }
}

// (x - mean) * scale * gamma + beta; gamma and beta may be null.
extern "C" __global__ void normalize(float* x, const float* gamma, const float* beta, long long n,
                                     double mean, double scale) {
  for (long long i = first_of(); i < n; i += stride_of()) {
    const float y = static_cast<float>((x[i] - mean) * scale);
    x[i] = (gamma != nullptr ? y * gamma[i] : y) + (beta != nullptr ? beta[i] : 0);
  }
}

// exp(x - shift) * scale.
extern "C" __global__ void exponentials(float* x, long long n, float shift, double scale) {
  for (long long i = first_of(); i < n; i += stride_of()) {
    x[i] = static_cast<float>(expf(x[i] - shift) * scale);
  }
}

// The sum, or the product, of a block's share of the terms.
extern "C" __global__ void reduce(const float* x, long long n, int term, double shift,
                                  double* partial) {
  __shared__ double room[kThreads];
  double sum = term == TERM_PRODUCT ? 1 : 0;
  for (long long i = first_of(); i < n; i += stride_of()) {
    const double value = x[i] - shift;
    if (term == TERM_PRODUCT) sum *= x[i];
    if (term == TERM_VALUE) sum += value;
    if (term == TERM_SQUARE) sum += value * value;
    if (term == TERM_EXPONENTIAL) sum += expf(static_cast<float>(value));
  }
  room[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const double other = room[threadIdx.x + half];
      room[threadIdx.x] = term == TERM_PRODUCT ? room[threadIdx.x] * other
                                               : room[threadIdx.x] + other;
    }
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = room[0];
}

// The place of a block's largest number times sign, the first of equal ones; -1 for none.
extern "C" __global__ void extreme(const float* x, long long n, float sign, long long* places) {
  __shared__ long long room[kThreads];
  long long best = -1;
  for (long long i = first_of(); i < n; i += stride_of()) {
    if (best < 0 || sign * x[i] > sign * x[best]) best = i;
  }
  room[threadIdx.x] = best;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const long long other = room[threadIdx.x + half], own = room[threadIdx.x];
      if (other >= 0) {
        const float mine = own < 0 ? 0 : sign * x[own], theirs = sign * x[other];
        const bool is_first = theirs == mine && other < own;
        if (own < 0 || theirs > mine || is_first) room[threadIdx.x] = other;
      }
    }
  }
  if (threadIdx.x == 0) places[blockIdx.x] = room[0];
}

// Sums, or the largest, of a matrix's columns (axis 0) or rows (axis 1).
extern "C" __global__ void reduce_axis(const float* x, long long rows, long long columns, int axis,
                                       int is_maximum, float* out) {
  const long long count = axis == 0 ? columns : rows, length = axis == 0 ? rows : columns;
  const long long step = axis == 0 ? columns : 1, apart = axis == 0 ? 1 : columns;
  for (long long i = first_of(); i < count; i += stride_of()) {
    const float* line = x + i * apart;
    float result = is_maximum != 0 ? line[0] : 0;
    for (long long k = is_maximum != 0 ? 1 : 0; k < length; ++k) {
      const float value = line[k * step];
      if (is_maximum == 0) result += value;
      if (is_maximum != 0 && value > result) result = value;
    }
    out[i] = result;
  }
}

// Running sums, by one block: each thread sums a part, then adds what is before that.
extern "C" __global__ void running_sums(const float* x, float* out, long long n) {
  __shared__ double before[kThreads + 1];
  const long long part = (n + kThreads - 1) / kThreads;
  const long long begin = part * threadIdx.x, end = begin + part < n ? begin + part : n;
  double sum = 0;
  for (long long i = begin; i < end; ++i) sum += x[i];
  before[threadIdx.x + 1] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    before[0] = 0;
    for (int i = 1; i <= kThreads; ++i) before[i] += before[i - 1];
  }
  __syncthreads();
  sum = before[threadIdx.x];
  for (long long i = begin; i < end; ++i) out[i] = static_cast<float>(sum += x[i]);
}

// Sums of segments, one after the other, so that results do not depend on an order of threads.
extern "C" __global__ void segment_sums(const float* x, const long long* segments, long long n,
                                        float* out, long long count) {
  for (long long i = 0; i < count; ++i) out[i] = 0;
  for (long long i = 0; i < n; ++i) out[segments[i]] += x[i];
}

// A matrix's rows with a bias added to each, then an activation.
extern "C" __global__ void bias_rows(float* c, long long rows, long long columns, long long ldc,
                                     const float* bias, int operation) {
  const Step activation = {operation, 0, 0, 0};
  for (long long i = first_of(); i < rows * columns; i += stride_of()) {
    float* place = c + i / columns * ldc + i % columns;
    *place = applied(activation, nullptr, *place + bias[i % columns], 0);
  }
}
