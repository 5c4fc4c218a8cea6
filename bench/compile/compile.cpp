// Cold compile time of kernels after NVRTC: for each .cu file the time to load its PTX (parse,
// verify, analyse), for each kernel the time that code for blocks of 256 takes.
#include <cstdio>

#include "common/benchmark.h"
#include "hosts/kernelmill.h"

namespace km::bench {
namespace {

struct Kernel {
  std::string name;
  double compile_ms;
};

std::string copy_name(km_module module, uint32_t index) {
  char name[4096] = "";
  uint64_t size = 0;
  require(km_module_function_name(module, index, name, sizeof name, &size),
          "km_module_function_name");
  return name;
}

/// What a first launch waits for.
Kernel time_kernel(km_module module, uint32_t index) {
  const std::string name = copy_name(module, index);
  km_function function{};
  require(km_module_function(module, name.c_str(), &function), name.c_str());
  const double start = now_seconds();
  require(km_function_prepare(function, 256, 1, 1), name.c_str());
  const double milliseconds = (now_seconds() - start) * 1e3;
  km_function_destroy(function);
  return {name, milliseconds};
}

void time_file(const std::string& path) {
  const std::string ptx = compile_to_ptx(path);
  km_device device{};
  km_context context{};
  km_module module{};
  require(km_device_open("cpu", &device), "km_device_open");
  require(km_context_create(device, &context), "km_context_create");
  const double start = now_seconds();
  require(km_module_load_ptx(context, ptx.data(), ptx.size(), path.c_str(), &module), path.c_str());
  const double load_ms = (now_seconds() - start) * 1e3;
  uint32_t count = 0;
  require(km_module_function_count(module, &count), "km_module_function_count");
  for (uint32_t i = 0; i < count; ++i) {
    const Kernel kernel = time_kernel(module, i);
    std::printf(
        "{\"state\": \"kernel\", \"file\": \"%s\", \"kernel\": \"%s\", \"load_ms\": %.3f, "
        "\"compile_ms\": %.3f}\n",
        path.c_str(), kernel.name.c_str(), load_ms, kernel.compile_ms);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace km::bench

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) km::bench::time_file(argv[i]);
  return 0;
}
