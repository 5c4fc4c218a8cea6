// Images, which programs give as code: PTX text, fat binaries with PTX in them, or code of GPUs.
#pragma once

#include <string>

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// The PTX text in an image, of those that suit the compute capability (90 for 9.0) the newest.
/// `size_bytes` 0: not known. CUDA_ERROR_NO_BINARY_FOR_GPU when there is machine code only.
CUresult read_image(const void* image, size_t size_bytes, int capability, std::string* out);

/// All of a file; CUDA_ERROR_FILE_NOT_FOUND.
CUresult read_image_file(const char* path, std::string* out);

/// The options of cuModuleLoadDataEx and its kin: where logs go, and what limits the code. The
/// arrays are read by the constructor only; what logs are written to has to live on.
class JitLogs {
 public:
  JitLogs(unsigned count, const CUjit_option* options, void** values);
  /// Writes the texts, and their lengths back into the values.
  void write(const std::string& info, const std::string& error) const;
  /// CU_JIT_MAX_REGISTERS; 0 when not given.
  unsigned max_registers() const { return max_registers_; }

 private:
  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;  // room, then length
    void write(const std::string& text) const;
  };
  void read(CUjit_option option, void** value);

  Log info_, error_;
  unsigned max_registers_ = 0;
};

}  // namespace km::dropin
