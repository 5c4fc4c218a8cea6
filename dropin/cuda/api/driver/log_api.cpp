// cuLogs*: access to the log of error texts.
#include <cstring>
#include <string>

#include "base/file/file_writer.h"
#include "dropin/cuda/frame/call.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_flags(unsigned flags) {
  return flags == 0 ? CUresult{CUDA_SUCCESS} : CUresult{CUDA_ERROR_INVALID_VALUE};
}

CUresult dump_to_memory(CUlogIterator* iterator, char* buffer, size_t* size) {
  CU_REQUIRE(buffer);
  CU_REQUIRE(size);
  const size_t room = *size;
  *size = 0;
  if (room == 0) return CUDA_ERROR_INVALID_VALUE;
  std::string text = take_log(iterator);
  if (text.size() >= room) {  // keeps the end: the latest messages matter most
    const size_t line = text.find('\n', text.size() - room);
    if (line == text.npos || line + 1 >= text.size()) return CUDA_ERROR_INVALID_VALUE;
    text.erase(0, line + 1);
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void* data, CUlogsCallbackHandle* out) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (callback == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const uint64_t id = add_log_listener(callback, data);
    if (out != nullptr) *out = reinterpret_cast<CUlogsCallbackHandle>(id);
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return guard_before_init(__func__, [&]() -> CUresult {
    const bool was_there = remove_log_listener(reinterpret_cast<uint64_t>(handle));
    return was_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuLogsCurrent(CUlogIterator* out, unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CU_TRY(check_flags(flags));
    *out = end_of_log();
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CU_TRY(check_flags(flags));
    Result<FileWriter> file = FileWriter::open(path);
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    file->write(take_log(iterator));
    return file->commit() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                            unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    CU_TRY(check_flags(flags));
    return dump_to_memory(iterator, buffer, size);
  });
}

}  // extern "C"

}  // namespace km::cu
