// The options of nvJitLinkCreate.
#pragma once

#include <string>
#include <vector>

#include "dropin/nvjitlink/nvjitlink.h"
#include "dropin/toolchain/assembler.h"

namespace km::nvjitlink {

struct LinkOptions {
  toolchain::AssemblerOptions assembler;  // is_relocatable: -r
  bool is_lto = false, gives_ptx = false;
  std::vector<std::string> given;  // as the program gave them
  std::string arch;                // empty: missing
};

/// Reads the options. A failure's text is appended to `errors`, in nvJitLink's words.
nvJitLinkResult read_options(const std::vector<std::string>& words, LinkOptions* options,
                             std::string* errors);

}  // namespace km::nvjitlink
