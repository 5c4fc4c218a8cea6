// Standard input, output and error of the command, which may be closed or full.
#pragma once

#include "base/result.h"

namespace km::tools {

/// Opens those that the process was started without, so that no file of the command gets their
/// number, and what is printed for people with it. Reads and writes of them fail as before.
void open_standard_files();

/// Writes what is left for standard output. Fails if any of it could not be written, now or before:
/// a full disk, a pipe that nobody reads, a file that is not open.
Status finish_output();

}  // namespace km::tools
