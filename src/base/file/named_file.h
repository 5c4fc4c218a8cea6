// Files that a person names, and may have misspelled.
#pragma once

#include <string>

#include "base/file/file.h"

namespace km {

/// read_file() for a path that somebody wrote: when nothing is there, the message has the name of
/// the folder's file that is nearest.
Result<std::string> read_named_file(const std::string& path, uint64_t max_bytes = kMaxTextBytes);

}  // namespace km
