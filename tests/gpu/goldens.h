// Every computing instruction on a GPU, compared with the reference interpreter.
#pragma once

#include <string>
#include <vector>

#include "driver.h"
#include "reference/variants.h"

namespace km::gpu {

struct GoldenReport {
  uint64_t variants = 0, results = 0;
  std::vector<std::string> refused, mismatches;  // a line for each variant
};

/// All but the approximate ones, whose results PTX does not define: on `inputs` operands each.
GoldenReport run_goldens(const Driver& driver, const std::vector<reference::Variant>& variants,
                         uint64_t inputs, uint64_t seed);

bool is_approximate(const reference::Variant& variant);

/// What a kernel of reference::module_text gives, column by column.
Result<std::vector<uint64_t>> run_columns(const Driver& driver, void* module, const char* kernel,
                                          const std::vector<std::vector<uint64_t>>& columns,
                                          uint64_t count, size_t results);

}  // namespace km::gpu
