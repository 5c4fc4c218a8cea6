// The two checks of machine code, each against a table.
#pragma once

#include <string>

#include "table.h"

namespace km::machine_code {

/// The outcome of a check: what differs from the table, a line each, and the table as it is now.
struct Outcome {
  std::string differences;
  Table now;
};

/// How many instructions the benchmarks' kernels have: columns are the source below bench/kernels,
/// the kernel, its block, and the counts for AVX2 and NEON. A count may be above the table's by
/// kSlack, and the mean ratio of the two may be at most kMostRatio.
Result<Outcome> check_counts(const Table& table);
constexpr size_t kCountColumns = 5;
constexpr double kSlack = 1.02, kMostRatio = 1.15;

/// Which instructions order memory in the code for a PTX instruction: columns are the instruction
/// and the sequences for AVX2 and NEON, which must be equal to the table's.
Result<Outcome> check_orders(const Table& table);
constexpr size_t kOrderColumns = 3;

}  // namespace km::machine_code
