// Device printf: formatted under guard, collected, handed out at synchronise.
#include "base/callback/device_output.h"

#include "backends/cpu/runtime/device_printf.h"
#include "unit/cpu/support.h"

namespace km::cpu::test {
namespace {

void collect(void* user_data, const char* text, uint64_t size_bytes) {
  static_cast<std::string*>(user_data)->append(text, size_bytes);
}

TEST(Output, TextIsHandedOutOnce) {
  Output output;
  std::string seen;
  output.set_callback(collect, &seen);
  output.append("one ");
  output.append("two");
  EXPECT_EQ(seen, "");
  output.flush();
  EXPECT_EQ(seen, "one two");
  output.flush();
  EXPECT_EQ(seen, "one two");
}

TEST(Output, TooMuchTextIsCounted) {
  Output output;
  std::string seen;
  output.set_callback(collect, &seen);
  std::string large(Output::kDefaultBytes / 2 + 1, 'x');
  output.append(large);
  output.append(large);
  output.append("end\n");
  output.flush();
  EXPECT_EQ(seen.size(), large.size() + 4 + strlen("[33554433 bytes of device printf dropped]\n"));
  EXPECT_THAT(seen, ::testing::HasSubstr("[33554433 bytes of device printf dropped]"));
}

TEST(DevicePrintf, ArgumentsAreReadAsTheFormatSays) {
  ASSERT_TRUE(install_fault_handler());
  struct {
    int32_t number = -7;
    const char* text = "lane";
    double value = 2.5;
    int64_t wide = int64_t{1} << 40;
    int32_t width = 6, padded = 42;
  } arguments;
  int32_t count = 0;
  uint64_t address = 0;
  auto text = format_device_printf("%d %s %.2f %lld [%*d] 100%%", &arguments, &count, &address);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "-7 lane 2.50 1099511627776 [    42] 100%");
}

TEST(DevicePrintf, BadPointersAreReported) {
  ASSERT_TRUE(install_fault_handler());
  int32_t count = 0;
  uint64_t address = 0;
  auto* nowhere = reinterpret_cast<const char*>(uint64_t{48});
  EXPECT_FALSE(format_device_printf(nowhere, nullptr, &count, &address).has_value());
  EXPECT_EQ(address, 48u);
  const char* bad = nowhere;
  EXPECT_FALSE(format_device_printf("%s", &bad, &count, &address).has_value());
  EXPECT_EQ(address, 48u);
  EXPECT_FALSE(format_device_printf("%d", nowhere, &count, &address).has_value());
  EXPECT_EQ(address, 48u);
}

class PrintfTest : public CpuTest {};

KM_TEST_CODE void print_block(const simt::LaunchRecord* record, simt::BlockState* state,
                              uint64_t first, uint64_t end) {
  auto* format = argument<const char*>(record);
  for (uint64_t i = first; i < end; ++i) {
    auto number = static_cast<int32_t>(i);
    record->runtime->print(record, state, format, &number, 0);
  }
}

TEST_P(PrintfTest, EveryBlockPrints) {
  TestCode code(print_block);
  std::string seen;
  context_->output().set_callback(collect, &seen);
  const char* format = "<%d>";
  launch(stream_, code, {30, 1, 1}, {1, 1, 1}, format);
  synchronize(stream_);
  context_->output().flush();
  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(seen, ::testing::HasSubstr("<" + std::to_string(i) + ">"));
  }
}

TEST_P(PrintfTest, ABadFormatFailsTheLaunch) {
  TestCode code(print_block);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, reinterpret_cast<const char*>(uint64_t{80}));
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(context_->error().message, ::testing::HasSubstr("0x50"));
}

INSTANTIATE_TEST_SUITE_P(Threads, PrintfTest, ::testing::Values(1u, 3u));

}  // namespace
}  // namespace km::cpu::test
