// The library's public C API, as much as benchmarks need of it.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <kernelmill/c_api.h>

#include "common/benchmark.h"

namespace km::bench {

void require(km_status status, const char* call);

/// A kernel with its arguments packed once; launching it again costs one call.
class KernelmillKernel {
 public:
  KernelmillKernel(km_stream stream, km_function function) : stream_(stream), function_(function) {}

  void set_shape(km_launch_config config) { config_ = config; }
  template <class... Args>
  void set_arguments(const Args&... args) {
    uint32_t index = 0;
    (pack(index++, &args, sizeof args), ...);
  }
  void launch() {
    require(km_launch_kernel(stream_, function_, &config_, arguments_.data(), arguments_.size(),
                             nullptr, 0),
            "km_launch_kernel");
  }
  void synchronize() { require(km_stream_synchronize(stream_), "km_stream_synchronize"); }
  void run() {
    launch();
    synchronize();
  }

 private:
  void pack(uint32_t index, const void* value, uint64_t size_bytes);

  km_stream stream_;
  km_function function_;
  km_launch_config config_{};
  std::vector<uint8_t> arguments_;
};

class KernelmillHost {
 public:
  KernelmillHost();
  /// A kernel of kernels/<benchmark>/kernel.cu.
  KernelmillKernel kernel(const std::string& benchmark, const char* name);
  /// Device memory for as long as the process lives; its address is a kernel argument.
  uint64_t allocate(uint64_t size_bytes, const void* content = nullptr);
  void download(uint64_t address, void* destination, uint64_t size_bytes);

 private:
  km_device device_{};
  km_context context_{};
  km_stream stream_{};
};

}  // namespace km::bench
