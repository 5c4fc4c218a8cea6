// Files that a user names, possibly with a typing error.
#pragma once

#include <string>

#include "base/file/file.h"

namespace km {

/// Like read_file(), for a path from the user: if the file is missing, the message suggests the
/// most similar name in the folder.
Result<std::string> read_named_file(const std::string& path, uint64_t max_bytes = kMaxTextBytes);

}  // namespace km
