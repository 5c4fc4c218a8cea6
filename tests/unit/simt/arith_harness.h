// Runs one arithmetic instruction through lowering, LLVM and the loader, on scalars and on 32-lane
// vectors, for every instruction set of this machine, and compares bit by bit with a reference.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace km::simt::arith {

/// The bits of the operands, each zero-extended to 64 bits.
using Row = std::vector<uint64_t>;
/// Results: d, or d and p.
using Reference = std::function<Row(std::span<const uint64_t>)>;

struct Form {
  std::string mnemonic;
  unsigned sources = 2;
  bool pair = false;                            // d|p
  std::map<unsigned, uint64_t> constants = {};  // source index -> value known at compile time
};

/// The instruction of a form, as the parser makes it. Fails the test where there is none.
ptx::Instruction make_instruction(const Form& form);

/// The PTX type of a source.
ptx::Type source_type(const ptx::Instruction& instruction, unsigned source);

/// Values that break things, by type, and random ones of all magnitudes.
const std::vector<uint64_t>& tricky(ptx::Type type);
uint64_t random_value(ptx::Type type);

/// Rows of inputs: all combinations of tricky values (thinned out where there are too many) and
/// `random_count` random rows.
std::vector<Row> inputs_for(const ptx::Instruction& instruction, unsigned random_count);

/// Results of the form for all rows on one instruction set; `vector` says in which shape.
std::vector<Row> run(const Form& form, const std::vector<Row>& rows, int isa, bool vector);

/// A result type whose NaNs are compared as NaNs, not as bits (f32 and f64: canonical where they
/// escape).
void expect_same(const Form& form, const Reference& reference, unsigned random_count = 20000);
/// The same for given inputs.
void expect_same(const Form& form, const Reference& reference, const std::vector<Row>& rows);

}  // namespace km::simt::arith
