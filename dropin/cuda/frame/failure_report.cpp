#include "dropin/cuda/frame/failure_report.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/cuda/cuda_results.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/process/exec_report.h"
#include "base/thread/cancellation.h"
#include "dropin/cuda/frame/error_text.h"
#include "dropin/cuda/frame/python_nvrtc.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

ExecReport* report = nullptr;   // set before main() begins, or before dlopen() returns
thread_local char reason[512];  // of the next failure; empty: not known

[[gnu::constructor]] void note_loaded() noexcept {
  try {
    report = find_exec_report();
    if (report != nullptr) load_nvrtc_of_python();
  } catch (...) {  // no memory for a path: the program counts for more
    return;
  }
  if (report == nullptr) return;
  report->opened.store(1, std::memory_order_relaxed);
  // The log has every reason where it is shown.
  const bool are_shown = report->failed.load() == 0 && !log_enabled(LogLevel::kInfo, "cuda");
  failures_are_shown.store(are_shown, std::memory_order_relaxed);
}

/// Results that tell of a state, and that programs expect.
bool is_answer(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
    case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
    case CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_FILE_NOT_FOUND:  // of a program's own cache of modules
      return true;
    default:
      return false;
  }
}

/// Functions by which programs find out what there is: an error is an answer, too.
bool is_question(std::string_view function) {
  constexpr std::string_view kQuestions[] = {
      "cuCtxGetDevice",          "cuCtxGetApiVersion",      "cuDeviceGetAttribute",
      "cuDeviceGetP2PAttribute", "cuFuncGetAttribute",      "cuFuncGetParamInfo",
      "cuGetExportTable",        "cuGetProcAddress",        "cuGetProcAddress_v2",
      "cuKernelGetParamInfo",    "cuMemGetAddressRange_v2", "cuModuleGetGlobal_v2",
      "cuPointerGetAttribute",   "cuPointerGetAttributes",
  };
  for (const std::string_view each : kQuestions) {
    if (function == each) return true;
  }
  return false;
}

bool claim_report() {
  failures_are_shown.store(false, std::memory_order_relaxed);
  return report != nullptr && report->failed.exchange(1) == 0;
}

/// Allocates nothing.
void show_line(const char* text) noexcept {
  flockfile(stderr);
  std::fputs("kernelmill: ", stderr);
  PrintablePieces pieces(text);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    std::fwrite(piece.data(), 1, piece.size(), stderr);
  }
  std::fputc('\n', stderr);
  funlockfile(stderr);
}

}  // namespace

void note_reason(const char* text) noexcept { std::snprintf(reason, sizeof reason, "%s", text); }

void show_failure(const char* function, CUresult result) noexcept {
  if (is_answer(result) || is_question(function)) {
    reason[0] = '\0';
    return;
  }
  if (!claim_report()) return;
  if (result == CUDA_ERROR_ASSERT) return;  // the assertion's own text is there
  const NoCancellation postponed;
  const char* const name = cuda_result_name(result);
  const char* const text = reason[0] != '\0' ? reason : error_text(result);
  char line[1024];
  std::snprintf(line, sizeof line, "%s: %s: %s (the first failed call; --log shows all)", function,
                name != nullptr ? name : "an unknown result",
                text != nullptr ? text : "no reason is known");
  show_line(line);
}

void show_hint(const char* text) noexcept {
  static std::atomic<bool> is_shown{false};
  if (report == nullptr || log_enabled(LogLevel::kInfo, "cuda") || is_shown.exchange(true)) return;
  const NoCancellation postponed;
  show_line(text);
}

void note_shown_failure() noexcept { static_cast<void>(claim_report()); }

}  // namespace km::dropin
