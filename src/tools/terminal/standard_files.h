// Standard input, output and error of the command, which may be closed or full.
#pragma once

#include "base/result.h"

namespace km::tools {

/// Opens the standard files that the process was started without, so that no other file gets their
/// descriptors and with them the output for users. Reads and writes of them still fail.
void open_standard_files();

/// Flushes standard output. Fails if any output could not be written, now or before: a full disk, a
/// pipe without a reader, a closed file.
Status finish_output();

}  // namespace km::tools
