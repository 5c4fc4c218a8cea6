// As much of the CUDA driver API as it takes to run PTX on the first GPU; found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/process/dylib.h"
#include "base/result.h"

namespace km::gpu {

using Address = uint64_t;

struct DeviceFacts {
  std::string name;
  int capability_major = 0, capability_minor = 0, driver_version = 0;
};

class Driver {
 public:
  /// Opens `library` and makes a context on device 0.
  static Result<Driver> open(const std::string& library);

  const DeviceFacts& facts() const { return facts_; }
  Result<void*> load(const std::string& ptx) const;
  void unload(void* module) const;
  Result<Address> upload(const std::vector<uint64_t>& words) const;
  Status download(Address address, std::vector<uint64_t>& words) const;
  void free(Address address) const;
  /// Runs `kernel`(in, out, count) of the module and waits.
  Status run(void* module, const char* kernel, unsigned grid, unsigned block, Address in,
             Address out, uint32_t count) const;

 private:
  explicit Driver(Dylib library) : library_(library) {}

  Status find_functions();
  Status make_context();
  Status check(int code, const char* call) const;

  Dylib library_;
  DeviceFacts facts_;
  int (*init_)(unsigned) = nullptr;
  int (*driver_version_)(int*) = nullptr;
  int (*device_get_)(int*, int) = nullptr;
  int (*device_name_)(char*, int, int) = nullptr;
  int (*device_attribute_)(int*, int, int) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*set_current_)(void*) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*get_function_)(void**, void*, const char*) = nullptr;
  int (*allocate_)(Address*, size_t) = nullptr;
  int (*free_)(Address) = nullptr;
  int (*to_device_)(Address, const void*, size_t) = nullptr;
  int (*to_host_)(void*, Address, size_t) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**) = nullptr;
  int (*synchronize_)() = nullptr;
  int (*error_name_)(int, const char**) = nullptr;
};

/// Device memory that holds `words` at first.
class DeviceWords {
 public:
  static Result<DeviceWords> create(const Driver& driver, const std::vector<uint64_t>& words);
  DeviceWords(DeviceWords&& other) noexcept
      : driver_(other.driver_), address_(std::exchange(other.address_, 0)) {}
  DeviceWords& operator=(DeviceWords&&) = delete;
  ~DeviceWords() {
    if (address_ != 0) driver_->free(address_);
  }
  Address address() const { return address_; }

 private:
  DeviceWords(const Driver& driver, Address address) : driver_(&driver), address_(address) {}
  const Driver* driver_;
  Address address_;
};

}  // namespace km::gpu
