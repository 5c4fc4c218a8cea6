// One round: some ten thousand calls of a few threads on shared objects, in a process of its own.
#pragma once

#include "caller.h"

namespace km::fuzz {

struct RoundOptions {
  uint64_t calls = 40'000;
  unsigned threads = 4;
  Caller::Options caller;
};

/// Makes the calls, ends all handles, and looks for what was lost on the way; findings go to the
/// journal.
void run_round(Api& api, Journal& journal, const RoundOptions& options);

}  // namespace km::fuzz
