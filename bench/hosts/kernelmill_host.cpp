#include "hosts/kernelmill_host.h"

namespace km::bench {
namespace {

std::string last_error() {
  char text[4096] = "";
  uint64_t size = 0;
  km_last_error_message(text, sizeof text, &size);
  return text;
}

}  // namespace

void require(km_status status, const char* call) {
  if (status == KM_SUCCESS) return;
  const char* name = "?";
  km_status_name(status, &name);
  fail(std::string(call) + ": " + name + ": " + last_error());
}

void KernelmillKernel::pack(uint32_t index, const void* value, uint64_t size_bytes) {
  km_param_info info{};
  info.struct_size = sizeof info;
  require(km_function_param(function_, index, &info), "km_function_param");
  if (info.size_bytes != size_bytes)
    fail("argument " + std::to_string(index) + " has another size");
  if (arguments_.size() < info.offset_bytes + size_bytes) {
    arguments_.resize(info.offset_bytes + size_bytes);
  }
  std::memcpy(arguments_.data() + info.offset_bytes, value, size_bytes);
}

KernelmillHost::KernelmillHost() {
  require(km_device_open("cpu", &device_), "km_device_open");
  require(km_context_create(device_, &context_), "km_context_create");
  require(km_context_default_stream(context_, &stream_), "km_context_default_stream");
}

KernelmillKernel KernelmillHost::kernel(const std::string& benchmark, const char* name) {
  const std::string path = std::string(KM_BENCH_FOLDER) + "/kernels/" + benchmark + "/kernel.cu";
  km_module module{};
  require(km_module_load_file(context_, path.c_str(), &module), "km_module_load_file");
  km_function function{};
  require(km_module_function(module, name, &function), "km_module_function");
  return KernelmillKernel(stream_, function);
}

uint64_t KernelmillHost::allocate(uint64_t size_bytes, const void* content) {
  km_slice slice{};
  require(km_slice_create(context_, size_bytes, 1, KM_SLICE_DEFAULT, &slice), "km_slice_create");
  if (content != nullptr) {
    require(km_slice_upload(stream_, slice, 0, content, size_bytes), "km_slice_upload");
  }
  uint64_t address = 0;
  require(km_slice_address(slice, &address), "km_slice_address");
  return address;
}

void KernelmillHost::download(uint64_t address, void* destination, uint64_t size_bytes) {
  require(km_memory_download(stream_, address, destination, size_bytes), "km_memory_download");
  require(km_stream_synchronize(stream_), "km_stream_synchronize");
}

}  // namespace km::bench
