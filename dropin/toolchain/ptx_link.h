// Links several PTX texts into one, as nvlink links machine code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace km::toolchain {

struct PtxInput {
  std::string name;  // for messages
  std::string text;
};

/// Links the inputs into one text. Declarations of symbols that another input defines are omitted;
/// local symbols are renamed if their names collide. A symbol with two definitions is an error in
/// nvlink's words.
Result<std::string> link_ptx(const std::vector<PtxInput>& inputs);

}  // namespace km::toolchain
