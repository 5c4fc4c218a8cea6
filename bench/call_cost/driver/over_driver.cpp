// What a launch through the C ABI costs more than the same launch asked of the CUDA driver itself:
// over_driver LIBCUDA EMPTY.ptx. Both launch an empty kernel in a stream of their own, in turn.
#include <dlfcn.h>
#include <kernelmill/c_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "cuda/driver.h"

namespace {

using namespace km;

constexpr int kBatches = 400, kLaunches = 2560, kLaunchesPerWait = 256;

void check(km_status status) {
  if (status == KM_SUCCESS) return;
  char message[4096] = "unknown error";
  km_last_error_message(message, sizeof message, nullptr);
  std::fprintf(stderr, "over_driver: %s\n", message);
  std::exit(1);
}

void check_driver(cu::CUresult result) {
  if (result == cu::CUDA_SUCCESS) return;
  std::fprintf(stderr, "over_driver: the driver gave %d\n", result);
  std::exit(1);
}

template <class Function>
Function find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "over_driver: no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(found);
}

struct Library {
  explicit Library(const char* file_path) {
    km_device device;
    km_context context;
    km_module module;
    check(km_device_open("cuda:0", &device));
    check(km_context_create(device, &context));
    check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
    check(km_module_load_file(context, file_path, &module));
    check(km_module_function(module, "empty", &function));
  }
  void launch() const {
    check(km_launch_kernel(stream, function, &config, nullptr, 0, nullptr, 0));
  }
  void wait() const { check(km_stream_synchronize(stream)); }
  km_stream stream;
  km_function function;
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
};

struct Driver {
  Driver(void* library, const char* file_path)
      : launch_kernel(find<decltype(&cu::cuLaunchKernel)>(library, "cuLaunchKernel")),
        synchronize(find<decltype(&cu::cuStreamSynchronize)>(library, "cuStreamSynchronize")),
        set_current(find<decltype(&cu::cuCtxSetCurrent)>(library, "cuCtxSetCurrent")) {
    cu::CUmodule module;
    check_driver(find<decltype(&cu::cuDevicePrimaryCtxRetain)>(library, "cuDevicePrimaryCtxRetain")(
        &context, 0));
    check_driver(set_current(context));
    check_driver(find<decltype(&cu::cuStreamCreate)>(library, "cuStreamCreate")(
        &stream, cu::CU_STREAM_NON_BLOCKING));
    check_driver(find<decltype(&cu::cuModuleLoad)>(library, "cuModuleLoad")(&module, file_path));
    check_driver(find<decltype(&cu::cuModuleGetFunction)>(library, "cuModuleGetFunction")(
        &function, module, "empty"));
  }
  void launch() const {
    check_driver(launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  }
  void wait() const { check_driver(synchronize(stream)); }
  decltype(&cu::cuLaunchKernel) launch_kernel;
  decltype(&cu::cuStreamSynchronize) synchronize;
  decltype(&cu::cuCtxSetCurrent) set_current;
  cu::CUcontext context;
  cu::CUstream stream;
  cu::CUfunction function;
};

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch() /
                             std::chrono::nanoseconds(1));
}

template <class Way>
double batch_ns(const Way& way) {
  const double start = now_ns();
  for (int i = 1; i <= kLaunches; ++i) {
    way.launch();
    if (i % kLaunchesPerWait == 0) way.wait();
  }
  return (now_ns() - start) / kLaunches;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: over_driver LIBCUDA EMPTY.ptx\n");
    return 2;
  }
  setenv("KM_CUDA_DRIVER", argv[1], 1);
  void* file = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    std::fprintf(stderr, "over_driver: %s\n", dlerror());
    return 1;
  }
  const Library library(argv[2]);
  const Driver driver(file, argv[2]);
  double least[3] = {1e9, 1e9, 1e9};
  for (int batch = -1; batch < kBatches; ++batch) {
    double seen[3];
    check_driver(driver.set_current(driver.context));
    seen[0] = batch_ns(driver);
    seen[1] = batch_ns(library);
    check_driver(driver.set_current(nullptr));
    seen[2] = batch_ns(library);
    for (int i = 0; batch >= 0 && i < 3; ++i) least[i] = std::min(least[i], seen[i]);
  }
  constexpr const char* kMetrics[] = {"launch_driver", "launch_library", "launch_library_pushing"};
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    std::printf("{\"metric\": \"%s\", \"unit\": \"ns\", \"value\": %.3f}\n", kMetrics[i], least[i]);
  }
  return 0;
}
