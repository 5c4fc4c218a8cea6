// One log line per call, for cusparseLoggerSetCallback, SetFile and OpenFile.
#include <climits>
#include <cstdio>
#include <string>

#include "base/thread/cancellation.h"
#include "dropin/cusparse/frame/handle.h"
#include "dropin/library/log_callback.h"

namespace km::cusparse {
namespace {

std::atomic<std::FILE*> log_file{nullptr};
std::atomic<cusparseLoggerCallback_t> log_callback{nullptr};
std::atomic<bool> is_disabled{false};

void log_call(const char* function, cusparseStatus_t status) {
  if (library::is_in_log_callback()) return;
  constexpr int kTrace = 5, kError = 1;
  const char* const name = status_name(status);
  if (std::FILE* const file = log_file) {
    const NoCancellation postponed;
    std::fprintf(file, "[cusparse] %s: %s\n", function, name);
    std::fflush(file);
  }
  if (const cusparseLoggerCallback_t callback = log_callback) {
    const int level = status == CUSPARSE_STATUS_SUCCESS ? kTrace : kError;
    library::call_log_callback([&] { callback(level, function, name); });
  }
}

void update_logger() {
  const bool is_on = !is_disabled && (log_file != nullptr || log_callback != nullptr);
  call_logger = is_on ? log_call : nullptr;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback) {
  return call([&] {
    log_callback = callback;
    update_logger();
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseLoggerSetFile(FILE* file) {
  return call([&] {
    log_file = file;
    update_logger();
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseLoggerOpenFile(const char* path) {
  return call([&]() -> cusparseStatus_t {
    const NoCancellation postponed;
    std::string name;
    if (!library::read_host_text(path, PATH_MAX, &name)) return invalid("logFile is not a text");
    std::FILE* const file = std::fopen(name.c_str(), "ae");  // tidy: file: a log grows line by line
    if (file == nullptr) return invalid("the log cannot be opened: %s", name.c_str());
    log_file = file;
    update_logger();
    return CUSPARSE_STATUS_SUCCESS;
  });
}

// All calls are logged, whatever the level and mask.
cusparseStatus_t cusparseLoggerSetLevel(int level) {
  return call([&]() -> cusparseStatus_t {
    return level >= 0 && level <= 5 ? CUSPARSE_STATUS_SUCCESS : invalid("level is %d", level);
  });
}
cusparseStatus_t cusparseLoggerSetMask(int mask) {
  return call([&]() -> cusparseStatus_t {
    return mask >= 0 && mask <= 31 ? CUSPARSE_STATUS_SUCCESS : invalid("mask is %d", mask);
  });
}
cusparseStatus_t cusparseLoggerForceDisable() {
  return call([&] {
    is_disabled = true;
    update_logger();
    return CUSPARSE_STATUS_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cusparse
