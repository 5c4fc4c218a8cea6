#include "dimensions.h"

#include "text.h"

namespace km::growth {
namespace {

using simt::Mode;

// ---- What a module holds.

std::string kernels(uint32_t n) { return module_of(repeat(n, ".visible .entry k$() { ret; }\n")); }

std::string functions(uint32_t n) {
  return module_of(repeat(n, ".func f$() { ret; }\n") + ".visible .entry k() { ret; }\n");
}

std::string variables(uint32_t n) { return kernel_of("", repeat(n, ".global .u32 v$;\n")); }

std::string used_variables(uint32_t n) {
  return kernel_of(repeat(n, "ld.global.u32 %r3, [v$];\nadd.u32 %r2, %r2, %r3;\n"),
                   repeat(n, ".global .u32 v$;\n"));
}

std::string initialisers(uint32_t n) {
  return kernel_of("", ".global .u32 v[] = {0" + repeat(n, ", $") + "};\n");
}

std::string addresses(uint32_t n) {
  return kernel_of("", ".global .u32 a;\n.global .u64 v[] = {a" + repeat(n, ", a+$") + "};\n");
}

std::string function_addresses(uint32_t n) {
  return kernel_of("", repeat(n, ".func f$() { ret; }\n") + ".global .u64 v[] = {f0" +
                           repeat(n, ", f$") + "};\n");
}

std::string names(uint32_t n) {
  const std::string name(n, 'x');
  return module_of(".visible .entry " + name + "() { .reg .b32 " + name + "r; mov.u32 " + name +
                   "r, 1; ret; }\n");
}

std::string comments(uint32_t n) { return kernel_of("/*" + std::string(16 * n, '\n') + "*/"); }

std::string files(uint32_t n) { return kernel_of("", repeat(n, ".file $ \"a$.cu\"\n")); }

std::string aliases(uint32_t n) {
  return kernel_of(
      "", ".func f() { ret; }\n" + repeat(n, ".func a$();\n") + repeat(n, ".alias a$, f;\n"));
}

// ---- Calls.

std::string called_functions(uint32_t n) {
  return kernel_of(repeat(n, "call f$;\n"),
                   repeat(n, ".func f$() { .reg .b32 %x; mov.u32 %x, $; ret; }\n"));
}

std::string call_sites(uint32_t n) {
  return kernel_of(
      repeat(n,
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), f, (a);"
             " ld.param.b32 %r2, [b]; }\n"),
      ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; add.u32 %x, "
      "%x, 3; st.param.b32 [y], %x; ret; }\n");
}

std::string call_chain(uint32_t n) {
  return kernel_of(numbered("call f$;\n", n), ".func f0() { ret; }\n" + repeat(n, [](uint32_t i) {
                                                return numbered(".func f$() {", i + 1) +
                                                       numbered(" call f$; ret; }\n", i);
                                              }));
}

std::string call_fan(uint32_t n) {
  return kernel_of(numbered("call f$;\n", n), ".func f0() { ret; }\n" + repeat(n, [](uint32_t i) {
                                                return numbered(".func f$() {", i + 1) +
                                                       numbered(" call f$; call f$; ret; }\n", i);
                                              }));
}

std::string call_cycle(uint32_t n) {
  return kernel_of("call f0;\n", repeat(n, ".func f$();\n") + repeat(n, [&](uint32_t i) {
                                   return numbered(".func f$() {", i) +
                                          numbered(" call f$; ret; }\n", (i + 1) % n);
                                 }));
}

std::string pointer_calls(uint32_t n) {
  return kernel_of("mov.u64 %rd3, f; ld.global.u64 %rd3, [%rd1];\np: .callprototype _ ();\n" +
                       repeat(n, "call %rd3, (), p;\n"),
                   ".func f() { ret; }\n");
}

std::string pointer_targets(uint32_t n) {
  return kernel_of(
      "ld.global.u64 %rd3, [%rd1];\np: .callprototype _ ();\ncall %rd3, (), p;\n",
      repeat(n, ".func f$() { ret; }\n") + ".global .u64 v[] = {f0" + repeat(n, ", f$") + "};\n");
}

/// A call may be of each of eight functions.
std::string pointer_tables(uint32_t n) {
  constexpr uint32_t kFunctions = 8;
  return kernel_of(
      "p: .callprototype _ ();\n" + repeat(n, "ld.global.u64 %rd3, [%rd1+8];\ncall %rd3, (), p;\n"),
      repeat(kFunctions,
             ".func f$() { .reg .pred %p; .reg .b32 %x; .reg .b64 %d; mov.u64 %d, 0;\n"
             "L: ld.volatile.global.u32 %x, [%d];\nnanosleep.u32 8;\n"
             "setp.ne.u32 %p, %x, $;\n@%p bra L;\nret; }\n") +
          ".global .u64 v[] = {f0" + repeat(kFunctions, ", f$") + "};\n");
}

std::string kernels_that_call(uint32_t n) {
  return module_of(".func f() { .reg .b32 %x; mov.u32 %x, 1; ret; }\n" +
                   repeat(n, ".visible .entry k$() { call f; ret; }\n"));
}

std::string arguments(uint32_t n) {
  return kernel_of("{ " + repeat(n, ".param .b32 a$; st.param.b32 [a$], %r2;\n") + "call f, (a0" +
                       repeat(n - 1, [](uint32_t i) { return numbered(", a$", i + 1); }) + "); }\n",
                   ".func f(.param .b32 p0" + repeat(n - 1, [](uint32_t i) {
                     return numbered(", .param .b32 p$", i + 1);
                   }) + ") { ret; }\n");
}

// ---- Declarations of a kernel.

std::string parameters(uint32_t n) {
  return module_of(".visible .entry k(.param .u32 p" + repeat(n, ", .param .u32 p$") +
                   ") { .reg .b32 %r; " + repeat(n, "ld.param.u32 %r, [p$];\n") + " ret; }\n");
}

std::string registers(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nmov.u32 %x$, $;\n"));
}

std::string register_ranges(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$_<2>;\nmov.u32 %x$_1, $;\n"));
}

std::string shared_variables(uint32_t n) {
  return kernel_of(repeat(n, ".shared .b32 s$;\nst.shared.u32 [s$], %r2;\n"));
}

std::string local_variables(uint32_t n) {
  return kernel_of(repeat(n, ".local .b32 s$;\nst.local.u32 [s$], %r2;\n"));
}

std::string array_elements(uint32_t n) {
  return kernel_of(numbered(".local .b32 a[$];\n", n) + repeat(n, [](uint32_t i) {
                     return numbered("st.local.u32 [a+$], %r2;\n", 4 * i) +
                            numbered("ld.local.u32 %r2, [a+$];\n", 4 * i);
                   }));
}

std::string labels(uint32_t n) { return kernel_of(repeat(n, "L$: ")); }

std::string scopes(uint32_t n) {
  return kernel_of(repeat(n, "{ .reg .b32 %x; mov.u32 %x, 1; }\n"));
}

std::string debug_lines(uint32_t n) {
  return kernel_of(".loc 1 1 1\n" + repeat(n, ".loc 1 $ 1\nadd.u32 %r2, %r2, %r1;\n"),
                   ".file 1 \"a.cu\"\n");
}

std::string inlined_lines(uint32_t n) {
  return kernel_of(".loc 1 1 1\n" + repeat(n,
                                           ".loc 1 $ 1, function_name text, inlined_at 1 $ 1\n"
                                           "add.u32 %r2, %r2, %r1;\n"),
                   ".file 1 \"a.cu\"\n") +
         ".section .debug_str {\ntext: .b8 65, 0\n}\n";
}

// ---- Instructions in a row.

std::string additions(uint32_t n) { return kernel_of(repeat(n, "add.u32 %r2, %r2, %r1;\n")); }

std::string float_chain(uint32_t n) {
  return kernel_of(repeat(n, "fma.rn.f32 %f1, %f1, %f1, %f1;\n"));
}

std::string independent(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nxor.b32 %x$, %r2, $;\n") +
                   repeat(n, "mul.lo.u32 %r2, %r2, %x$;\n"));
}

