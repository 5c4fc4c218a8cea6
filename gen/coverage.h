// The document about the PTX instructions that are supported, with the test of each.
#pragma once

#include <string>
#include <vector>

namespace km::gen {

/// `lists` are files of tested forms, with lines "form" or "form | test".
std::string coverage(const std::vector<std::string>& lists);

}  // namespace km::gen
