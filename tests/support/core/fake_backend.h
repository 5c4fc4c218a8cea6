// A backend for tests of the core: in this process, without threads, and with counters that say
// what is still alive. Its "PTX" is read for signatures only; kernels run by name:
//   noop()                                  nothing
//   fill_index(out: u64, base: u32, n: u32) out[i] = base + i
//   scale(data: u64, factor: f32, n: u32)   data[i] *= factor
//   crash()                                 fails with KM_ERROR_TRAP
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/interface.h"

namespace km::test {

/// Objects of each kind that were made and not yet let go.
struct FakeCounters {
  std::atomic<int> devices{0}, contexts{0}, streams{0}, events{0}, memories{0}, modules{0};
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> ticket_waits{0};  // calls of stream_wait_ticket
};
FakeCounters& fake_counters();

/// Queued work runs only when somebody waits for it, instead of at once.
void fake_set_deferred(bool deferred);

/// The next `after`-th call (0: the next one) into an entry that can fail returns `status`.
void fake_fail_call(int after, km_status status);

/// "fake"; its build id is that of this build.
const kmb_backend& fake_backend();

}  // namespace km::test
