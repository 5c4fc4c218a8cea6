// What a GPU makes of the approximate instructions, over whole ranges of mantissas.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver.h"
#include "reference/variants.h"

namespace km::gpu {

/// Writes a compressed file for each range of each approximate instruction of one operand into
/// `folder`, and returns the list of them. `bits` of 23 mantissa bits vary.
Result<nlohmann::ordered_json> dump_approximate(const Driver& driver,
                                                const std::vector<reference::Variant>& variants,
                                                const std::string& folder, unsigned bits);

}  // namespace km::gpu
