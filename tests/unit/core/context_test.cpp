#include "core/context/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch/launch.h"
#include "core/module/module.h"
#include "core/object/callback.h"
#include "core/stream/event.h"
#include "unit/core/fake_device.h"

namespace km::test {
namespace {

using ::testing::HasSubstr;

// A call that waits without having asked for the right to wait does not compile.
template <class T>
concept WaitsUnasked = requires(T& target) { target.synchronize(); } ||
                       requires(T& target) { target.synchronize(uint64_t{1}); };
static_assert(!WaitsUnasked<Context> && !WaitsUnasked<Stream> && !WaitsUnasked<Event>);
static_assert(!std::is_default_constructible_v<MayBlock>);

constexpr const char* kPtx =
    ".version 7.0\n.visible .global .align 4 .u32 counters[4];\n"
    ".visible .entry noop()\n{ ret; }\n.visible .entry crash()\n{ trap; }\n"
    ".visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)\n{ ret; }\n";

class ContextTest : public FakeDeviceTest {};

TEST_F(ContextTest, ChildrenKeepTheirParents) {
  Ref<Module> module = std::move(*Module::load_ptx(*context_, kPtx, "m"));
  Ref<Function> function = make_ref<Function>(module, **module->kernel("noop"));
  Ref<Launch> launch = std::move(*Launch::create(*stream_, *function));
  context_ = nullptr;
  stream_ = nullptr;
  module = nullptr;
  function = nullptr;
  launch->set_grid({1, 1, 1});
  launch->set_block({1, 1, 1});
  EXPECT_TRUE(launch->submit());
}

TEST_F(ContextTest, DefaultStreamIsOneUntilReset) {
  const Ref<Stream> first = std::move(*Stream::share_default(*context_));
  const Ref<Stream> second = std::move(*Stream::share_default(*context_));
  EXPECT_EQ(first->native(), second->native());
  EXPECT_TRUE(context_->reset(*require_may_block()));
  const Ref<Stream> third = std::move(*Stream::share_default(*context_));
  EXPECT_NE(first->native(), third->native());
  EXPECT_TRUE(first->is_lost());
  EXPECT_FALSE(third->is_lost());
}

TEST_F(ContextTest, StickyErrorsStayAndOthersAreTaken) {
  context_->record_error("km_call", make_error(KM_ERROR_NOT_FOUND, "nothing there"));
  EXPECT_EQ(context_->error().status, KM_ERROR_NOT_FOUND);
  EXPECT_EQ(context_->error().message, "km_call: nothing there");
  EXPECT_EQ(context_->take_error().status, KM_ERROR_NOT_FOUND);
  EXPECT_EQ(context_->take_error().status, KM_SUCCESS);
  context_->record_error("km_call", Error{KM_NOT_READY, {}, 0});
  EXPECT_EQ(context_->error().status, KM_SUCCESS);

  const Ref<Module> module = std::move(*Module::load_ptx(*context_, kPtx, "m"));
  const Ref<Function> crash = make_ref<Function>(module, **module->kernel("crash"));
  const LaunchShape shape{{1, 1, 1}, {1, 1, 1}, 0};
  EXPECT_TRUE(submit_launch(*stream_, {*crash, shape, nullptr, 0, {}}));
  for (int i = 0; i < 2; ++i) {
    const Error error = context_->take_error();
    EXPECT_EQ(error.status, KM_ERROR_TRAP);
    EXPECT_THAT(error.message, HasSubstr("executed trap"));
    EXPECT_EQ(error.native_code, 7);
  }
  EXPECT_FALSE(submit_launch(*stream_, {*crash, shape, nullptr, 0, {}}));
  EXPECT_TRUE(context_->reset(*require_may_block()));
  EXPECT_EQ(context_->error().status, KM_SUCCESS);
}

TEST_F(ContextTest, CallbacksMayNotBlock) {
  static km_status inside = KM_SUCCESS;
  EXPECT_TRUE(stream_->queue_callback(
      [](void*, km_status) { inside = require_may_block().error().status; }, nullptr));
  EXPECT_TRUE(stream_->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(inside, KM_ERROR_NOT_PERMITTED);
  EXPECT_FALSE(in_callback());
}

TEST_F(ContextTest, QueriesAndTimeLimits) {
  fake_set_deferred(true);
  const Ref<Event> event = std::move(*Event::create(*context_, KM_EVENT_DEFAULT));
  EXPECT_TRUE(event->query());
  EXPECT_TRUE(event->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(event->elapsed_ns(*event).error().status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(event->record(*stream_));
  EXPECT_EQ(event->query().error().status, KM_NOT_READY);
  EXPECT_EQ(event->poll().error().status, KM_TIMEOUT);
  EXPECT_EQ(event->elapsed_ns(*event).error().status, KM_NOT_READY);
  EXPECT_EQ(stream_->query().error().status, KM_NOT_READY);
  EXPECT_EQ(stream_->poll().error().status, KM_TIMEOUT);
  EXPECT_TRUE(stream_->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_TRUE(stream_->query());
  EXPECT_EQ(*event->elapsed_ns(*event), 0);
}

TEST_F(ContextTest, EventsWithoutTimesAreRefused) {
  const Ref<Event> timed = std::move(*Event::create(*context_, KM_EVENT_DEFAULT));
  const Ref<Event> plain = std::move(*Event::create(*context_, KM_EVENT_DISABLE_TIMING));
  EXPECT_TRUE(timed->record(*stream_));
  EXPECT_TRUE(plain->record(*stream_));
  const Result<int64_t> elapsed = timed->elapsed_ns(*plain);
  EXPECT_EQ(elapsed.error().status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(elapsed.error().message, HasSubstr("end was created with KM_EVENT_DISABLE_TIMING"));
}

TEST_F(ContextTest, PrioritiesAreChecked) {
  EXPECT_TRUE(Stream::create(*context_, KM_STREAM_DEFAULT, -2));
  for (const int32_t bad : {1, -3, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(Stream::create(*context_, KM_STREAM_DEFAULT, bad).error().status,
              KM_ERROR_INVALID_ARGUMENT);
  }
}

TEST_F(ContextTest, MissingKernelsComeWithSuggestions) {
  const Ref<Module> module = std::move(*Module::load_ptx(*context_, kPtx, "filters.ptx"));
  const Result<const Kernel*> missing = module->kernel("scal");
  EXPECT_EQ(missing.error().status, KM_ERROR_NOT_FOUND);
  EXPECT_THAT(missing.error().message,
              HasSubstr("no kernel 'scal' in module 'filters.ptx'. Did you mean 'scale'? It has "
                        "'noop', 'crash', 'scale'"));
  EXPECT_THAT(missing.error().message, testing::EndsWith("."));
  EXPECT_THAT(module->kernel("histogram").error().message,
              HasSubstr("in module 'filters.ptx'. It has 'noop'"));
}

TEST_F(ContextTest, MissingKernelsAreFoundByTheirNamesInTheSource) {
  constexpr const char* kText =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry _Z5saxpyifPKfPf(.param .u32 n)\n{\nret;\n}\n";
  const Ref<Module> module = std::move(*Module::load_ptx(*context_, kText, "m.ptx"));
  for (const char* name : {"saxpy", "sxapy"}) {
    EXPECT_THAT(module->kernel(name).error().message,
                HasSubstr("Did you mean '_Z5saxpyifPKfPf', which is 'saxpy' in the source? It has "
                          "'_Z5saxpyifPKfPf' (kernels of C++ have mangled names"));
  }
}

TEST_F(ContextTest, GlobalsAreOneSlicePerSymbol) {
  Ref<Module> module = std::move(*Module::load_ptx(*context_, kPtx, "m"));
  const Ref<Memory> first = std::move(*module->global("counters"));
  const Ref<Memory> second = std::move(*module->global("counters"));
  EXPECT_EQ(first.get(), second.get());
  EXPECT_EQ(first->size_bytes(), 16u);
  EXPECT_EQ(module->global("none").error().status, KM_ERROR_NOT_FOUND);
  module = nullptr;
  EXPECT_EQ(fake_counters().modules, 1);
}

// Whatever backend call fails, the error comes through and nothing is left behind.
Status whole_scenario() {
  KM_ASSIGN(Ref<Device> device, Device::open("fake:1"));
  KM_ASSIGN(const Ref<Context> context, Context::create(std::move(device)));
  KM_ASSIGN(const Ref<Stream> stream, Stream::create(*context, KM_STREAM_DEFAULT, 0));
  KM_ASSIGN(const Ref<Stream> shared, Stream::share_default(*context));
  KM_ASSIGN(const Ref<Event> event, Event::create(*context, KM_EVENT_DEFAULT));
  KM_ASSIGN(const Ref<Slice> slice, Slice::create(*context, stream.get(), 16, 4, 0));
  static char bytes[64];
  KM_ASSIGN(const Ref<Slice> wrapped, Slice::from_host(*context, bytes, 64, 1));
  KM_ASSIGN(const Ref<Module> module, Module::load_ptx(*context, kPtx, "m"));
  KM_ASSIGN(const Kernel* kernel, module->kernel("noop"));
  const Ref<Function> function = make_ref<Function>(module, *kernel);
  KM_ASSIGN(const Ref<Launch> launch, Launch::create(*stream, *function));
  launch->set_grid({1, 1, 1});
  launch->set_block({1, 1, 1});
  KM_TRY(launch->submit());
  KM_TRY(event->record(*shared));
  KM_TRY(stream->wait_event(*event));
  KM_TRY(stream->queue_callback([](void*, km_status) {}, nullptr));
  return stream->synchronize(*require_may_block(), KMB_WAIT_FOREVER);
}

TEST_F(ContextTest, EveryFailureOfTheBackendIsHandled) {
  int failures = 0;
  for (int call = 0;; ++call) {
    fake_fail_call(call, KM_ERROR_OUT_OF_DEVICE_MEMORY);
    const Status status = whole_scenario();
    if (status) break;
    ++failures;
    EXPECT_EQ(status.error().status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_EQ(status.error().message, "made to fail");
    ASSERT_LT(call, 100);
  }
  EXPECT_GT(failures, 10);
  fake_fail_call(-1, KM_SUCCESS);
}

}  // namespace
}  // namespace km::test
