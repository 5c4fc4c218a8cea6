// Functions: signatures, directives, scopes, labels, calls.
#include "ptx/inlined_calls.h"
#include "support.h"

namespace km::ptx::test {
namespace {

std::shared_ptr<const Module> with_header(std::string_view text) {
  return parse_good(std::string(kHeader) + std::string(text));
}

std::string header_error(std::string_view text) {
  return error_of(std::string(kHeader) + std::string(text));
}

TEST(Function, ParametersOfAKernel) {
  auto module = with_header(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24],\n"
      ".param .u32 c, .param .u64 .ptr d)\n"
      ".maxntid 256, 2\n.minnctapersm 2 .maxnreg 64 .reqnctapercluster 2, 1, 1\n"
      ".explicitcluster .pragma \"nounroll\";\n{ ret; }\n");
  ASSERT_TRUE(module);
  const Function& k = module->functions[0];
  EXPECT_TRUE(k.is_entry);
  EXPECT_EQ(k.linkage, Linkage::visible);
  ASSERT_EQ(k.params.size(), 4u);
  EXPECT_TRUE(k.symbols[k.params[0]].is_param_pointer);
  EXPECT_EQ(k.symbols[k.params[0]].pointer_space, Space::global);
  EXPECT_EQ(k.symbols[k.params[0]].pointer_align_bytes, 16u);
  EXPECT_EQ(k.symbols[k.params[0]].align_bytes, 8u);
  EXPECT_EQ(k.symbols[k.params[1]].size_bytes, 24u);
  EXPECT_FALSE(k.symbols[k.params[2]].is_param_pointer);
  EXPECT_EQ(k.symbols[k.params[3]].pointer_space, Space::generic);
  EXPECT_EQ(k.maxntid, (std::array<uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(k.reqnctapercluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(k.minnctapersm, 2u);
  EXPECT_EQ(k.maxnreg, 64u);
  auto other = with_header(".entry k() .reqntid 32 .maxclusterrank 8 { ret; }\n");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->functions[0].reqntid, (std::array<uint32_t, 3>{32, 1, 1}));
  EXPECT_EQ(other->functions[0].maxclusterrank, 8u);
  EXPECT_TRUE(k.explicitcluster);
  EXPECT_THAT(k.pragmas, testing::ElementsAre("nounroll"));
  std::string text = print(*module);
  EXPECT_EQ(print(*parse_good(text)), text);
}

TEST(Function, DirectCalls) {
  auto module = with_header(
      ".extern .func (.param .b32 r) ext(.param .b64 a, .param .b64 b);\n"
      ".func (.reg .u32 rv) inner(.reg .u32 x, .reg .f32 y) { add.u32 rv, x, 1; ret; }\n"
      ".func nothing .noreturn;\n"
      ".entry k() { .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<2>;\n"
      "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n"
      "st.param.b64 [param0+0], %rd1;\n"
      "call.uni (retval0), ext, (param0, param1);\nld.param.b32 %r1, [retval0+0]; }\n"
      "call (%r1), inner, (%r2, 1.5);\ncall nothing;\ncall nothing, ();\n}\n");
  ASSERT_TRUE(module);
  const Function* k = module->find_function("k");
  ASSERT_TRUE(k);
  const Instruction& first = k->code[1];
  EXPECT_EQ(first.opcode, Opcode::call);
  EXPECT_TRUE(first.has(Modifier::uni));
  ASSERT_EQ(first.operand_count, 3);
  EXPECT_EQ(first.operands[0].count, 1u);
  EXPECT_EQ(module->symbols[first.operands[1].symbol].name, "ext");
  EXPECT_EQ(first.operands[2].count, 2u);
  const Operand& argument = k->operand_pool[first.operands[2].first];
  EXPECT_EQ(argument.kind, Operand::Kind::symbol);
  EXPECT_TRUE(argument.local_symbol);
  EXPECT_EQ(k->operand_pool[k->code[3].operands[2].first + 1].bits, 0x3fc00000u);
  EXPECT_EQ(k->code[4].operands[0].count, 0u);
  EXPECT_TRUE(module->find_function("nothing")->noreturn);
  const Function* inner = module->find_function("inner");
  EXPECT_EQ(inner->symbols[inner->returns[0]].reg, 0u);
  EXPECT_EQ(inner->registers[inner->symbols[inner->params[1]].reg].type, Type::f32);
  std::string text = print(*module);
  EXPECT_EQ(print(*parse_good(text)), text);
}

TEST(Function, IndirectCalls) {
  auto module = with_header(
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
      ".func (.param .b32 r) g(.param .b32 a) { ret; }\n"
      ".global .u64 table[2] = {f, g};\n"
      ".entry k() { .reg .b64 %rd<4>; .reg .b32 %r<4>; .param .b32 a; .param .b32 r;\n"
      "mov.u64 %rd1, f;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (r), %rd1, (a), proto;\n"
      "targets: .calltargets f, g;\n"
      "call (r), %rd1, (a), targets;\ncall (r), %rd1, (a), table; }\n");
  ASSERT_TRUE(module);
  const Function* k = module->find_function("k");
  EXPECT_EQ(k->code[1].operands[3].kind, Operand::Kind::prototype);
  EXPECT_EQ(k->prototypes[0].params.size(), 1u);
  EXPECT_EQ(k->code[2].operands[3].kind, Operand::Kind::target_list);
  EXPECT_EQ(k->target_lists[0].functions.size(), 2u);
  EXPECT_EQ(k->code[3].operands[3].kind, Operand::Kind::symbol);
  std::string text = print(*module);
  EXPECT_EQ(print(*parse_good(text)), text);
}

TEST(Function, CallErrors) {
  std::string f =
      ".func (.param .b32 r) f(.param .b64 a);\n.entry k() { .reg .b32 %r<4>; "
      ".reg .b64 %rd<4>; .param .b32 p; .local .b32 l;\n";
  EXPECT_EQ(header_error(f + "call f, (%rd1); }"), "t.ptx:6:1: 'f' has 1 results, found 0");
  EXPECT_EQ(header_error(f + "call (%r1), f; }"), "t.ptx:6:1: 'f' has 1 arguments, found 0");
  EXPECT_EQ(header_error(f + "call (%r1), f, (%r2); }"),
            "t.ptx:6:1: number 1 of the arguments of 'f' has 4 bytes, expected 8");
  EXPECT_EQ(header_error(f + "call (p), f, (l); }"),
            "t.ptx:6:1: 'l' is in .local, expected a variable in .param");
  EXPECT_EQ(header_error(f + "call (%r1), f, (1.5; }"),
            "t.ptx:6:20: found ';', expected ')' after the arguments of a call");
}

TEST(Function, DeclarationThenBody) {
  auto module = with_header(
      ".func (.param .b32 r) f(.param .b32 a);\n"
      ".entry k() { .param .b32 a; .param .b32 r; call (r), f, (a); }\n"
      ".visible .func (.param .b32 x) f(.param .b32 y) { ret; }\n");
  ASSERT_TRUE(module);
  ASSERT_EQ(module->functions.size(), 2u);
  EXPECT_FALSE(module->functions[0].is_declaration);
  EXPECT_EQ(module->functions[0].linkage, Linkage::visible);
  std::string text = print(*module);
  EXPECT_EQ(print(*parse_good(text)), text);
  EXPECT_EQ(header_error(".func f; .func f(.param .b32 a) { ret; }"),
            "t.ptx:4:16: function 'f' differs from its declaration, first seen in line 4");
  EXPECT_EQ(header_error(".func f { ret; }\n.func f { ret; }"),
            "t.ptx:5:7: function 'f' has a second body, first seen in line 4");
  EXPECT_EQ(header_error(".extern .func f { ret; }"),
            "t.ptx:4:17: an '.extern' function has no body");
  EXPECT_EQ(header_error(".entry k(.reg .b32 a) { ret; }"),
            "t.ptx:4:10: the parameters of an '.entry' are in .param");
  EXPECT_EQ(header_error(".entry k() .maxntidd 3 { ret; }"),
            "t.ptx:4:12: unknown directive '.maxntidd' of a function, did you mean '.maxntid'?");
  EXPECT_EQ(header_error(".entry k() { ret;"), "t.ptx:4:12: this '{' is never closed");
  EXPECT_EQ(header_error(".entry k(.param .u32 a, .param .u32 a) { ret; }"),
            "t.ptx:4:37: duplicate name 'a'");
}

TEST(Function, ScopesShadow) {
  auto module =
      parse_good(kernel(".reg .b32 x; .reg .f32 y;\n"
                        "mov.b32 x, 1;\n{ .reg .f32 x; .reg .b32 %r<2>; mov.f32 x, 1.0; mov.b32 "
                        "%r1, 7; { .reg .b64 x; mov.b64 x, 2; } "
                        "mov.f32 x, y; }\nmov.b32 x, %r1;"));
  ASSERT_TRUE(module);
  EXPECT_EQ(printed(*module, 0), "mov.b32 x, 1");
  EXPECT_EQ(printed(*module, 1), "mov.f32 x$2, 0f3F800000");
  EXPECT_EQ(printed(*module, 3), "mov.b64 x$3, 2");
  EXPECT_EQ(printed(*module, 4), "mov.f32 x$2, y");
  EXPECT_EQ(printed(*module, 5), "mov.b32 x, %r1$2") << "the outer %r1 is another register";
  const Function& k = module->functions[0];
  EXPECT_NE(k.code[5].operands[1].reg, k.code[2].operands[0].reg);
}

TEST(Function, LabelsOfScopes) {
  auto module = parse_good(kernel(
      "{ L: bra L; }\n{ bra L; L: ret; { bra L; { L: bra L; } } }\nbra L;\nL: bra END; END:"));
  ASSERT_TRUE(module);
  const Function& k = module->functions[0];
  ASSERT_EQ(k.labels.size(), 5u);
  auto target = [&](size_t i) { return k.labels[k.code[i].operands[0].label].instruction; };
  EXPECT_EQ(target(0), 0u);
  EXPECT_EQ(target(1), 2u);
  EXPECT_EQ(target(3), 2u) << "the enclosing scope's";
  EXPECT_EQ(target(4), 4u) << "the innermost one, although declared later";
  EXPECT_EQ(target(5), 6u);
  EXPECT_EQ(target(6), 7u) << "the end of the body";
}

TEST(Function, BranchTables) {
  auto module =
      parse_good(kernel("T: .branchtargets A, B, A;\nbrx.idx.uni %r1, T;\nA: ret;\nB: ret;"));
  ASSERT_TRUE(module);
  const Function& k = module->functions[0];
  ASSERT_EQ(k.target_lists.size(), 1u);
  ASSERT_EQ(k.target_lists[0].labels.size(), 3u);
  EXPECT_EQ(k.labels[k.target_lists[0].labels[1]].name, "B");
  EXPECT_EQ(k.code[0].operands[1].kind, Operand::Kind::target_list);
  EXPECT_EQ(k.code[0].operands[1].label, 0u);
}

TEST(Function, LocationsOfTheSource) {
  auto module = parse_good(
      kernel(".loc 1 10 3\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\n"
             ".loc 1 12 5, function_name $L__info+24, inlined_at 1 20 7\nmov.u32 %r3, 1;"));
  ASSERT_TRUE(module);
  const Function& k = module->functions[0];
  EXPECT_EQ(k.code[0].source_line, k.code[1].source_line);
  EXPECT_EQ(k.source_lines[k.code[0].source_line].line, 10u);
  EXPECT_EQ(k.source_lines[k.code[2].source_line].line, 12u);
  EXPECT_EQ(k.source_lines[k.code[2].source_line].column, 5u);
  EXPECT_EQ(body_error(".loc 1 2 3, foo 4\n"),
            "t.ptx:11:13: found 'foo', expected 'function_name' or 'inlined_at'");
}

TEST(Function, CallersOfALineAreThoseOfItsFunction) {
  const std::string text = std::string(kHeader) +
                           ".file 1 \"a.cu\"\n.visible .entry first() {\n"
                           ".loc 1 20 7\n.loc 1 12 5, function_name $L__info, inlined_at 1 20 7\n"
                           "membar.gl;\nret;\n}\n.visible .entry second() {\nmembar.gl;\n"
                           ".loc 1 30 1\nret;\n}\n";
  auto module = parse_good(text);
  ASSERT_TRUE(module);
  const auto callers_of = [&](size_t function, size_t instruction) {
    const uint32_t line = module->functions[function].code[instruction].location.line;
    return callers_of_line(*module, text, line);
  };
  EXPECT_EQ(callers_of(0, 0), std::vector<std::string>{"a.cu:20"});
  EXPECT_EQ(callers_of(1, 0), std::vector<std::string>()) << "before the function's first .loc";
  EXPECT_EQ(callers_of(1, 1), std::vector<std::string>());
}

TEST(Function, Aliases) {
  auto module = with_header(".visible .func f { ret; }\n.visible .func g;\n.alias g, f;\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->find_function("g")->alias_of, 0u);
  std::string text = print(*module);
  EXPECT_EQ(print(*parse_good(text)), text);
  EXPECT_EQ(header_error(".func f { ret; } .func g { ret; } .alias g, f;"),
            "t.ptx:4:42: 'g' has a body, an alias must be a declaration");
  EXPECT_EQ(header_error(".func f; .alias f, f;"), "t.ptx:4:20: 'f' is an alias itself");
  EXPECT_EQ(header_error(".func f; .alias f, h;"), "t.ptx:4:20: 'h' is not a function");
}

TEST(Function, VerifyFindsWhatHandsBreak) {
  auto module = parse_good(kernel("add.u32 %r1, %r2, 3;\nbra L;\nL: ret;"));
  ASSERT_TRUE(module);
  EXPECT_TRUE(verify(*module));
  auto broken = [&](auto change) {
    Module copy = *module;
    change(copy.functions[0]);
    auto result = verify(copy);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(broken([](Function& f) { f.code[0].operands[1].reg = 999; }),
            "t.ptx:11:1: an operand refers to nothing");
  EXPECT_EQ(broken([](Function& f) { f.code[1].operands[0].label = 9; }),
            "t.ptx:12:1: an operand refers to nothing");
  EXPECT_EQ(broken([](Function& f) { f.code[0].form = 60000; }),
            "t.ptx:11:1: an instruction without a form");
  EXPECT_EQ(broken([](Function& f) { f.code[0].guard = 0; }),
            "t.ptx:11:1: a guard must be a register of type .pred");
  EXPECT_EQ(broken([](Function& f) { f.code[0].operand_count = 2; }),
            "t.ptx:11:1: 'add' takes 3 operands, found 2");
  EXPECT_EQ(broken([](Function& f) { f.registers[0].type = Type::f64; }),
            "t.ptx:11:1: found '%r1' of type .f64, expected a register of type .u32 in 'add'");
  EXPECT_EQ(broken([](Function& f) { f.params[0] = 77; }),
            "t.ptx:8:17: a parameter is not a symbol");
}

}  // namespace
}  // namespace km::ptx::test
