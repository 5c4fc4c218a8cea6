// Reading what km_module_load_file takes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace km {

struct SourceFile {
  std::string text;
  std::string name;  // without folders, for messages
  bool is_ptx = false;
  bool is_object = false;  // compiled code: ours, or a CUDA image
  bool is_image = false;   // a cubin or fatbin
};

/// KM_ERROR_NOT_FOUND or KM_ERROR_IO.
Result<SourceFile> read_source_file(const std::string& path);

/// True if a text is PTX: the first thing after comments and blanks is `.version`.
bool looks_like_ptx(std::string_view text);

}  // namespace km