std::string loads(uint32_t n) {
  return kernel_of(repeat(n, [](uint32_t i) {
    return numbered("ld.global.u32 %r3, [%rd2+$];\n", 4 * i) + "add.u32 %r2, %r2, %r3;\n";
  }));
}

std::string stores(uint32_t n) {
  return kernel_of(
      repeat(n, [](uint32_t i) { return numbered("st.global.u32 [%rd2+$], %r2;\n", 4 * i); }));
}

std::string loads_and_stores(uint32_t n) {
  return kernel_of(repeat(n, [](uint32_t i) {
    return numbered("ld.global.u32 %r3, [%rd2+$];\n", 4 * i) + "add.u32 %r2, %r2, %r3;\n" +
           numbered("st.global.u32 [%rd2+$], %r2;\n", 4 * i);
  }));
}

std::string shared_accesses(uint32_t n) {
  return kernel_of("mov.u32 %r4, s;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r4, %r4, %r5;\n" +
                       repeat(n,
                              [](uint32_t i) {
                                return numbered("st.shared.u32 [%r4+$], %r2;\n", 4 * (i % 512)) +
                                       numbered("ld.shared.u32 %r2, [%r4+$];\n", 8 * (i % 256));
                              }),
                   ".shared .b32 s[2048];\n");
}

