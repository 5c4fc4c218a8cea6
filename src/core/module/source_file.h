// Reads the files that km_module_load_file takes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace km {

struct SourceFile {
  std::string text;
  std::string name;  // without folders; used in messages
  bool is_ptx = false;
  bool is_object = false;  // compiled code: an object of save_object() or a CUDA image
  bool is_image = false;   // a cubin or fatbin
};

/// Fails with KM_ERROR_NOT_FOUND or KM_ERROR_IO.
Result<SourceFile> read_source_file(const std::string& path);

/// True if `.version` is the first text after comments and white space.
bool looks_like_ptx(std::string_view text);

}  // namespace km
