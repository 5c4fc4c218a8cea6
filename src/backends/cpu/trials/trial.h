// Trial, one run of a launch in an order of its own.
#pragma once

#include <cstdint>

#include "backends/cpu/trials/delayed_stores.h"
#include "backends/cpu/trials/old_values.h"
#include "backends/cpu/trials/write_log.h"
#include "simt/runtime/schedule.h"

namespace km::cpu {

/// The order of a run, and what is noted while it lasts. One thread runs the launch.
struct Trial {
  simt::Schedule schedule;
  DelayedStores stores;
  OldValues old;
  WriteLog* log = nullptr;       // null: writes are not noted
  const char* effect = nullptr;  // why the launch must not run twice: "it ..."; null: it may

  /// The last write to the watched byte.
  struct Write {
    uint32_t line = 0, block = 0, thread = 0, element_bytes = 0;
    uint64_t address = 0;  // of the element
    bool is_atomic = false;
  };
  uint64_t watched = 0;  // 0: none
  Write last;

  /// Notes an access of one thread before it is made.
  void note(const Write& access, uint64_t size_bytes, bool is_float_sum) {
    const bool is_new = log->note({access.address, size_bytes, is_float_sum});
    if (!is_new || watched - access.address >= size_bytes) return;
    last = access;
    last.address =
        access.address + (watched - access.address) / access.element_bytes * access.element_bytes;
  }
};

}  // namespace km::cpu
