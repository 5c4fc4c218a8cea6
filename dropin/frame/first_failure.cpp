#include "dropin/frame/first_failure.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/process/exec_report.h"
#include "base/thread/cancellation.h"
#include "dropin/frame/reason.h"

namespace km::frame {
namespace {

ExecReport* report = nullptr;   // set before main() begins or before dlopen() returns
thread_local char reason[512];  // reason of the next failure; empty: unknown

void keep_reason(const char* text) noexcept { std::snprintf(reason, sizeof reason, "%s", text); }

[[gnu::constructor]] void find_report() noexcept {
  try {
    report = find_exec_report();
  } catch (...) {  // no memory for a path: the program still runs without a report
    return;
  }
  if (report == nullptr || report->failed.load() != 0) return;
  if (log_enabled(LogLevel::kInfo, "cuda")) return;  // the log shows every reason already
  reason_keeper.store(keep_reason, std::memory_order_relaxed);
  failures_are_shown.store(true, std::memory_order_relaxed);
}

bool claim_report() {
  failures_are_shown.store(false, std::memory_order_relaxed);
  reason_keeper.store(nullptr, std::memory_order_relaxed);
  return report != nullptr && report->failed.exchange(1) == 0;
}

/// Allocates nothing, because memory may have run out.
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

/// The reason without the function's name, if it begins with that.
const char* bare_reason(const char* function) {
  const size_t length = std::strlen(function);
  const bool is_named =
      std::strncmp(reason, function, length) == 0 && std::strncmp(reason + length, ": ", 2) == 0;
  return is_named ? reason + length + 2 : reason;
}

}  // namespace

void show_failure(const char* function, const char* status, const char* text) noexcept {
  if (!claim_report()) return;
  const NoCancellation postponed;
  char line[1024];
  const char* const why = reason[0] != '\0' ? bare_reason(function)
                          : text != nullptr ? text
                                            : "no reason is known";
  std::snprintf(line, sizeof line, "%s: %s: %s (the first failed call; --log shows all)", function,
                status != nullptr ? status : "an unknown result", why);
  show_line(line);
}

void forget_reason() noexcept { reason[0] = '\0'; }

void note_shown_failure() noexcept { static_cast<void>(claim_report()); }

void show_hint(const char* text) noexcept {
  if (log_enabled(LogLevel::kInfo, "cuda")) return;  // the failure's reason says it
  constexpr int kMostHints = 16;
  static std::atomic<uint64_t> shown[kMostHints];
  const uint64_t hash = hash64(text) | 1;
  for (std::atomic<uint64_t>& place : shown) {
    uint64_t known = 0;
    if (place.compare_exchange_strong(known, hash)) {
      const NoCancellation postponed;
      if (report != nullptr) {
        show_line(text);
      } else {
        log(LogLevel::kWarn, "cuda", "%s", text);
      }
      return;
    }
    if (known == hash) return;
  }
}

}  // namespace km::frame
