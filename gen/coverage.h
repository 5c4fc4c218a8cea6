// The document on which instructions of PTX run, and which test says so.
#pragma once

#include <string>
#include <vector>

namespace km::gen {

/// `lists`: files of forms that tests check, "form" or "form | test" a line.
std::string coverage(const std::vector<std::string>& lists);

}  // namespace km::gen