std::string gathers(uint32_t n) {
  return kernel_of(repeat(n,
                          "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
                          "ld.global.u32 %r2, [%rd3];\n"));
}

/// A word that the compiler reads byte by byte, since it may lie anywhere.
std::string byte_rows(uint32_t n) {
  return kernel_of(repeat(n, "mul.wide.u32 %rd3, %r2, 13;\nadd.s64 %rd3, %rd1, %rd3;\n" +
                                 repeat(8,
                                        "ld.global.u8 %r3, [%rd3+$];\nshl.b32 %r2, %r2, 3;\n"
                                        "or.b32 %r2, %r2, %r3;\n")));
}

std::string guarded(uint32_t n) {
  return kernel_of(repeat(n, "setp.lt.u32 %p1, %r2, $;\n@%p1 add.u32 %r2, %r2, %r1;\n"));
}

std::string guarded_stores(uint32_t n) {
  return kernel_of(repeat(n, "setp.lt.u32 %p1, %r2, $;\n@%p1 st.global.u32 [%rd2], %r1;\n"));
}

std::string shuffles(uint32_t n) {
  return kernel_of(repeat(n, "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\n"));
}

std::string atomic_additions(uint32_t n) {
  return kernel_of(repeat(n, "atom.global.add.u32 %r2, [%rd2], %r2;\n"));
}

std::string reductions(uint32_t n) {
  return kernel_of(repeat(n, "red.global.add.u32 [%rd2], %r2;\n"));
}

std::string divisions(uint32_t n) { return kernel_of(repeat(n, "div.u32 %r2, %r2, %r1;\n")); }

std::string conversions(uint32_t n) {
  return kernel_of(repeat(n, "cvt.rzi.s32.f32 %r2, %f1;\ncvt.rn.f32.s32 %f1, %r2;\n"));
}

std::string matrix_products(uint32_t n) {
  return kernel_of(repeat(n,
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                          "{%r2,%r2,%r2,%r2}, {%r2,%r2}, {%f1,%f2,%f3,%f4};\n"));
}

