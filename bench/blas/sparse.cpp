// y = A x for sparse matrices in CSR, against a plain loop on one thread: microseconds, medians.
// Usage: bench_sparse [rounds]; KM_CPU_THREADS sets the threads of the device.
#include <kernelmill/helpers.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

/// Random columns, as many in each row.
struct Matrix {
  uint64_t rows, columns;
  std::vector<int32_t> offsets, indices;
  std::vector<float> values;

  Matrix(uint64_t m, uint64_t n, uint64_t per_row) : rows(m), columns(n), offsets(1) {
    std::mt19937 random(7);
    for (uint64_t i = 0; i < m; ++i) {
      for (uint64_t k = 0; k < per_row; ++k) {
        indices.push_back(static_cast<int32_t>(random() % n));
        values.push_back(1.0F / static_cast<float>(1 + k));
      }
      std::sort(indices.end() - static_cast<std::ptrdiff_t>(per_row), indices.end());
      offsets.push_back(static_cast<int32_t>(indices.size()));
    }
  }
};

[[gnu::noinline]] void plain_loop(const Matrix& a, const float* x, float* y) {
  for (uint64_t i = 0; i < a.rows; ++i) {
    float sum = 0;
    for (int32_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      sum += a.values[static_cast<size_t>(k)] * x[a.indices[static_cast<size_t>(k)]];
    }
    y[i] = sum;
  }
}

template <class Run>
double median_us(int rounds, const Run& run) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T>
km_slice on_device(km_context context, km_stream stream, const std::vector<T>& numbers) {
  km_slice slice;
  KM_CHECK(km_slice_create(context, numbers.size(), sizeof(T), 0, &slice));
  KM_CHECK(km_slice_upload(stream, slice, 0, numbers.data(), numbers.size() * sizeof(T)));
  return slice;
}

void measure(km_context context, km_stream stream, km_blas blas, const Matrix& m, int rounds) {
  std::vector<float> x(m.columns, 1), y(m.rows);
  const km_slice slices[] = {on_device(context, stream, m.offsets),
                             on_device(context, stream, m.indices),
                             on_device(context, stream, m.values), on_device(context, stream, x),
                             on_device(context, stream, y)};
  km_sparse_matrix a = km_sparse_csr(m.rows, m.columns, m.values.size());
  a.offsets = km_place(slices[0], 0);
  a.indices = km_place(slices[1], 0);
  a.values = km_place(slices[2], 0);
  const km_blas_vector from = km_vector(slices[3], 0, 1), to = km_vector(slices[4], 0, 1);
  const float one = 1, zero = 0;
  const double plain = median_us(rounds, [&] { plain_loop(m, x.data(), y.data()); });
  const double ours = median_us(rounds, [&] {
    KM_CHECK(
        km_sparse_mv(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE, &one, &a, &from, &zero, &to));
    KM_CHECK(km_stream_synchronize(stream));
  });
  std::printf("%9llu rows, %10zu nonzeros: loop %10.1f us, km_sparse_mv %10.1f us\n",
              static_cast<unsigned long long>(m.rows), m.values.size(), plain, ours);
  for (const km_slice slice : slices) KM_CHECK(km_slice_destroy(slice));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 15;
  km_device device;
  km_context context;
  km_stream stream;
  km_blas blas;
  KM_CHECK(km_device_open("cpu", &device));
  KM_CHECK(km_context_create(device, &context));
  KM_CHECK(km_stream_create(context, 0, 0, &stream));
  KM_CHECK(km_blas_create(stream, KM_BLAS_LAYOUT_ROWS, &blas));
  for (const uint64_t rows : {1000U, 30000U, 1000000U}) {
    measure(context, stream, blas, Matrix(rows, rows, 16), rounds);
  }
  KM_CHECK(km_blas_destroy(blas));
  KM_CHECK(km_stream_destroy(stream));
  KM_CHECK(km_context_destroy(context));
  KM_CHECK(km_device_destroy(device));
}
