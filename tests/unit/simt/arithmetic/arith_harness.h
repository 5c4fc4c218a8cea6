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

/// The form on every instruction set of this machine, as scalars and as vectors, against the
/// reference. NaNs of f32 and f64 are all alike here: they become canonical where bits escape.
void expect_same(const Form& form, const Reference& reference, unsigned random_count = 20000);
void expect_same(const Form& form, const Reference& reference, const std::vector<Row>& rows);

/// The same in one place only, another at each call: for many forms that differ in constants.
void expect_same_in_turn(const Form& form, const Reference& reference, unsigned random_count);
void expect_same_in_turn(const Form& form, const Reference& reference,
                         const std::vector<Row>& rows);

}  // namespace km::simt::arith
