// Variables, registers and initial values.
#include "support.h"

namespace km::ptx::test {
namespace {

std::shared_ptr<const Module> declared(std::string_view text) {
  return parse_good(std::string(kHeader) + std::string(text));
}

std::string declaration_error(std::string_view text) {
  return error_of(std::string(kHeader) + std::string(text));
}

TEST(Declaration, Header) {
  auto module = parse_good(".version 8.0\n.target sm_90a, debug\n.address_size 64\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version_major, 8u);
  EXPECT_EQ(module->version_minor, 0u);
  EXPECT_EQ(module->target, "sm_90a");
  EXPECT_EQ(module->target_sm, 90u);
  EXPECT_THAT(module->target_options, testing::ElementsAre("debug"));
  EXPECT_EQ(error_of(""),
            "t.ptx:1:1: found the end of the text, expected '.version': a PTX module begins "
            "with it");
  EXPECT_EQ(error_of(".version 8.0\n.target gfx90\n"),
            "t.ptx:2:9: unknown target 'gfx90', expected sm_ and the number of an architecture");
  EXPECT_EQ(error_of(".version 8.0\n.target sm_80\n.address_size 16\n"),
            "t.ptx:3:15: the address size must be an integer from 32 to 64, found '16'");
}

TEST(Declaration, SpacesTypesAndSizes) {
  auto module = declared(
      ".global .align 16 .b8 a[100];\n.const .f64 b;\n.shared .v4 .f32 c[3];\n"
      ".extern .shared .align 8 .b8 d[];\n.visible .global .s16 e[2][3][4], f;\n"
      ".weak .global .u64 g;\n.common .global .u8 h;\n.global .attribute(.managed) .u32 i;\n"
      ".global .texref t; .global .samplerref s = { filter_mode = nearest };\n");
  ASSERT_TRUE(module);
  const Symbol& a = *module->find_symbol("a");
  EXPECT_EQ(a.space, Space::global);
  EXPECT_EQ(a.align_bytes, 16u);
  EXPECT_EQ(a.size_bytes, 100u);
  EXPECT_TRUE(a.is_array);
  const Symbol& c = *module->find_symbol("c");
  EXPECT_EQ(c.space, Space::shared);
  EXPECT_EQ(c.size_bytes, 48u);
  EXPECT_EQ(c.align_bytes, 16u);
  EXPECT_EQ(c.vector_count, 4u);
  EXPECT_EQ(c.element_count, 3u);
  const Symbol& d = *module->find_symbol("d");
  EXPECT_TRUE(d.unsized);
  EXPECT_EQ(d.linkage, Linkage::external);
  EXPECT_EQ(d.size_bytes, 0u);
  EXPECT_EQ(module->find_symbol("e")->size_bytes, 48u);
  EXPECT_FALSE(module->find_symbol("f")->is_array);
  EXPECT_EQ(module->find_symbol("g")->linkage, Linkage::weak);
  EXPECT_EQ(module->find_symbol("h")->linkage, Linkage::common);
  EXPECT_TRUE(module->find_symbol("i")->managed);
  auto old = parse_good(".version 1.4\n.target sm_13\n.tex .u32 u;\n");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->find_symbol("u")->type, Type::texref);
}

TEST(Declaration, InitialValues) {
  auto module = declared(
      ".global .u32 a = 5;\n.global .f32 b[2] = {1.0, 0f40000000};\n"
      ".global .s8 c[4] = {-1, 2};\n.global .u16 d[2][3] = {{1, 2}, {3}};\n"
      ".global .u16 e[2][3] = {{1, 2, 3}, {4}};\n.global .u32 f[] = {1, 2, 3};\n"
      ".global .v2 .u32 g[2] = {{1, 2}, {3, 4}};\n.global .u32 h[][2] = {{1, 2}, {3}};\n"
      ".global .f64 i = 3.0;\n.global .u64 j = 1 << 40;\n");
  ASSERT_TRUE(module);
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(module->find_symbol("a")->data, (Bytes{5, 0, 0, 0}));
  EXPECT_EQ(module->find_symbol("b")->data, (Bytes{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  EXPECT_EQ(module->find_symbol("c")->data, (Bytes{0xff, 2})) << "the rest is zero";
  EXPECT_EQ(module->find_symbol("c")->size_bytes, 4u);
  EXPECT_EQ(module->find_symbol("d")->data, (Bytes{1, 0, 2, 0, 0, 0, 3, 0}));
  EXPECT_EQ(module->find_symbol("e")->data, (Bytes{1, 0, 2, 0, 3, 0, 4, 0}));
  EXPECT_EQ(module->find_symbol("f")->size_bytes, 12u);
  EXPECT_FALSE(module->find_symbol("f")->unsized);
  EXPECT_EQ(module->find_symbol("g")->data.size(), 16u);
  EXPECT_EQ(module->find_symbol("h")->size_bytes, 16u);
  EXPECT_EQ(module->find_symbol("i")->data, (Bytes{0, 0, 0, 0, 0, 0, 8, 0x40}));
  EXPECT_EQ(module->find_symbol("j")->data, (Bytes{0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST(Declaration, Addresses) {
  auto module = declared(
      ".global .u32 x[4];\n.func f;\n"
      ".global .u64 a[4] = {x, x+8, generic(x)+4, f};\n"
      ".global .u8 m[2] = {0xFF(x), 0xFF00(x+4)};\n");
  ASSERT_TRUE(module);
  const auto& list = module->find_symbol("a")->relocations;
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[1].offset, 8u);
  EXPECT_EQ(list[1].addend, 8);
  EXPECT_EQ(module->symbols[list[1].symbol].name, "x");
  EXPECT_FALSE(list[1].generic);
  EXPECT_TRUE(list[2].generic);
  EXPECT_EQ(list[2].addend, 4);
  EXPECT_TRUE(module->symbols[list[3].symbol].is_function);
  const auto& masked = module->find_symbol("m")->relocations;
  ASSERT_EQ(masked.size(), 2u);
  EXPECT_EQ(masked[1].mask, 0xff00u);
  EXPECT_EQ(masked[1].size_bytes, 1u);
  EXPECT_EQ(masked[1].addend, 4);
}

TEST(Declaration, Errors) {
  EXPECT_EQ(declaration_error(".global .u32 a;\n.global .f32 a;"),
            "t.ptx:5:14: duplicate name 'a', first declared in line 4");
  EXPECT_EQ(declaration_error(".global .u32 a[2] = {1,2,3};"),
            "t.ptx:4:26: more initial values than elements");
  EXPECT_EQ(declaration_error(".global .u32 a[2] = {{{1}},2};"),
            "t.ptx:4:22: found '{', expected a constant");
  EXPECT_EQ(declaration_error(".global .u64 a = nowhere;"),
            "t.ptx:4:18: undefined name 'nowhere' in an initialiser: it must be declared before");
  EXPECT_EQ(
      declaration_error(".global .u32 b; .global .f32 a = b;"),
      "t.ptx:4:34: a variable of type .f32 cannot hold an address: declare it .u64, or .u8 for "
      "single bytes");
  EXPECT_EQ(declaration_error(".extern .global .u64 a = b;\n.global .u64 a; .global .u64 b;"),
            "t.ptx:4:24: an '.extern' variable cannot be initialised");
  EXPECT_EQ(declaration_error(".shared .u32 a = 1;"),
            "t.ptx:4:18: a variable in .shared cannot be initialised");
  EXPECT_EQ(declaration_error(".global .u32 a = 1.5;"),
            "t.ptx:4:18: a floating-point value cannot initialise a variable of type .u32");
  EXPECT_EQ(declaration_error(".global .align 3 .u32 a;"),
            "t.ptx:4:16: an alignment must be a power of two");
  EXPECT_EQ(declaration_error(".global .b32 a[2][];"),
            "t.ptx:4:18: only the first dimension may be left open");
  EXPECT_EQ(declaration_error(".global .b32 a[];"),
            "t.ptx:4:14: array 'a' needs a size, an initialiser or '.extern'");
  EXPECT_EQ(declaration_error(".global .pred a;"),
            "t.ptx:4:9: a variable in .global cannot have the type .pred");
  EXPECT_EQ(declaration_error(".reg .b32 a;"),
            "t.ptx:4:1: '.reg' can be declared in functions only");
  EXPECT_EQ(declaration_error(".glbal .b32 a;"),
            "t.ptx:4:1: unknown directive '.glbal', did you mean '.global'?");
  EXPECT_EQ(declaration_error(".global .u33 a;"),
            "t.ptx:4:9: found '.u33', expected a type such as .b32, '.align', '.v2' or '.v4'");
  EXPECT_EQ(declaration_error(".global .b8 a[1099511627777];"),
            "t.ptx:4:15: the size of an array must be an integer from 1 to 1099511627776, found "
            "'1099511627777'");
  EXPECT_EQ(declaration_error(".global .b64 a[1048576][1048576];"),
            "t.ptx:4:14: 'a' is larger than 1 TiB");
  EXPECT_EQ(declaration_error(".global .b8 a[2][1099511627776];"),
            "t.ptx:4:13: 'a' is larger than 1 TiB");
  EXPECT_EQ(declaration_error(".global .b8 a[2][1000000000] = {{1}, {1}};"),
            "t.ptx:4:39: this initial value lies too far behind the ones before it");
}

TEST(Declaration, SectionsFilesAndPragmasAreRead) {
  auto module = declared(
      ".file 1 \"a b.cu\"\n.file 2 \"c.cu\", 123, 456\n.pragma \"nounroll\";\n"
      ".section .debug_str\n{\n$L__info: .b8 1,2,3\n.b64 $L__info+8\n}\n.section foo {}\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->files.at(1), "a b.cu");
  EXPECT_EQ(module->files.at(2), "c.cu");
  EXPECT_THAT(module->pragmas, testing::ElementsAre("nounroll"));
  EXPECT_EQ(declaration_error(".section .debug_str {"), "t.ptx:4:21: this section has no end");
}

TEST(Declaration, RegistersAreExpandedOnUse) {
  auto module =
      parse_good(kernel(".reg .b32 %huge<4294967295>;\n"
                        "mov.b32 %huge4294967294, %huge7;"));
  ASSERT_TRUE(module);
  const auto& registers = module->functions[0].registers;
  ASSERT_EQ(registers.size(), 2u);
  EXPECT_EQ(registers[0].name, "%huge4294967294");
  EXPECT_EQ(body_error("mov.b32 %r100, 1;"), "t.ptx:11:9: undefined register '%r100'");
  EXPECT_EQ(body_error("mov.b32 %r007, 1;"), "t.ptx:11:9: undefined register '%r007'");
  EXPECT_EQ(body_error(".reg .b32 %q<4294967296>;"),
            "t.ptx:11:14: found '4294967296', expected the number of registers");
  EXPECT_EQ(body_error(".reg .b32 a, a;"), "t.ptx:11:14: duplicate name 'a'");
  EXPECT_EQ(body_error("{ .reg .b32 %r5; }"), "") << "an inner scope may shadow";
}

TEST(Declaration, VectorRegisters) {
  auto module = parse_good(kernel(
      ".reg .v4 .f32 q; .reg .v2 .b32 w;\n"
      "ld.global.v4.f32 q, [%rd1]; add.f32 q.x, q.w, q.b; mov.b32 w.y, w.x; st.v2.b32 [%rd1], w;"));
  ASSERT_TRUE(module);
  EXPECT_EQ(printed(*module, 0), "ld.global.v4.f32 {q.x, q.y, q.z, q.w}, [%rd1]");
  EXPECT_EQ(printed(*module, 1), "add.f32 q.x, q.w, q.z");
  EXPECT_EQ(printed(*module, 3), "st.v2.b32 [%rd1], {w.x, w.y}");
  std::string text = print(*module);
  EXPECT_NE(text.find(".reg .v4 .f32 q;"), std::string::npos) << text;
  EXPECT_EQ(body_error(".reg .v2 .f32 q; mov.f32 %f1, q.z;"),
            "t.ptx:11:32: found '.z', expected the component .x or .y");
}

}  // namespace
}  // namespace km::ptx::test
