// Images, the form in which programs pass code: PTX text, fat binaries and cubins that contain PTX,
// or machine code of GPUs.
#pragma once

#include <string>

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// Extracts the PTX text from an image: the newest one that suits the compute capability (90 for
/// 9.0). `size_bytes` 0: unknown. CUDA_ERROR_NO_BINARY_FOR_GPU if the image has machine code only.
CUresult read_image(const void* image, size_t size_bytes, int capability, std::string* out);

/// Reads a whole file. CUDA_ERROR_FILE_NOT_FOUND if there is none.
CUresult read_image_file(const char* path, std::string* out);

/// The options of cuModuleLoadDataEx and its relatives: log buffers and limits on the code. Only
/// the constructor reads the arrays; the log buffers must outlive this object.
class JitLogs {
 public:
  JitLogs(unsigned count, const CUjit_option* options, void** values);
  /// Writes the logs into the caller's buffers and their lengths into the option values.
  void write(const std::string& info, const std::string& error) const;
  /// Writes the value of CU_JIT_WALL_TIME if the caller asked for it.
  void write_wall_time(float time_ms) const;
  /// The value of CU_JIT_MAX_REGISTERS; 0 if it was not given.
  unsigned max_registers() const { return max_registers_; }
  /// The value of CU_JIT_TARGET, 90 for sm_90; 0 if it was not given.
  unsigned target() const { return target_; }
  bool is_verbose() const { return is_verbose_; }

 private:
  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;  // in: capacity; out: length
    uint32_t room = 0;      // the capacity
    void keep_size(void** value);
    void write(const std::string& text) const;
  };
  void read(CUjit_option option, void** value);

  Log info_, error_;
  unsigned max_registers_ = 0, target_ = 0;
  bool is_verbose_ = false;
  void** wall_time_ = nullptr;
};

}  // namespace km::dropin
