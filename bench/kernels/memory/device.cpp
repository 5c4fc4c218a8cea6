#include "hosts/on_device.h"
#include "kernels/memory/problem.h"

namespace km::bench {
namespace {

class DeviceMemcpy : public OnDevice<Memcpy> {
 public:
  explicit DeviceMemcpy(uint64_t size) : OnDevice("memory", size) {
    add_copy(output(to_), input(from_), size);
  }
};

class DeviceMemset : public OnDevice<Memset> {
 public:
  explicit DeviceMemset(uint64_t size) : OnDevice("memory", size) {
    add_fill(output(to_), kValue, size);
  }
};

const Registration kMemcpy("memcpy", make<DeviceMemcpy>);
const Registration kMemset("memset", make<DeviceMemset>);

}  // namespace
}  // namespace km::bench
