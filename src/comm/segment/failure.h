// Why a communicator has failed.
#pragma once

#include <cstdint>
#include <string>

#include "comm/operation/operation.h"

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

/// The failure of two ranks that called different operations.
Failure mismatch(uint32_t rank, const Signature& call, uint32_t other, const Signature& other_call);

/// Compares the calls of all ranks of a collective operation, which call_of(rank) gives, with
/// rank 0's.
template <class CallOf>
Failure compare_calls(uint32_t ranks, CallOf&& call_of) {
  for (uint32_t i = 1; i < ranks; ++i) {
    if (!is_same_call(call_of(0), call_of(i))) return mismatch(0, call_of(0), i, call_of(i));
  }
  return {};
}

}  // namespace km::comm
