// The program's log of calls: one line each, from level 5 on, or for failures from level 1 on.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/thread/cancellation.h"
#include "dropin/cusolver/frame/status.h"
#include "dropin/library/log_callback.h"

namespace km::cusolver {

namespace {

constexpr int kErrorLevel = 1, kCallLevel = 5, kMostLevel = 5;
// Bits of the mask: the first is for failures, the fifth for calls.
constexpr int kErrorBit = 1 << 0, kCallBit = 1 << 4;

std::atomic<int> mask{0};
std::atomic<bool> is_disabled{false};
std::atomic<FILE*> file{nullptr};
// Files that have been opened stay, because other threads may be writing to them.
std::mutex files_mutex;
std::vector<std::unique_ptr<const File>> files;  // guarded by `files_mutex`
std::atomic<const File*> opened{nullptr};        // one of them
std::atomic<cusolverDnLoggerCallback_t> callback{nullptr};

void log_call(const char* function, cusolverStatus_t status) noexcept {
  if (library::is_in_log_callback()) return;
  const bool is_error = status != CUSOLVER_STATUS_SUCCESS;
  if ((mask & (is_error ? kErrorBit | kCallBit : kCallBit)) == 0) return;
  const NoCancellation postponed;
  if (const cusolverDnLoggerCallback_t given = callback; given != nullptr) {
    library::call_log_callback(
        [&] { given(is_error ? kErrorLevel : kCallLevel, function, status_name(status)); });
  }
  char line[256];
  std::snprintf(line, sizeof line, "[cusolverDn] %s: %s\n", function, status_name(status));
  if (FILE* const to = file; to != nullptr) {
    std::fputs(line, to);
    std::fflush(to);
  } else if (const File* const own = opened; own != nullptr) {
    own->write_all(line, std::char_traits<char>::length(line));
  }
}

cusolverStatus_t set_mask(int value) {
  mask = value;
  call_logger = value != 0 && !is_disabled ? log_call : nullptr;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t given) {
  return call(__func__, [&] {
    callback = given;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnLoggerSetFile(FILE* given) {
  return call(__func__, [&] {
    file = given;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnLoggerOpenFile(const char* path) {
  return call(__func__, [&]() -> cusolverStatus_t {
    constexpr size_t kMostBytes = 4096;
    std::string name;
    if (path == nullptr || !library::read_host_text(path, kMostBytes, &name)) {
      return invalid("logFile is %p, which is not a readable text", static_cast<const void*>(path));
    }
    Result<File> created = create_file(name);
    if (!created) return invalid("%s", created.error().message.c_str());
    const std::lock_guard lock(files_mutex);
    files.push_back(std::make_unique<const File>(std::move(*created)));
    opened = files.back().get();
    file = nullptr;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnLoggerSetLevel(int level) {
  return call(__func__, [&]() -> cusolverStatus_t {
    if (level < 0 || level > kMostLevel) return invalid("level is %d, which is not 0 to 5", level);
    return set_mask((1 << level) - 1);
  });
}
cusolverStatus_t cusolverDnLoggerSetMask(int value) {
  return call(__func__, [&]() -> cusolverStatus_t {
    if (value < 0) return invalid("mask is %d", value);
    return set_mask(value);
  });
}
cusolverStatus_t cusolverDnLoggerForceDisable() {
  return call(__func__, [&] {
    is_disabled = true;
    return set_mask(0);
  });
}

}  // extern "C"

}  // namespace km::cusolver
