// Why a communicator has failed.
#pragma once

#include <cstdint>
#include <string>

namespace km::comm {

enum class FailureKind : uint32_t {
  kNone,
  kMismatch,  // ranks called different operations
  kTimeout,   // a rank did not call within the time limit
  kLostRank,  // a rank's process has ended, or it has left
  kAborted,   // a rank has aborted the communicator
  kArgument,  // a call was wrong
  kSystem     // the system refused memory, threads or files
};

struct Failure {
  FailureKind kind = FailureKind::kNone;
  std::string text;

  explicit operator bool() const { return kind != FailureKind::kNone; }
};

[[gnu::format(printf, 2, 3)]] Failure make_failure(FailureKind kind, const char* format, ...);

}  // namespace km::comm