std::string prints(uint32_t n) {
  return kernel_of(
      repeat(n,
             "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd1; "
             "st.param.b64 [b], %rd1; call (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }\n"),
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n");
}

// ---- Blocks.

std::string straight_blocks(uint32_t n) {
  return kernel_of(repeat(n, "bra L$;\nL$: add.u32 %r2, %r2, %r1;\n"));
}

std::string uniform_diamonds(uint32_t n) {
  return kernel_of("ld.param.u64 %rd3, [out];\n" +
                   repeat(n,
                          "setp.lt.u64 %p1, %rd3, $;\n@%p1 bra L$;\nadd.u32 %r2, %r2, 3;\n"
                          "L$: xor.b32 %r2, %r2, %r1;\n"));
}

std::string divergent_diamonds(uint32_t n) {
  return kernel_of(repeat(n,
                          "setp.lt.u32 %p1, %r2, $;\n@%p1 bra L$;\nadd.u32 %r2, %r2, 3;\n"
                          "st.global.u32 [%rd2], %r2;\nL$: xor.b32 %r2, %r2, %r1;\n"));
}

std::string exits(uint32_t n) {
  return kernel_of(repeat(n, "setp.eq.u32 %p1, %r2, $;\n@%p1 ret;\nadd.u32 %r2, %r2, 3;\n"));
}

std::string breaks(uint32_t n) {
  return kernel_of("L: add.u32 %r2, %r2, 3;\n" +
                   repeat(n, "setp.eq.u32 %p1, %r2, $;\n@%p1 bra E;\nadd.u32 %r2, %r2, 3;\n") +
                   "bra L;\nE:\n");
}

std::string one_join(uint32_t n) {
  return kernel_of(repeat(n, "setp.eq.u32 %p1, %r2, $;\n@%p1 bra E;\nadd.u32 %r2, %r2, 3;\n") +
                   "E:\n");
}

std::string nested_ifs(uint32_t n) {
  return kernel_of(
      repeat(n, "setp.eq.u32 %p1, %r2, $;\n@%p1 bra E$;\nadd.u32 %r2, %r2, 3;\n") +
      repeat(n, [&](uint32_t i) { return numbered("E$: xor.b32 %r2, %r2, 5;\n", n - 1 - i); }));
}

std::string table_targets(uint32_t n) {
  return kernel_of(
      "t: .branchtargets T0" + repeat(n - 1, [](uint32_t i) { return numbered(", T$", i + 1); }) +
      ";\nbrx.idx %r2, t;\n" + repeat(n, "T$: add.u32 %r2, %r2, $;\nbra E;\n") + "E:\n");
}

std::string uniform_tables(uint32_t n) {
  return kernel_of(repeat(n,
                          "{ t: .branchtargets A$, B$;\nmov.u32 %r3, %ctaid.x;\nbrx.idx %r3, t;\n"
                          "A$: add.u32 %r2, %r2, $;\nbra E$;\nB$: xor.b32 %r2, %r2, 7;\nE$: }\n"));
}

std::string jumble(uint32_t n) {
  return kernel_of("setp.eq.u32 %p1, %r1, 5;\n" + repeat(n, [&](uint32_t i) {
                     return numbered("L$: @%p1 bra ", i) + numbered("L$;\n", uint64_t{i} * 7 % n);
                   }));
}

// ---- Loops.

std::string uniform_loops(uint32_t n) {
  return kernel_of(repeat(n,
                          "mov.u32 %r3, 0;\nL$: add.u32 %r2, %r2, %r1;\nadd.u32 %r3, %r3, 1;\n"
                          "setp.lt.u32 %p1, %r3, 10;\n@%p1 bra L$;\n"));
}

std::string divergent_loops(uint32_t n) {
  return kernel_of(
      repeat(n, "L$: add.u32 %r2, %r2, 3;\nsetp.lt.u32 %p1, %r2, 10;\n@%p1 bra L$;\n"));
}

std::string nested_loops(uint32_t n) {
  return kernel_of(repeat(n, "L$: add.u32 %r2, %r2, 3;\n") + repeat(n, [&](uint32_t i) {
                     return numbered("setp.lt.u32 %p1, %r2, $;\n", i) +
                            numbered("@%p1 bra L$;\n", n - 1 - i);
                   }));
}

std::string loops_in_a_loop(uint32_t n) {
  return kernel_of(
      "O: add.u32 %r2, %r2, 1;\n" +
      repeat(n, "L$: add.u32 %r2, %r2, 3;\nsetp.lt.u32 %p1, %r2, 10;\n@%p1 bra L$;\n") +
      "setp.lt.u32 %p1, %r2, 100;\n@%p1 bra O;\n");
}

/// A choice within each loop depends on the value that the loop waits for.
std::string spin_loops_that_choose(uint32_t n) {
  return kernel_of(repeat(n,
                          "L$: ld.volatile.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p1, %r3, 7;\n"
                          "@%p1 bra M$;\nadd.u32 %r2, %r2, 3;\n"
                          "M$: setp.lt.u32 %p1, %r2, $;\n@%p1 bra L$;\n"));
}

std::string spin_loops(uint32_t n) {
  return kernel_of(repeat(n,
                          "L$: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p1, %r3, 0;\n"
                          "@%p1 bra L$;\n"));
}

/// Each after a branch at which lanes part, as compilers make them of atomics that hardware lacks.
std::string lock_loops(uint32_t n) {
  return kernel_of(repeat(n,
                          "setp.lt.u32 %p1, %r2, $;\n@%p1 bra L$;\nst.global.u32 [%rd2], %r2;\n"
                          "L$: atom.global.exch.b32 %r3, [%rd1], 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                          "@%p1 bra L$;\nst.global.u32 [%rd2], %r3;\n"
                          "atom.global.exch.b32 %r3, [%rd1], 0;\n"));
}

std::string lock_loops_in_a_loop(uint32_t n) {
  return kernel_of("O: add.u32 %r2, %r2, 1;\n" +
                   repeat(n,
                          "setp.lt.u32 %p1, %r2, $;\n@%p1 bra L$;\nst.global.u32 [%rd2], %r2;\n"
                          "L$: atom.global.exch.b32 %r3, [%rd1], 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                          "@%p1 bra L$;\natom.global.exch.b32 %r3, [%rd1], 0;\n") +
                   "setp.lt.u32 %p1, %r2, 100;\n@%p1 bra O;\n");
}

/// One thread waits for other blocks, and the rest for that thread.
std::string waits_of_one_thread(uint32_t n) {
  return kernel_of("setp.ne.u32 %p2, %r1, 0;\n" +
                   repeat(n,
                          "@%p2 bra B$;\nL$: ld.volatile.global.u32 %r3, [%rd1];\n"
                          "setp.eq.u32 %p1, %r3, $;\n@%p1 bra L$;\nB$: bar.sync 0;\n"
                          "st.global.u32 [%rd2], %r2;\n"));
}

// ---- Values that live long.

std::string live_values(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nadd.u32 %x$, %r2, $;\n") +
                   repeat(n, "bra L$;\nL$: xor.b32 %r2, %r2, %x$;\n"));
}

std::string live_over_branches(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nadd.u32 %x$, %r2, $;\n") +
                   repeat(n,
                          "setp.lt.u32 %p1, %r2, $;\n@%p1 bra L$;\nadd.u32 %r2, %r2, 3;\n"
                          "st.global.u32 [%rd2], %r2;\nL$: xor.b32 %r2, %r2, %x$;\n"));
}

