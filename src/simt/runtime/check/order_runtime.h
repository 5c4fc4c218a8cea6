// The function by which code for Schedule leaves stores to the runtime.
#pragma once

#include "simt/runtime/check/counter_runtime.h"

namespace km::simt {

/// Extends CounterRuntime by the entry for delayed stores. Tables of launches without a schedule do
/// not have it, and their code does not call it.
struct OrderRuntime {
  CounterRuntime base;
  /// Called before `lanes` store plain values, given as to report_access(). Returns the lanes whose
  /// stores the runtime makes later; code makes those of the others.
  uint32_t (*delay_store)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                          const AccessNote* note, const void* values, uint32_t lane_count);
};

}  // namespace km::simt
