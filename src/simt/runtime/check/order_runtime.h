// The functions by which code for Schedule leaves stores and loads to the runtime.
#pragma once

#include "simt/runtime/check/counter_runtime.h"

namespace km::simt {

/// Extends CounterRuntime by the entries for delayed stores and old values. Tables of launches
/// without a schedule do not have them, and their code does not call them.
struct OrderRuntime {
  CounterRuntime base;
  /// Called before `lanes` store plain values, given as to report_access(). Returns the lanes whose
  /// stores the runtime makes later; code makes those of the others.
  uint32_t (*delay_store)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                          const AccessNote* note, const void* values, uint32_t lane_count);
  /// Called when `lanes` load plain values. Writes those that some of them see in place of what
  /// memory holds, in the order of report_access(), and returns these lanes.
  uint32_t (*load_old)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                       const AccessNote* note, void* out_values, uint32_t lane_count);
};

}  // namespace km::simt
