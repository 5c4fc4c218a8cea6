#include "backends/cpu/runtime/check_reports.h"

#include <algorithm>
#include <bit>
#include <new>

#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/runtime/trial_reports.h"
#include "backends/cpu/trials/trial.h"
#include "base/memory/host_allocator.h"
#include "base/no_sanitize.h"

namespace km::cpu {
namespace {

/// Calls a function with the running block's checks. Without memory the checker misses the event,
/// since the kernel itself can go on.
template <typename Action>
void with_checks(Executor& executor, const Action& action) {
  BlockChecks* const checks = executor.block_checks();
  if (checks == nullptr) return;
  const HostMemoryOptional optional;
  try {
    action(*checks);
  } catch (const std::bad_alloc&) {
  }
}

template <typename Action>
void with_checks(const simt::BlockState* state, const Action& action) {
  with_checks(executor_of(state), action);
}

/// Follows the accesses of a report if the launch has an order.
void follow(const simt::BlockState* state, const BlockChecks& checks, const AccessReport& report) {
  const LaunchRun& launch = executor_of(state).launch();
  if (launch.trial == nullptr) return;
  for (uint32_t left = report.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    follow_access(
        *launch.trial, launch, checks,
        {report.addresses[lane], report.note->size_bytes, report.first_thread + lane, report.note});
  }
}

}  // namespace

KM_NO_SANITIZE uint32_t filter_access(simt::BlockState* state, uint64_t* addresses, uint32_t lanes,
                                      const simt::AccessNote* note, uint64_t held_bytes,
                                      uint64_t extent_bytes, uint64_t* out_range) {
  Executor& executor = executor_of(state);
  AddressRange range;
  uint32_t invalid = 0;
  uint64_t last_invalid = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    const bool is_misaligned = (address & (note->size_bytes - 1)) != 0;
    if (!is_misaligned) {
      if (range.holds(address, held_bytes)) continue;
      const AddressRange found = executor.find_memory(address, held_bytes);
      if (!found.is_empty()) {
        range = found;
        continue;
      }
    }
    invalid |= uint32_t{1} << lane;
    last_invalid = address;
    addresses[lane] = executor.launch().checks->unused().begin;
    with_checks(state, [&](BlockChecks& checks) {
      checks.note_invalid({address, state->first_thread + lane, note, is_misaligned});
    });
  }
  if (invalid != 0 && executor.launch().checks->has_too_many_invalid()) {
    const auto lane = static_cast<uint32_t>(std::bit_width(invalid)) - 1;
    executor.raise(simt::FaultKind::illegal_address, 0, last_invalid, note->size_bytes,
                   state->first_thread + lane, note->line);
  }
  const bool fits = invalid == 0 && extent_bytes <= range.size_bytes;
  out_range[0] = fits ? range.begin : UINT64_MAX;
  out_range[1] = fits ? range.size_bytes - extent_bytes : 0;
  return invalid;
}

void report_access(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                   const simt::AccessNote* note, const void* values, uint32_t lane_count) {
  with_checks(state, [&](BlockChecks& checks) {
    checks.begin_instruction(state->first_thread);
    const AccessReport report{
        addresses, lanes, state->first_thread, note, static_cast<const uint8_t*>(values),
        lane_count};
    follow(state, checks, report);
    checks.note_access(report);
  });
}

void report_content(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                    const simt::AccessNote* note, uint64_t extent_bytes, uint64_t* out_range) {
  if (lanes == 0) return;
  bool was_undefined = false;
  with_checks(state, [&](BlockChecks& checks) {
    was_undefined = checks.note_content({addresses, lanes, state->first_thread, note, nullptr, 0});
  });
  if (out_range == nullptr) return;
  if (was_undefined) {  // and most often so is what the place writes next
    out_range[0] = UINT64_MAX;
    out_range[1] = 0;
    return;
  }
  const Executor& executor = executor_of(state);
  // A place that misses again gets more, so that few calls find all of a large allocation.
  constexpr uint64_t kLeastBytes = 64 << 10;
  const uint64_t last_bytes = out_range[0] != UINT64_MAX ? out_range[1] : 0;
  const AddressRange defined = executor.find_defined(addresses[std::countr_zero(lanes)],
                                                     std::max(kLeastBytes, 2 * last_bytes));
  const bool fits = extent_bytes <= defined.size_bytes;
  out_range[0] = fits ? defined.begin : UINT64_MAX;
  out_range[1] = fits ? defined.size_bytes - extent_bytes : 0;
}