std::string live_in_loop(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nadd.u32 %x$, %r2, $;\n") + "L:\n" +
                   repeat(n, "add.u32 %x$, %x$, %r2;\n") +
                   "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n" +
                   repeat(n, "xor.b32 %r2, %r2, %x$;\n"));
}

// ---- Barriers.

std::string barriers(uint32_t n) {
  return kernel_of(repeat(n, "bar.sync 0;\nadd.u32 %r2, %r2, 3;\nst.shared.u32 [s], %r2;\n"),
                   ".shared .b32 s;\n");
}

std::string live_over_barriers(uint32_t n) {
  return kernel_of(repeat(n, ".reg .b32 %x$;\nmul.lo.u32 %x$, %r2, $;\n") +
                   repeat(n, "bar.sync 0;\nxor.b32 %r2, %r2, %x$;\n"));
}

std::string barriers_in_branches(uint32_t n) {
  return kernel_of("mov.u32 %r3, %ctaid.x;\n" +
                   repeat(n,
                          "setp.eq.u32 %p1, %r3, $;\n@%p1 bra L$;\nbar.sync 0;\n"
                          "L$: add.u32 %r2, %r2, 3;\n"));
}

std::string barrier_sums(uint32_t n) {
  return kernel_of(repeat(n,
                          "setp.eq.u32 %p1, %r2, $;\nbar.red.popc.u32 %r3, 0, %p1;\n"
                          "add.u32 %r2, %r2, %r3;\n"));
}

constexpr auto kLoad = Stage::load;
constexpr auto kCompile = Stage::compile;
constexpr auto kA = Mode::run_to_completion;
constexpr auto kB = Mode::fibers;
constexpr auto kC = Mode::independent_threads;

