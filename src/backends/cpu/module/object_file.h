// Compiled modules as files (*.kmo): the PTX of a module, and object code of its kernels for the
// block sizes that were asked for and for any. Code is found under the keys of the code cache.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "simt/engine.h"

namespace km::cpu {

struct ObjectFile {
  simt::Machine machine;
  std::string ptx;
  std::map<std::string, simt::Object> code;  // by key
};

/// The contents of a file.
std::string write_object_file(const ObjectFile& file);

/// KM_ERROR_INVALID_ARGUMENT when the data is no such file or is damaged, KM_ERROR_BUILD_MISMATCH
/// when another build made it, KM_ERROR_NOT_SUPPORTED when this machine lacks its instructions.
Result<ObjectFile> read_object_file(std::string_view data);

}  // namespace km::cpu
