#include <algorithm>
#include <string_view>

#include "checks.h"
#include "disassembly.h"
#include "module_text.h"

namespace km::machine_code {
namespace {

/// The forms access memory at %address + 1232, so that an access without an order is known by its
/// operands: those of x86-64, and of AArch64.
constexpr const char* kOffsets[] = {"1232(", "#1232]"};

/// A kernel of one thread around the instruction. What it returns is stored elsewhere.
std::string kernel_around(const std::string& form, size_t number) {
  return ".visible .entry k" + std::to_string(number) +
         "(.param .u64 memory, .param .u64 results) {\n"
         ".reg .pred %p<2>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b128 %q<4>;\n"
         ".reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .b64 %address, %results;\n"
         ".shared .align 16 .b8 shared[4096];\n"
         "ld.param.u64 %address, [memory]; ld.param.u64 %results, [results];\n"
         "ld.global.u32 %r2, [%results+16]; ld.global.u32 %r3, [%results+20];\n"
         "ld.global.u64 %rd2, [%results+24]; ld.global.u64 %rd3, [%results+32];\n"
         "ld.global.f32 %f2, [%results+40]; ld.global.f64 %fd2, [%results+48];\n"
         "ld.global.u16 %h2, [%results+56]; ld.global.u16 %h3, [%results+58];\n"
         "mov.b128 %q2, {%rd2, %rd3}; mov.b128 %q3, {%rd3, %rd2};\n"
         "mov.u32 %r1, 0; mov.u64 %rd1, 0; mov.u16 %h1, 0; mov.f32 %f1, 0f00000000;\n"
         "mov.f64 %fd1, 0d0000000000000000; mov.b128 %q1, {%rd1, %rd1};\n"
         "setp.ne.u32 %p1, %r2, %r2;\n" +
         form +
         ";\n"
         "selp.u32 %r2, 1, 0, %p1; add.u32 %r1, %r1, %r2; st.global.u32 [%results], %r1;\n"
         "mov.b128 {%rd2, %rd3}, %q1; add.u64 %rd1, %rd1, %rd2; add.u64 %rd1, %rd1, %rd3;\n"
         "st.global.u64 [%results+64], %rd1; st.global.f32 [%results+72], %f1;\n"
         "st.global.f64 [%results+80], %fd1; st.global.u16 [%results+88], %h1;\nret;\n}\n";
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [=](std::string_view start) { return text.starts_with(start); });
}

/// True if the instruction itself orders memory, or is indivisible.
bool orders(const Instruction& instruction) {
  if (starts_with_any(instruction.name,
                      {"ldar", "ldapr", "stlr", "ldxr",  "ldaxr",  "ldxp",   "ldaxp",
                       "stxr", "stlxr", "stxp", "stlxp", "cas",    "swp",    "ldadd",
                       "dmb",  "dsb",   "isb",  "lock",  "mfence", "sfence", "lfence"})) {
    return true;
  }
  return instruction.name.starts_with("xchg") &&
         instruction.operands.find('(') != std::string::npos;
}

/// The instruction for the table, or nothing: it has to do with no order.
std::string part_of(const Instruction& instruction) {
  const std::string& name = instruction.name;
  if (starts_with_any(name, {"dmb", "dsb"})) return name + " " + instruction.operands;
  if (orders(instruction)) return name;
  const bool accesses =
      !starts_with_any(name, {"lea"}) &&
      std::any_of(std::begin(kOffsets), std::end(kOffsets), [&](const char* offset) {
        return instruction.operands.find(offset) != std::string::npos;
      });
  return accesses ? name : "";
}

Result<std::string> sequence_of(const simt::Program& program, uint32_t kernel,
                                const char* machine) {
  simt::Variant variant;
  variant.block = {1, 1, 1};
  variant.machine = simt::Machine::of_name(machine).value();
  KM_ASSIGN(const simt::Object object, simt::compile(program, kernel, variant));
  KM_ASSIGN(const auto instructions, disassemble(object, variant.machine));
  std::string sequence;
  for (const Instruction& instruction : instructions) {
    const std::string part = part_of(instruction);
    if (!part.empty()) sequence += (sequence.empty() ? "" : ", ") + part;
  }
  return sequence.empty() ? "-" : sequence;
}

Result<std::shared_ptr<const simt::Program>> program_of(const Table& table) {
  code_hashes::ModuleText module;
  module.name = table.path;
  module.ptx = ".version 8.8\n.target sm_90\n.address_size 64\n";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    module.ptx += kernel_around(table.rows[i][0], i);
  }
  return code_hashes::load(module);
}

}  // namespace

Result<Outcome> check_orders(const Table& table) {
  Outcome outcome{{}, table};
  KM_ASSIGN(const auto program, program_of(table));
  const char* const machines[] = {"avx2", "neon"};
  for (uint32_t i = 0; i < table.rows.size(); ++i) {
    for (size_t m = 0; m < std::size(machines); ++m) {
      KM_ASSIGN(std::string sequence, sequence_of(*program, i, machines[m]));
      std::string& known = outcome.now.rows[i][1 + m];
      if (sequence != known) {
        outcome.differences += table.rows[i][0] + " for " + machines[m] + ": " + sequence +
                               "; the table has: " + known + "\n";
      }
      known = std::move(sequence);
    }
  }
  return outcome;
}

}  // namespace km::machine_code