constexpr Dimension kDimensions[] = {
    {"kernels", kLoad, kA, 4000, kernels},
    {"functions", kLoad, kA, 4000, functions},
    {"variables", kLoad, kA, 4000, variables},
    {"initialisers", kLoad, kA, 16000, initialisers},
    {"addresses", kLoad, kA, 8000, addresses},
    {"function_addresses", kLoad, kA, 4000, function_addresses},
    {"names", kLoad, kA, 100000, names},
    {"comments", kLoad, kA, 100000, comments},
    {"files", kLoad, kA, 4000, files},
    {"aliases", kLoad, kA, 4000, aliases},
    {"kernels_that_call", kLoad, kA, 2000, kernels_that_call},
    {"call_fan_load", kLoad, kA, 32, call_fan},
    {"call_cycle_load", kLoad, kA, 1000, call_cycle},
    {"used_variables", kCompile, kA, 300, used_variables},
    {"called_functions", kCompile, kA, 1000, called_functions},
    {"call_sites", kCompile, kA, 500, call_sites},
    {"call_chain", kCompile, kA, 500, call_chain},
    {"call_fan", kCompile, kA, 32, call_fan},
    {"call_cycle", kCompile, kA, 100, call_cycle},
    {"pointer_calls", kCompile, kA, 100, pointer_calls},
    {"pointer_targets", kCompile, kA, 100, pointer_targets},
    {"pointer_tables", kCompile, kC, 8, pointer_tables},
    {"parameters", kCompile, kA, 250, parameters},
    {"arguments", kCompile, kA, 500, arguments},
    {"registers", kCompile, kA, 1000, registers},
    {"register_ranges", kCompile, kA, 1000, register_ranges},
    {"shared_variables", kCompile, kA, 500, shared_variables},
    {"local_variables", kCompile, kA, 500, local_variables},
    {"array_elements", kCompile, kA, 50, array_elements},
    {"scopes", kCompile, kA, 1000, scopes},
    {"labels", kCompile, kA, 4000, labels},
    {"debug_lines", kCompile, kA, 1000, debug_lines},
    {"inlined_lines", kCompile, kA, 1000, inlined_lines},
    {"additions", kCompile, kA, 1000, additions},
    {"float_chain", kCompile, kA, 500, float_chain},
    {"independent", kCompile, kA, 500, independent},
    {"loads", kCompile, kA, 250, loads},
    {"stores", kCompile, kA, 250, stores},
    {"loads_and_stores", kCompile, kA, 250, loads_and_stores},
    {"shared_accesses", kCompile, kA, 250, shared_accesses},
    {"gathers", kCompile, kA, 250, gathers},
    {"byte_rows", kCompile, kA, 16, byte_rows},
    {"guarded", kCompile, kA, 500, guarded},
    {"guarded_stores", kCompile, kA, 100, guarded_stores},
    {"shuffles", kCompile, kA, 250, shuffles},
    {"atomic_additions", kCompile, kA, 250, atomic_additions},
    {"reductions", kCompile, kA, 250, reductions},
    {"divisions", kCompile, kA, 250, divisions},
    {"conversions", kCompile, kA, 250, conversions},
    {"matrix_products", kCompile, kA, 400, matrix_products},
    {"prints", kCompile, kA, 100, prints},
    {"straight_blocks", kCompile, kA, 1000, straight_blocks},
    {"uniform_diamonds", kCompile, kA, 200, uniform_diamonds},
    {"divergent_diamonds", kCompile, kA, 100, divergent_diamonds},
    {"exits", kCompile, kA, 100, exits},
    {"breaks", kCompile, kA, 100, breaks},
    {"one_join", kCompile, kA, 100, one_join},
    {"nested_ifs", kCompile, kA, 100, nested_ifs},
    {"table_targets", kCompile, kA, 100, table_targets},
    {"uniform_tables", kCompile, kA, 100, uniform_tables},
    {"jumble", kCompile, kA, 50, jumble},
    {"uniform_loops", kCompile, kA, 100, uniform_loops},
    {"divergent_loops", kCompile, kA, 100, divergent_loops},
    {"nested_loops", kCompile, kA, 25, nested_loops},
    {"loops_in_a_loop", kCompile, kA, 100, loops_in_a_loop},
    {"spin_loops_that_choose", kLoad, kA, 250, spin_loops_that_choose},
    {"spin_loops", kCompile, kA, 50, spin_loops},
    {"lock_loops_load", kLoad, kA, 50, lock_loops},
    {"lock_loops_in_a_loop_load", kLoad, kA, 50, lock_loops_in_a_loop},
    {"waits_of_one_thread_load", kLoad, kA, 32, waits_of_one_thread},
    {"live_values", kCompile, kA, 250, live_values},
    {"live_over_branches", kCompile, kA, 100, live_over_branches},
    {"live_in_loop", kCompile, kA, 250, live_in_loop},
    {"barriers", kCompile, kA, 100, barriers},
    {"live_over_barriers", kCompile, kA, 50, live_over_barriers},
    {"barriers_in_branches", kCompile, kA, 50, barriers_in_branches},
    {"barrier_sums", kCompile, kA, 50, barrier_sums},
    {"additions_b", kCompile, kB, 1000, additions},
    {"divergent_diamonds_b", kCompile, kB, 100, divergent_diamonds},
    {"barriers_b", kCompile, kB, 100, barriers},
    {"live_over_barriers_b", kCompile, kB, 50, live_over_barriers},
    {"additions_c", kCompile, kC, 1000, additions},
    {"divergent_diamonds_c", kCompile, kC, 100, divergent_diamonds},
    {"nested_loops_c", kCompile, kC, 25, nested_loops},
    {"shuffles_c", kCompile, kC, 100, shuffles},
    {"barriers_c", kCompile, kC, 100, barriers},
    {"live_values_c", kCompile, kC, 100, live_values},
};

}  // namespace

std::span<const Dimension> dimensions() { return kDimensions; }

}  // namespace km::growth
