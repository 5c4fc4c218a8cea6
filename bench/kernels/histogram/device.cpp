#include <algorithm>

#include "hosts/on_device.h"
#include "kernels/histogram/problem.h"

namespace km::bench {
namespace {

class DeviceHistogram : public OnDevice<Histogram> {
 public:
  DeviceHistogram(const char* kernel, uint64_t count) : OnDevice("histogram", count) {
    const auto words = static_cast<int>(words_.count());
    const auto blocks = static_cast<uint32_t>(std::min((words + 255) / 256, 1024));
    const Buffer bins = output(bins_);
    add_fill(bins, 0, bins_.size_bytes());
    add_kernel(kernel, {blocks}, {kBlock}, input(words_), bins, words);
  }
};

struct Shared : DeviceHistogram {
  explicit Shared(uint64_t count) : DeviceHistogram("histogram_shared", count) {}
};
struct Global : DeviceHistogram {
  explicit Global(uint64_t count) : DeviceHistogram("histogram_global", count) {}
};

const Registration kShared("histogram_shared", make<Shared>);
const Registration kGlobal("histogram_global", make<Global>);

}  // namespace
}  // namespace km::bench
