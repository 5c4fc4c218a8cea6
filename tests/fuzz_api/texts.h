// Texts for arguments: kernels, sources, names, paths of the scratch folder.
#pragma once

#include <string>

#include "call_table.h"
#include "random.h"

namespace km::fuzz {

/// PTX with a dozen kernels, all with parameters (.u64, .u64, .u32); none runs for ever.
const std::string& kernels_ptx();
std::string draw_text(Random& random, TextClass kind, bool wrong);
/// Makes the files that paths name, in the current folder.
void make_files();

}  // namespace km::fuzz
