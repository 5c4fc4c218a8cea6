// The index of a text: its items, the excerpt that a kernel needs, and what no index is made of.
#include "ptx/index/module_index.h"

#include "support.h"

namespace km::ptx::test {
namespace {

constexpr const char* kText =
    ".version 8.3\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    "\t// .globl\tfirst { \" \n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".global .align 4 .b8 text[4] = {37, 100, 10, 0};\n"
    ".visible .global .align 4 .b32 data[64] /* { */ ;\n"
    ".global .align 8 .u64 table[2] = {generic(text), data + 4}, other;\n"
    ".visible .const .align 4 .f32 factor = 0f3F800000;\n"
    ".extern .shared .align 16 .b8 tile[];\n"
    ".func (.param .b32 r) leaf (.param .b32 x);\n"
    ".func (.param .b32 r) middle (.param .b32 x)\n{\n"
    "  .reg .b32 %r<3>;\n"
    "  { .param .b32 a; .param .b32 b; ld.param.b32 %r1, [x]; st.param.b32 [a], %r1;\n"
    "  call.uni (b), leaf, (a); ld.param.b32 %r2, [b]; }\n"
    "  st.param.b32 [r], %r2;\n  ret;\n}\n"
    ".func (.param .b32 r) leaf (.param .b32 x)\n{\n"
    "  .reg .b32 %r<2>; ld.const.b32 %r1, [factor]; st.param.b32 [r], %r1; ret;\n}\n"
    ".visible .entry first(.param .u64 first_param_0)\n"
    ".maxntid 128, 1, 1 .pragma \"nounroll\";\n{\n"
    "  .reg .b32 %r<3>;\n  .pragma \"a } b\"; // }\n"
    "  .loc 1 7 3\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;\n"
    "  call.uni (b), middle, (a); ld.param.b32 %r1, [b]; }\n"
    "  st.shared.b32 [tile], %r1;\n  ret;\n}\n"
    ".visible .entry second(.param .u64 second_param_0) { .reg .b64 %rd<2>;\n"
    "  ld.global.u64 %rd1, [table];\n  ret; } .entry third() { ret; }\n"
    ".file 1 \"a.cu\"\n"
    ".section .debug_str { .b8 125, 123 }\n";

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const Symbol& symbol : module.symbols) names.push_back(symbol.name);
  return names;
}

std::shared_ptr<const Module> excerpt_of(const ModuleIndex& index, std::string_view text,
                                         std::string_view name) {
  auto module = parse_excerpt(text, index.excerpt({&name, 1}), "t.ptx");
  EXPECT_TRUE(module) << module.error().message;
  return module ? *module : nullptr;
}

void expect_same(const Function& part, const Function& whole) {
  ASSERT_EQ(part.code.size(), whole.code.size()) << whole.name;
  for (size_t i = 0; i < part.code.size(); ++i) {
    EXPECT_EQ(part.code[i].opcode, whole.code[i].opcode);
    EXPECT_EQ(part.code[i].location.line, whole.code[i].location.line);
    EXPECT_EQ(part.code[i].location.column, whole.code[i].location.column);
  }
  EXPECT_EQ(part.location.line, whole.location.line);
  EXPECT_EQ(part.location.column, whole.location.column);
}

TEST(ModuleIndex, FindsKernelsAndVariables) {
  const auto index = ModuleIndex::read(kText);
  ASSERT_TRUE(index);
  EXPECT_THAT(index->entries(), testing::ElementsAre("first", "second", "third"));
  EXPECT_THAT(index->variables(),
              testing::ElementsAre("text", "data", "table", "other", "factor", "tile"));
  EXPECT_THAT(index->missing_functions(), testing::ElementsAre("vprintf"));
  EXPECT_TRUE(index->has("leaf"));
  EXPECT_FALSE(index->has("nothing"));
}

TEST(ModuleIndex, ExcerptHasWhatAKernelReaches) {
  const auto whole = parse_good(kText);
  const auto index = ModuleIndex::read(kText);
  ASSERT_TRUE(whole && index);
  const auto first = excerpt_of(*index, kText, "first");
  ASSERT_TRUE(first);
  EXPECT_THAT(names_of(*first), testing::ElementsAre("factor", "tile", "leaf", "middle", "first"));
  for (const Function& function : first->functions) {
    expect_same(function, *whole->find_function(function.name));
  }
  EXPECT_EQ(first->files.at(1), "a.cu");
  EXPECT_EQ(first->find_function("first")->maxntid[0], 128u);
  const auto second = excerpt_of(*index, kText, "second");
  ASSERT_TRUE(second);
  EXPECT_THAT(names_of(*second), testing::ElementsAre("text", "data", "table", "other", "second"));
  EXPECT_EQ(second->find_symbol("table")->relocations.size(), 2u);
  const auto third = excerpt_of(*index, kText, "third");
  ASSERT_TRUE(third);
  EXPECT_THAT(names_of(*third), testing::ElementsAre("third"));
  expect_same(*third->find_function("third"), *whole->find_function("third"));
}

