// The words for results of Vulkan's functions.
#include "backends/vulkan/driver/result.h"

#include <gtest/gtest.h>

namespace km::vulkan::test {
namespace {

TEST(Result, BecomesAStatusWithTheFunctionsName) {
  const Error lost = vulkan_error(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
  EXPECT_EQ(lost.status, KM_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(lost.message, "vkQueueSubmit gave VK_ERROR_DEVICE_LOST (-4)");
  EXPECT_EQ(lost.native_code, VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(vulkan_error(VK_ERROR_OUT_OF_DEVICE_MEMORY, "f").status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(vulkan_error(static_cast<VkResult>(-77), "f").message,
            "f gave an unexpected result (-77)");
  EXPECT_EQ(vulkan_error(static_cast<VkResult>(-77), "f").status, KM_ERROR_INTERNAL);
}

TEST(Result, VersionsAreText) {
  EXPECT_EQ(version_text(VK_MAKE_API_VERSION(0, 1, 3, 230)), "1.3.230");
}

}  // namespace
}  // namespace km::vulkan::test
