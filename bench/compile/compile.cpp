// Cold compile time of kernels after NVRTC: for each .cu file the time to load its PTX (parse,
// verify, analyse), for each kernel the time until its first launch is submitted (code generation).
// The launches get arguments that are all zero: most kernels then have nothing to do, and a fault
// of one only ends its own context.
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

/// Submits a first launch with zeros for arguments; the time of the call is that of the compiler.
double time_first_launch(km_stream stream, km_function function) {
  uint32_t parameters = 0;
  require(km_function_param_count(function, &parameters), "km_function_param_count");
  uint64_t size = 0;
  for (uint32_t i = 0; i < parameters; ++i) {
    km_param_info info{};
    info.struct_size = sizeof info;
    require(km_function_param(function, i, &info), "km_function_param");
    size = info.offset_bytes + info.size_bytes;
  }
  const std::vector<uint8_t> zeros(size, 0);
  const km_launch_config config{{1, 1, 1}, {256, 1, 1}, 0};
  const double start = now_seconds();
  const km_status status =
      km_launch_kernel(stream, function, &config, zeros.data(), size, nullptr, 0);
  const double milliseconds = (now_seconds() - start) * 1e3;
  if (status < KM_ERROR_ILLEGAL_ADDRESS) require(status, "km_launch_kernel");
  return milliseconds;
}

/// Times one kernel in a context of its own, because it may fault.
Kernel time_kernel(const std::string& ptx, const std::string& path, uint32_t index) {
  km_device device{};
  km_context context{};
  km_stream stream{};
  km_module module{};
  km_function function{};
  require(km_device_open("cpu", &device), "km_device_open");
  require(km_context_create(device, &context), "km_context_create");
  require(km_context_default_stream(context, &stream), "km_context_default_stream");
  require(km_module_load_ptx(context, ptx.data(), ptx.size(), path.c_str(), &module), path.c_str());
  const std::string name = copy_name(module, index);
  require(km_module_function(module, name.c_str(), &function), name.c_str());
  const Kernel kernel{name, time_first_launch(stream, function)};
  km_stream_synchronize(stream);  // whatever it says: zeros are nobody's arguments
  km_function_destroy(function);
  km_module_destroy(module);
  km_stream_destroy(stream);
  km_context_destroy(context);
  km_device_destroy(device);
  return kernel;
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
    const Kernel kernel = time_kernel(ptx, path, i);
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
