// The list of the rows of the PTX table that are compared with the reference, of which
// docs/reference/ptx-coverage.md is made. The committed file must say the same.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference/variants.h"

namespace km::reference {

/// The rows that have a variant which `refused_path` does not list.
std::set<std::string> compared_forms(const std::vector<Variant>& all,
                                     const std::string& refused_path);

void write_compared_forms(const std::set<std::string>& forms, const std::string& path);
/// A line for each row that the file lacks, or has in vain.
std::vector<std::string> compared_differences(const std::set<std::string>& forms,
                                              const std::string& path);

}  // namespace km::reference
