// Real compilers' output: read, verified, printed, read again.
#include "support.h"

namespace km::ptx::test {
namespace {

class Sample : public testing::TestWithParam<const char*> {};

TEST_P(Sample, IsReadVerifiedAndPrintedBack) {
  std::string text = sample(GetParam());
  ASSERT_FALSE(text.empty());
  auto module = parse_good(text);
  ASSERT_TRUE(module);
  auto verified = verify(*module);
  EXPECT_TRUE(verified) << verified.error().message;
  std::string once = print(*module);
  auto again = parse_good(once);
  ASSERT_TRUE(again);
  EXPECT_EQ(print(*again), once);
  ASSERT_EQ(again->functions.size(), module->functions.size());
  for (const Function& function : module->functions) {
    const Function* other = again->find_function(function.name);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->code.size(), function.code.size()) << function.name;
    EXPECT_EQ(other->params.size(), function.params.size()) << function.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, Sample, testing::ValuesIn(kSamples),
                         [](const auto& info) { return std::string(info.param); });

TEST(SampleFacts, CallHasWhatTheSourceHad) {
  auto module = parse_good(sample("call"));
  ASSERT_TRUE(module);
  const Function* k = module->find_function("k");
  ASSERT_TRUE(k);
  EXPECT_TRUE(k->is_entry);
  EXPECT_EQ(k->params.size(), 3u);
  EXPECT_EQ(k->symbols[k->params[2]].size_bytes, 24u);
  const Symbol* table = module->find_symbol("tab");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->relocations.size(), 2u);
  EXPECT_EQ(module->symbols[table->relocations[1].symbol].name, "_Z2fbif");
  const Symbol* pointer = module->find_symbol("gp");
  ASSERT_TRUE(pointer);
  ASSERT_EQ(pointer->relocations.size(), 1u);
  EXPECT_TRUE(pointer->relocations[0].generic);
  EXPECT_TRUE(module->find_symbol("man")->managed);
  const Function* bounds = module->find_function("_Z2lbP6float4P4int2P7double2P6uchar4PKS_");
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->maxntid[0], 256u);
  EXPECT_EQ(bounds->minnctapersm, 2u);
}

TEST(SampleFacts, LinesLeadBackToTheSource) {
  auto module = parse_good(sample("lines"));
  ASSERT_TRUE(module);
  EXPECT_EQ(module->files.at(1), "call.cu");
  const Function* k = module->find_function("k");
  ASSERT_TRUE(k);
  size_t with_line = 0;
  for (const Instruction& instruction : k->code) {
    if (instruction.source_line == kNone) continue;
    ASSERT_LT(instruction.source_line, k->source_lines.size());
    with_line += k->source_lines[instruction.source_line].line > 0;
  }
  EXPECT_GT(with_line, k->code.size() / 2);
}

}  // namespace
}  // namespace km::ptx::test
