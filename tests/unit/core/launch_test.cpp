#include "core/launch/launch.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/core/fake_device.h"

namespace km::test {
namespace {

class LaunchTest : public FakeDeviceTest {
 protected:
  uint32_t pick(std::mt19937& random) {
    constexpr uint32_t kValues[] = {0,    1,    2,     31,    32,    63,         64,
                                    65,   1023, 1024,  1025,  65535, 65536,      1u << 20,
                                    4096, 512,  65534, 16384, 8,     0x7FFFFFFF, UINT32_MAX};
    return kValues[random() % std::size(kValues)];
  }
};

TEST_F(LaunchTest, ShapesFitWhereNoErrorIsFound) {
  std::mt19937 random(3);
  const Device& device = context_->device();
  int fitting = 0;
  for (int i = 0; i < 100000; ++i) {
    LaunchShape shape;
    for (uint32_t axis = 0; axis < 3; ++axis) {
      shape.grid[axis] = pick(random);
      shape.block[axis] = random() % 4 == 0 ? pick(random) : 1 + random() % 16;
    }
    shape.shared_bytes = random() % (256 << 10);
    const bool fits = fits_device(device.info(), shape);
    ASSERT_EQ(fits, static_cast<bool>(check_shape(device, shape)))
        << shape.grid[0] << " " << shape.block[0] << " " << shape.block[1] << " " << shape.block[2];
    fitting += fits ? 1 : 0;
  }
  EXPECT_GT(fitting, 1000);
}

TEST_F(LaunchTest, SlicesFitWhereNoErrorIsFound) {
  constexpr const char* kPtx =
      ".version 7.0\n.visible .entry k(.param .u64 a, .param .u32 b, .param .u64 c)\n{ ret; }\n";
  const Ref<Module> module = std::move(*Module::load_ptx(*context_, kPtx, "m"));
  const Ref<Function> function = make_ref<Function>(module, **module->kernel("k"));
  const Ref<Slice> own = std::move(*Slice::create(*context_, nullptr, 16, 1, 0));
  Ref<Device> device = Ref<Device>::share(context_->device());
  const Ref<Context> other = std::move(*Context::create(std::move(device)));
  const Ref<Slice> foreign = std::move(*Slice::create(*other, nullptr, 16, 1, 0));
  int fitting = 0;
  for (uint32_t parameter : {0u, 1u, 2u, 3u, UINT32_MAX}) {
    for (uint64_t offset : {uint64_t{0}, uint64_t{16}, uint64_t{17}, UINT64_MAX}) {
      for (Slice* slice : {own.get(), foreign.get()}) {
        const SliceArgument argument{parameter, offset, slice};
        const bool fits = fits_parameter(*context_, *function, argument);
        EXPECT_EQ(fits, static_cast<bool>(check_slice_argument(*context_, *function, argument)));
        fitting += fits ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(fitting, 4);
}

}  // namespace
}  // namespace km::test
