// Matrix products by km_blas_gemm beside plain OpenBLAS, by rows: GFLOP/s, medians; prints a table.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kernelmill/c_api.h"

namespace {

constexpr int kSamples = 15;

void require(km_status status) {
  if (status == KM_SUCCESS) return;
  char text[4096] = "";
  km_last_error_message(text, sizeof text, nullptr);
  std::fprintf(stderr, "%s\n", text);
  std::exit(1);
}

double gigaflops(uint64_t n, double operations, const std::function<void()>& call) {
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) call();
  for (int i = 0; i < kSamples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    seconds.push_back(spent.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return operations * static_cast<double>(n * n * n) / seconds[kSamples / 2] * 1e-9;
}

struct Kind {
  const char* name;
  km_data_type type;
  uint64_t size_bytes;
  const char* plain;  // of CBLAS; null: there is none
  double operations;
};
constexpr Kind kKinds[] = {{"sgemm", KM_DATA_TYPE_F32, 4, "cblas_sgemm", 2},
                           {"dgemm", KM_DATA_TYPE_F64, 8, "cblas_dgemm", 2},
                           {"cgemm", KM_DATA_TYPE_C32, 8, nullptr, 8},
                           {"hgemm", KM_DATA_TYPE_F16, 2, nullptr, 2},
                           {"bgemm", KM_DATA_TYPE_BF16, 2, nullptr, 2}};

double plain(const Kind& kind, uint64_t n) {
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || kind.plain == nullptr) return 0;
  constexpr int kRows = 101, kNone = 111;
  const int size = static_cast<int>(n);
  void* const function = dlsym(library, kind.plain);
  if (kind.type == KM_DATA_TYPE_F32) {
    using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                          float, float*, int);
    std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n);
    return gigaflops(n, kind.operations, [&] {
      reinterpret_cast<Gemm>(function)(kRows, kNone, kNone, size, size, size, 1, a.data(), size,
                                       b.data(), size, 0, c.data(), size);
    });
  }
  using Gemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*,
                        int, double, double*, int);
  std::vector<double> a(n * n, 1), b(n * n, 2), c(n * n);
  return gigaflops(n, kind.operations, [&] {
    reinterpret_cast<Gemm>(function)(kRows, kNone, kNone, size, size, size, 1, a.data(), size,
                                     b.data(), size, 0, c.data(), size);
  });
}

class Ours {
 public:
  Ours() {
    require(km_device_open("cpu", &device_));
    require(km_context_create(device_, &context_));
    require(km_stream_create(context_, 0, 0, &stream_));
    require(km_blas_create(stream_, KM_BLAS_LAYOUT_ROWS, &blas_));
  }
  double gemm(const Kind& kind, uint64_t n) {
    km_slice slices[3];
    km_blas_matrix matrices[3];
    for (int i = 0; i < 3; ++i) {
      require(km_slice_create(context_, n * n, kind.size_bytes, KM_SLICE_ZEROED, &slices[i]));
      matrices[i] = {reinterpret_cast<uint64_t>(slices[i]), 0, 0, n, 0};
    }
    const double wide[] = {1, 0, 0, 0};
    const float narrow[] = {1, 0, 0, 0};
    const bool is_double = kind.type == KM_DATA_TYPE_F64;
    const void* one = is_double ? static_cast<const void*>(wide) : narrow;
    const void* zero = is_double ? static_cast<const void*>(wide + 2) : narrow + 2;
    const double result = gigaflops(n, kind.operations, [&] {
      require(km_blas_gemm(blas_, kind.type, 1, 1, n, n, n, one, &matrices[0], &matrices[1], zero,
                           &matrices[2]));
      require(km_stream_synchronize(stream_));
    });
    for (km_slice slice : slices) require(km_slice_destroy(slice));
    return result;
  }

 private:
  km_device device_{};
  km_context context_{};
  km_stream stream_{};
  km_blas blas_{};
};

}  // namespace

int main() {
  Ours ours;
  std::printf("| | n | km_blas | OpenBLAS |\n|---|---|---|---|\n");
  for (const Kind& kind : kKinds) {
    for (uint64_t n : {128, 512, 1024, 2048}) {
      const double library = plain(kind, n);
      std::printf("| %s | %llu | %.1f | %s |\n", kind.name, static_cast<unsigned long long>(n),
                  ours.gemm(kind, n),
                  library == 0 ? "-" : std::to_string(library).substr(0, 5).c_str());
    }
  }
  return 0;
}
