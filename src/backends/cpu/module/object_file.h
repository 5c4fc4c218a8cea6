// Compiled modules as files (*.kmo): a module's PTX, and object code of its kernels for the
// requested block sizes and for any size. Code is stored under the keys of the code cache.
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

/// Returns the contents of a file.
std::string write_object_file(const ObjectFile& file);

/// Fails with KM_ERROR_INVALID_ARGUMENT if the data is not such a file or is damaged,
/// KM_ERROR_BUILD_MISMATCH if another build wrote it, and KM_ERROR_NOT_SUPPORTED if this machine
/// lacks its instructions.
Result<ObjectFile> read_object_file(std::string_view data);

}  // namespace km::cpu
