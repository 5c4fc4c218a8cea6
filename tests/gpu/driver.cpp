#include "driver.h"

#include <utility>

namespace km::gpu {
namespace {

constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;  // CU_DEVICE_ATTRIBUTE_...

template <class Function>
Status find(const Dylib& library, const char* name, Function& function) {
  function = library.function<Function>(name);
  if (function != nullptr) return {};
  return make_error(KM_ERROR_NOT_FOUND, "%s has no %s", library.path().c_str(), name);
}

}  // namespace

Result<Driver> Driver::open(const std::string& library) {
  KM_ASSIGN(Dylib found, Dylib::open(library));
  Driver driver(std::move(found));
  KM_TRY(driver.find_functions());
  KM_TRY(driver.make_context());
  return driver;
}

Status Driver::find_functions() {
  KM_TRY(find(library_, "cuInit", init_));
  KM_TRY(find(library_, "cuDriverGetVersion", driver_version_));
  KM_TRY(find(library_, "cuDeviceGet", device_get_));
  KM_TRY(find(library_, "cuDeviceGetName", device_name_));
  KM_TRY(find(library_, "cuDeviceGetAttribute", device_attribute_));
  KM_TRY(find(library_, "cuDevicePrimaryCtxRetain", retain_));
  KM_TRY(find(library_, "cuCtxSetCurrent", set_current_));
  KM_TRY(find(library_, "cuModuleLoadData", load_));
  KM_TRY(find(library_, "cuModuleUnload", unload_));
  KM_TRY(find(library_, "cuModuleGetFunction", get_function_));
  KM_TRY(find(library_, "cuMemAlloc_v2", allocate_));
  KM_TRY(find(library_, "cuMemFree_v2", free_));
  KM_TRY(find(library_, "cuMemcpyHtoD_v2", to_device_));
  KM_TRY(find(library_, "cuMemcpyDtoH_v2", to_host_));
  KM_TRY(find(library_, "cuLaunchKernel", launch_));
  KM_TRY(find(library_, "cuCtxSynchronize", synchronize_));
  return find(library_, "cuGetErrorName", error_name_);
}

Status Driver::make_context() {
  int device = 0;
  void* context = nullptr;
  char name[128] = {};
  KM_TRY(check(init_(0), "cuInit"));
  KM_TRY(check(driver_version_(&facts_.driver_version), "cuDriverGetVersion"));
  KM_TRY(check(device_get_(&device, 0), "cuDeviceGet"));
  KM_TRY(check(device_name_(name, sizeof name, device), "cuDeviceGetName"));
  facts_.name = name;
  KM_TRY(check(device_attribute_(&facts_.capability_major, kCapabilityMajor, device),
               "cuDeviceGetAttribute"));
  KM_TRY(check(device_attribute_(&facts_.capability_minor, kCapabilityMinor, device),
               "cuDeviceGetAttribute"));
  KM_TRY(check(retain_(&context, device), "cuDevicePrimaryCtxRetain"));
  return check(set_current_(context), "cuCtxSetCurrent");
}

Status Driver::check(int code, const char* call) const {
  if (code == 0) return {};
  const char* name = nullptr;
  if (error_name_(code, &name) != 0 || name == nullptr) name = "unknown error";
  Error error = make_error(KM_ERROR_LAUNCH_FAILED, "%s: %s (%d)", call, name, code);
  error.native_code = code;
  return error;
}

Result<void*> Driver::load(const std::string& ptx) const {
  void* module = nullptr;
  KM_TRY(check(load_(&module, ptx.c_str()), "cuModuleLoadData"));
  return module;
}

void Driver::unload(void* module) const { unload_(module); }

Result<Address> Driver::upload(const std::vector<uint64_t>& words) const {
  const size_t size_bytes = words.size() * sizeof(uint64_t);
  Address address = 0;
  KM_TRY(check(allocate_(&address, size_bytes), "cuMemAlloc"));
  if (Status status = check(to_device_(address, words.data(), size_bytes), "cuMemcpyHtoD");
      !status) {
    free_(address);
    return status.error();
  }
  return address;
}

Status Driver::download(Address address, std::vector<uint64_t>& words) const {
  return check(to_host_(words.data(), address, words.size() * sizeof(uint64_t)), "cuMemcpyDtoH");
}

void Driver::free(Address address) const { free_(address); }

Status Driver::run(void* module, const char* kernel, unsigned grid, unsigned block, Address in,
                   Address out, uint32_t count) const {
  void* function = nullptr;
  KM_TRY(check(get_function_(&function, module, kernel), "cuModuleGetFunction"));
  void* arguments[] = {&in, &out, &count};
  KM_TRY(check(launch_(function, grid, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr),
               "cuLaunchKernel"));
  return check(synchronize_(), kernel);
}

Result<DeviceWords> DeviceWords::create(const Driver& driver, const std::vector<uint64_t>& words) {
  KM_ASSIGN(const Address address, driver.upload(words));
  return DeviceWords(driver, address);
}

}  // namespace km::gpu
