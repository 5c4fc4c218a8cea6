#include "hosts/on_device.h"
#include "kernels/launch/problem.h"

namespace km::bench {
namespace {

class DeviceEmptyBlocks : public OnDevice<EmptyBlocks> {
 public:
  explicit DeviceEmptyBlocks(uint64_t blocks) : OnDevice("launch", blocks) {
    add_kernel("empty", {blocks_}, {32}, scratch(256));
  }
};

class DevicePipelined : public OnDevice<Pipelined> {
 public:
  explicit DevicePipelined(uint64_t launches) : OnDevice("launch", launches) {
    const Buffer unused = scratch(256);
    for (uint64_t i = 0; i < launches_; ++i) add_kernel("empty", {1}, {32}, unused);
  }
};

class DeviceChain : public OnDevice<Chain> {
 public:
  explicit DeviceChain(uint64_t launches) : OnDevice("launch", launches) {
    const Buffer data = output(data_);
    for (uint64_t i = 0; i < launches_; ++i) {
      add_kernel("increment", {kCount / kBlock}, {kBlock}, data);
    }
  }
};

const Registration kEmpty("launch", make<DeviceEmptyBlocks>);
const Registration kPipelined("launch_pipelined", make<DevicePipelined>);
const Registration kChain("launch_chain", make<DeviceChain>);

}  // namespace
}  // namespace km::bench
