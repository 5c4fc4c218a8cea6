// The driver functions that km_gpu calls, on the library's own default device: proves the tool
// where there is no GPU. One context, one thread.
#include <kernelmill/c_api.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace {

constexpr int kFailed = 999;  // CUDA_ERROR_UNKNOWN

struct Fake {
  km_device device{};
  km_context context{};
  km_stream stream{};
  std::map<uint64_t, km_slice> allocations;
};

Fake& fake() {
  static Fake instance;
  return instance;
}

int code(km_status status) { return status == KM_SUCCESS ? 0 : kFailed; }

struct Place {
  km_slice slice{};
  uint64_t offset_bytes = 0;
};

int find(uint64_t address, Place& place) {
  return code(km_context_find_slice(fake().context, address, &place.slice, &place.offset_bytes));
}

}  // namespace

#define FAKE extern "C" [[gnu::visibility("default")]] int

FAKE cuInit(unsigned) { return code(km_device_open("cpu", &fake().device)); }

FAKE cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

FAKE cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}

FAKE cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "kernelmill", static_cast<size_t>(size));
  return 0;
}

FAKE cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;  // the compute capability
  return 0;
}

FAKE cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  if (int failed = code(km_context_create(fake().device, &fake().context))) return failed;
  return code(km_context_default_stream(fake().context, &fake().stream));
}

FAKE cuCtxSetCurrent(void*) { return 0; }

FAKE cuModuleLoadData(void** module, const void* text) {
  const auto* ptx = static_cast<const char*>(text);
  km_module loaded{};
  const km_status status =
      km_module_load_ptx(fake().context, ptx, std::strlen(ptx), "gpu.ptx", &loaded);
  *module = reinterpret_cast<void*>(loaded);
  return code(status);
}

FAKE cuModuleUnload(void* module) {
  return code(km_module_destroy(reinterpret_cast<km_module>(module)));
}

FAKE cuModuleGetFunction(void** function, void* module, const char* name) {
  km_function found{};
  const km_status status = km_module_function(reinterpret_cast<km_module>(module), name, &found);
  *function = reinterpret_cast<void*>(found);
  return code(status);
}

FAKE cuMemAlloc_v2(uint64_t* address, size_t size_bytes) {
  km_slice slice{};
  if (int failed = code(km_slice_create(fake().context, size_bytes, 1, KM_SLICE_DEFAULT, &slice))) {
    return failed;
  }
  if (int failed = code(km_slice_address(slice, address))) return failed;
  fake().allocations[*address] = slice;
  return 0;
}

FAKE cuMemFree_v2(uint64_t address) {
  const auto found = fake().allocations.find(address);
  if (found == fake().allocations.end()) return kFailed;
  const km_status status = km_slice_destroy(found->second);
  fake().allocations.erase(found);
  return code(status);
}

FAKE cuCtxSynchronize() { return code(km_stream_synchronize(fake().stream)); }

FAKE cuMemcpyHtoD_v2(uint64_t address, const void* source, size_t size_bytes) {
  Place place;
  if (int failed = find(address, place)) return failed;
  if (int failed = code(
          km_slice_upload(fake().stream, place.slice, place.offset_bytes, source, size_bytes))) {
    return failed;
  }
  return cuCtxSynchronize();
}

FAKE cuMemcpyDtoH_v2(void* destination, uint64_t address, size_t size_bytes) {
  Place place;
  if (int failed = find(address, place)) return failed;
  if (int failed = code(km_slice_download(fake().stream, place.slice, place.offset_bytes,
                                          destination, size_bytes))) {
    return failed;
  }
  return cuCtxSynchronize();
}

FAKE cuLaunchKernel(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                    void*, void** arguments, void**) {
  auto function = reinterpret_cast<km_function>(kernel);
  km_launch launch{};
  uint32_t count = 0;
  int failed = code(km_launch_create(fake().stream, function, &launch));
  if (!failed) failed = code(km_launch_set_grid(launch, grid_x, grid_y, grid_z));
  if (!failed) failed = code(km_launch_set_block(launch, block_x, block_y, block_z));
  if (!failed) failed = code(km_launch_set_shared_bytes(launch, shared_bytes));
  if (!failed) failed = code(km_function_param_count(function, &count));
  for (uint32_t i = 0; i < count && !failed; ++i) {
    km_param_info info{};
    info.struct_size = sizeof info;
    failed = code(km_function_param(function, i, &info));
    if (!failed) failed = code(km_launch_arg_scalar(launch, arguments[i], info.size_bytes));
  }
  if (!failed) failed = code(km_launch_submit(launch));
  km_launch_destroy(launch);
  km_function_destroy(function);
  return failed;
}

FAKE cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_UNKNOWN";
  return 0;
}
