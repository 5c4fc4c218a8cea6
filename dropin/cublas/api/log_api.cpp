// One log line per call, for cublasLoggerConfigure.
#include <atomic>
#include <cstdio>

#include "base/thread/cancellation.h"
#include "dropin/cublas/frame/handle.h"
#include "dropin/library/log_callback.h"

namespace km::cublas {

namespace {

std::atomic<bool> logs_to_stdout{false}, logs_to_stderr{false};
std::atomic<cublasLogCallback> log_callback{nullptr};

void log_call(const char* function, cublasStatus_t status) noexcept {
  if (library::is_in_log_callback()) return;
  const NoCancellation postponed;
  char line[256];
  std::snprintf(line, sizeof line, "[cublas] %s: %s\n", function, status_name(status));
  if (const cublasLogCallback callback = log_callback; callback != nullptr) {
    library::call_log_callback([&] { callback(line); });
  }
  // tidy: stdout: the program asks for it
  if (logs_to_stdout) std::fputs(line, stdout);
  if (logs_to_stderr) std::fputs(line, stderr);
}

void set_logging(bool is_on) { call_logger = is_on ? log_call : nullptr; }

}  // namespace

extern "C" {

cublasStatus_t cublasLoggerConfigure(int is_on, int to_stdout, int to_stderr, const char* file) {
  return call(__func__, [&]() -> cublasStatus_t {
    char first = 0;
    if (file != nullptr) LIB_TRY(read_value("logFileName", file, &first));
    if (first != 0)
      return unsupported("logs to a file are not there; log to stdout, or by KM_LOG=info,cuda");
    logs_to_stdout = is_on != 0 && to_stdout != 0;
    logs_to_stderr = is_on != 0 && to_stderr != 0;
    set_logging(is_on != 0);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  return call(__func__, [&] {
    log_callback = callback;
    set_logging(callback != nullptr || logs_to_stdout || logs_to_stderr);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  return call(__func__, [&] { return write_value("userCallback", callback, log_callback.load()); });
}

}  // extern "C"

}  // namespace km::cublas