void report_ranges(simt::BlockState* state, const uint64_t* addresses, const uint64_t* sizes,
                   uint32_t lanes, const simt::AccessNote* note,
                   const simt::StoreSources* sources) {
  with_checks(state, [&](BlockChecks& checks) {
    checks.begin_instruction(state->first_thread);
    AccessReport report{addresses, lanes, state->first_thread, note, nullptr, simt::kWarpLanes};
    report.sizes = sizes;
    report.sources = sources;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      if (sizes[lane] == 0) continue;
      const LaunchRun& launch = executor_of(state).launch();
      const TrialAccess access{addresses[lane], sizes[lane], state->first_thread + lane, note};
      if (launch.trial != nullptr) follow_access(*launch.trial, launch, checks, access);
    }
    checks.note_ranges(report);
  });
}

void report_acquire(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                    const simt::AccessNote* note) {
  with_checks(state, [&](BlockChecks& checks) {
    checks.note_acquire({addresses, lanes, state->first_thread, note, nullptr, 0});
  });
}

void report_fence(simt::BlockState* state, uint32_t lanes, uint32_t scope) {
  make_stores(state, lanes);
  sync_old(state, lanes);
  with_checks(state, [&](BlockChecks& checks) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      checks.note_fence(state->first_thread + static_cast<uint32_t>(std::countr_zero(left)),
                        static_cast<simt::MemoryScope>(scope));
    }
  });
}

void report_barrier(simt::BlockState* state, uint32_t lanes, uint32_t id, uint32_t thread_count,
                    uint32_t line) {
  with_checks(state, [&](BlockChecks& checks) {
    checks.barriers().arrive({id, thread_count, line, state->first_thread, lanes});
  });
}

void report_members(simt::BlockState* state, const uint32_t* members, uint32_t lanes,
                    uint32_t line) {
  with_checks(state, [&](BlockChecks& checks) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      if ((members[lane] >> ((state->first_thread + lane) % simt::kWarpLanes) & 1) != 0) continue;
      checks.barriers().note_stranger(state->first_thread + lane, line);
    }
  });
}

void report_warp_sync(simt::BlockState* state, uint32_t lanes, uint32_t orders) {
  if (orders != 0) make_stores(state, lanes);
  sync_old(state, lanes);
  with_checks(state, [&](BlockChecks& checks) {
    const uint32_t first = state->first_thread, warp = first / simt::kWarpLanes;
    lanes <<= first % simt::kWarpLanes;
    if (orders != 0) {
      checks.clock().sync_warp(warp, lanes);
    } else {
      checks.clock().exchange(warp, lanes);
    }
  });
}

void report_copies(simt::BlockState* state, uint32_t lanes, uint32_t kind, uint32_t pending) {
  with_checks(state, [&](BlockChecks& checks) {
    checks.clock().end_copies(state->first_thread, lanes, static_cast<simt::CopyKind>(kind),
                              pending);
  });
}

void report_locals(simt::BlockState* state, uint64_t begin, uint32_t lanes, uint64_t stride_bytes,
                   uint64_t size_bytes) {
  with_checks(state, [&](BlockChecks&) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint64_t>(std::countr_zero(left));
      UndefinedMemory::instance().add(begin + lane * stride_bytes, size_bytes);
    }
  });
}

void report_undefined(simt::BlockState* state, uint32_t lanes, uint32_t use, uint32_t line) {
  with_checks(state, [&](BlockChecks& checks) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      checks.note_undefined(state->first_thread + static_cast<uint32_t>(std::countr_zero(left)),
                            static_cast<simt::UndefinedUse>(use), line);
    }
  });
}

void report_range(Executor& executor, const AddressRange& range, uint32_t thread,
                  const simt::AccessNote& note, const uint8_t* content) {
  const auto from = reinterpret_cast<uint64_t>(content);
  const simt::StoreSources sources{&from, &range.size_bytes, nullptr};
  AccessReport report{&range.begin, 1, thread, &note, nullptr, 1};
  report.sizes = &range.size_bytes;
  if (content != nullptr) report.sources = &sources;
  with_checks(executor, [&](BlockChecks& checks) { checks.note_ranges(report); });
}

void forget_checked(simt::BlockState* state, uint64_t address, uint64_t size_bytes) {
  if (address == 0) return;
  with_checks(state, [&](BlockChecks& checks) { checks.forget(address, size_bytes); });
}

}  // namespace km::cpu
