// The trial of a device's arithmetic, on software Vulkan.
#include "backends/vulkan/module/self_test.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/vulkan/module/facts.h"

namespace km::vulkan::test {
namespace {

/// The first device of the software driver; null if the machine lacks it.
const Adapter* software_device() {
  if (std::string(KM_TEST_LAVAPIPE).empty()) return nullptr;
  setenv("VK_DRIVER_FILES", KM_TEST_LAVAPIPE, 1);  // the loader's own variables, new and old
  setenv("VK_ICD_FILENAMES", KM_TEST_LAVAPIPE, 1);
  static const Status loaded = load_instance();
  if (!loaded) return nullptr;
  const auto all = adapters();
  return all && !all->empty() ? (*all)[0].get() : nullptr;
}

TEST(SelfTest, TriesEachOperation) {
  const Adapter* const adapter = software_device();
  if (adapter == nullptr) GTEST_SKIP() << "no software Vulkan (mesa-vulkan-drivers)";
  ASSERT_EQ(adapter->refusal(), "");
  const spirv::DeviceFacts told = told_facts(*adapter);
  EXPECT_EQ(told.f32_arithmetic, spirv::Exactness::inexact);
  const auto tried = try_arithmetic(*adapter, told);
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_EQ(tried->f32_arithmetic, spirv::Exactness::exact);
  EXPECT_EQ(tried->f64_arithmetic, spirv::Exactness::exact);
  EXPECT_EQ(tried->f32_fma, spirv::Exactness::exact);
  EXPECT_EQ(tried->f64_fma, spirv::Exactness::exact);
}

TEST(SelfTest, TellsWhatTheDriverTells) {
  const Adapter* const adapter = software_device();
  if (adapter == nullptr) GTEST_SKIP() << "no software Vulkan (mesa-vulkan-drivers)";
  const spirv::DeviceFacts told = told_facts(*adapter);
  EXPECT_TRUE(told.has_buffer_addresses);
  EXPECT_TRUE(told.has_int64);
  EXPECT_GE(told.shared_memory_bytes, 16384u);
  EXPECT_GT(told.most_loop_iterations, 0u);  // llvmpipe's
  EXPECT_EQ(told.name, adapter->name());
}

}  // namespace
}  // namespace km::vulkan::test