TEST(ModuleIndex, ErrorsHaveTheirPlacesInTheWholeText) {
  const std::string text = std::string(kText) + "\n .entry bad() {\n  add.s32 %r1, 2, 3;\n}\n";
  const auto index = ModuleIndex::read(text);
  ASSERT_TRUE(index);
  const std::string_view bad = "bad", good = "first";
  const auto module = parse_excerpt(text, index->excerpt({&bad, 1}), "t.ptx");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, error_of(text));
  EXPECT_TRUE(parse_excerpt(text, index->excerpt({&good, 1}), "t.ptx"));
}

TEST(ModuleIndex, HashFollowsTextAndPlaceOfWhatIsReached) {
  const auto hash = [](const std::string& text, std::string_view name) {
    return ModuleIndex::read(text)->excerpt({&name, 1}).hash;
  };
  const auto changed = [](const char* what, const char* by) {
    std::string text = kText;
    return text.replace(text.find(what), std::string_view(what).size(), by);
  };
  const std::string leaf = changed("0f3F800000", "0f40000000");
  EXPECT_NE(hash(kText, "first"), hash(leaf, "first"));
  EXPECT_EQ(hash(kText, "second"), hash(leaf, "second"));
  const std::string moved = changed(".visible .entry second", "\n.visible .entry second");
  EXPECT_EQ(hash(kText, "first"), hash(moved, "first"));
  EXPECT_NE(hash(kText, "third"), hash(moved, "third"));
  EXPECT_NE(hash(kText, "second"), hash(changed("sm_90a", "sm_80 "), "second"));
}

TEST(ModuleIndex, AliasesLeadToTheirFunctions) {
  const std::string text = std::string(kHeader) +
                           ".visible .func shown(.param .b32 x);\n"
                           ".visible .func hidden(.param .b32 x) { ret; }\n"
                           ".alias shown, hidden;\n"
                           ".entry k() { .param .b32 a; st.param.b32 [a], 1; call shown, (a); }\n";
  const auto index = ModuleIndex::read(text);
  ASSERT_TRUE(index);
  const auto module = excerpt_of(*index, text, "k");
  ASSERT_TRUE(module);
  EXPECT_NE(module->find_function("shown")->alias_of, kNone);
  EXPECT_FALSE(uses_function_addresses(*module));
}

TEST(ModuleIndex, AddressesOfFunctionsAreSeen) {
  const std::string call =
      ".entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, f;\n"
      "p: .callprototype _ (); call %rd1, (), p; ret; }\n";
  const std::string function = std::string(kHeader) + ".func f() { ret; }\n";
  const std::string_view k = "k";
  const auto index = ModuleIndex::read(function + call);
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->excerpt({&k, 1}).calls_pointers);
  EXPECT_TRUE(uses_function_addresses(*parse_good(function + call)));
  EXPECT_TRUE(uses_function_addresses(*parse_good(function + ".global .u64 table[1] = {f};\n")));
  EXPECT_TRUE(uses_function_addresses(
      *parse_good(function + ".entry k() { .global .u64 table[1] = {f}; ret; }\n")));
  EXPECT_FALSE(uses_function_addresses(*parse_good(function + ".entry k() { call f; ret; }\n")));
}

TEST(ModuleIndex, UnknownAndBrokenTextsHaveNone) {
  for (const char* text : {"", ".version 8.3\n", ".target sm_90\n", "{ }", ".entry k() { ret; }"}) {
    EXPECT_FALSE(ModuleIndex::read(text)) << text;
  }
  for (const char* text :
       {".entry k() { ret; } .entry k() { ret; }", ".entry k() { ret;", ".entry k() { \"ret; }",
        ".entry k() { /* } ", ".global .b32", ".global .b32 a = {1", ".entry %k() { ret; }",
        ".local .b32 a;", ".entry () { ret; }", ".section .debug_str", ".unknown"}) {
    EXPECT_FALSE(ModuleIndex::read(std::string(kHeader) + text)) << text;
  }
}

}  // namespace
}  // namespace km::ptx::test
