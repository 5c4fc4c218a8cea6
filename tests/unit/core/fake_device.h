// A context on the fake backend, and a check that nothing is left of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/context/context.h"
#include "core/device/device.h"
#include "core/stream/stream.h"
#include "support/core/fake_backend.h"

namespace km::test {

class FakeDeviceTest : public ::testing::Test {
 protected:
  FakeDeviceTest() {
    static const bool added = (backends().add_builtin(fake_backend()), true);
    EXPECT_TRUE(added);
    fake_set_deferred(false);
    fake_fail_call(-1, KM_SUCCESS);
  }
  void SetUp() override {
    Result<Ref<Device>> device = Device::open("fake");
    ASSERT_TRUE(device) << device.error().message;
    Result<Ref<Context>> context = Context::create(std::move(*device));
    ASSERT_TRUE(context) << context.error().message;
    context_ = std::move(*context);
    Result<Ref<Stream>> stream = Stream::create(*context_, KM_STREAM_DEFAULT, 0);
    ASSERT_TRUE(stream) << stream.error().message;
    stream_ = std::move(*stream);
  }
  void TearDown() override {
    stream_ = nullptr;
    context_ = nullptr;
    const FakeCounters& left = fake_counters();
    EXPECT_EQ(left.memories, 0);
    EXPECT_EQ(left.modules, 0);
    EXPECT_EQ(left.events, 0);
    EXPECT_EQ(left.streams, 0);
    EXPECT_EQ(left.contexts, 0);
    EXPECT_EQ(left.devices, 0);
  }

  Ref<Context> context_;
  Ref<Stream> stream_;
};

}  // namespace km::test
