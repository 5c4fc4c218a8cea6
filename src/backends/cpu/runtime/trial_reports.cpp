#include "backends/cpu/runtime/trial_reports.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/trials/trial.h"
#include "base/memory/host_allocator.h"
#include "base/no_sanitize.h"

namespace km::cpu {
namespace {

/// Makes one of the delayed stores now and then, in no order.
void make_some(Trial& trial) {
  if (trial.stores.is_empty() || !trial.schedule.makes_store()) return;
  trial.stores.make(trial.schedule.draw(static_cast<uint32_t>(trial.stores.size())));
}

/// Calls a function for each part of an access that OldValues keeps together.
template <typename Action>
void for_pieces(const TrialAccess& access, const BlockChecks& checks, const Action& action) {
  constexpr uint64_t kPieceBytes = OldValues::kMostBytes;
  for (uint64_t at = access.address, end = at + access.size_bytes; at < end;) {
    const uint64_t stop = std::min(end, (at / kPieceBytes + 1) * kPieceBytes);
    const auto size_bytes = static_cast<uint32_t>(stop - at);
    action(OldValues::Access{at, size_bytes, access.thread, checks.is_own(at, size_bytes)});
    at = stop;
  }
}

/// Keeps what the access is about to replace, or notes what it sees, and if it acquires.
void note_old(Trial& trial, const BlockChecks& checks, const TrialAccess& access) {
  // If a store or an acquire were missed, a sound load would see old values.
  const HostMemoryNeeded needed;
  const simt::AccessNote& note = *access.note;
  const BlockClock& clock = checks.clock();
  trial.old.follow(clock);
  if ((note.flags & simt::access_flag::kAcquire) != 0) {
    trial.old.sync(checks.block_number(), access.thread);
  }
  const bool is_read = note.kind == simt::AccessKind::read;
  // load_old() decides later what such a load sees.
  if (is_read && note.may_be_old != 0 && access.size_bytes <= OldValues::kMostBytes) return;
  for_pieces(access, checks, [&](const OldValues::Access& piece) {
    if (is_read) {
      trial.old.see(piece, clock);
    } else {
      trial.old.note_write(piece, clock);
    }
  });
}

/// Notes the access in the log. A launch of which something could not be noted must not run twice.
void note_access(Trial& trial, const LaunchRun& launch, const BlockChecks& checks,
                 const TrialAccess& access) {
  const simt::AccessNote& note = *access.note;
  if (checks.is_own(access.address, access.size_bytes)) return;
  if (note.kind == simt::AccessKind::read) {
    const bool is_strong = (note.flags & simt::access_flag::kStrong) != 0;
    if (is_strong && launch.unit->waits && WriteLog::is_of_host(access.address)) {
      trial.effect = "wait for the host";
    }
    return;
  }
  Trial::Write write;
  write.line = note.line;
  write.block = checks.block_number();
  write.thread = access.thread;
  write.element_bytes = note.element_bytes;
  write.address = access.address;
  write.is_atomic = note.kind == simt::AccessKind::atomic;
  try {
    trial.note(write, access.size_bytes, (note.flags & simt::access_flag::kFloatSum) != 0);
  } catch (const std::bad_alloc&) {
    trial.effect = "lack memory";
  }
}

}  // namespace

void follow_access(Trial& trial, const LaunchRun& launch, const BlockChecks& checks,
                   const TrialAccess& access) {
  const DelayedStores::Thread thread{checks.block_number(), access.thread};
  if (!trial.stores.is_empty()) {
    trial.stores.make_before(thread, access.address, access.size_bytes);
    if ((access.note->flags & simt::access_flag::kRelease) != 0) trial.stores.make_all(thread);
    make_some(trial);
  }
  if (trial.log != nullptr) note_access(trial, launch, checks, access);
  if (trial.schedule.has_old_values()) note_old(trial, checks, access);
}

KM_NO_SANITIZE uint32_t delay_store(simt::BlockState* state, const uint64_t* addresses,
                                    uint32_t lanes, const simt::AccessNote* note,
                                    const void* values, uint32_t lane_count) {
  Executor& executor = executor_of(state);
  Trial& trial = *executor.launch().trial;
  const BlockChecks* const checks = executor.block_checks();
  if (checks == nullptr || note->size_bytes > DelayedStores::kMostBytes) return 0;
  // `race` looks at memory to see whether writes are of one value.
  if ((executor.launch().checks->tools() & simt::check_tool::kRace) != 0) return 0;
  const HostMemoryOptional optional;
  uint32_t delayed = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (!trial.schedule.delays_store()) continue;
    const uint64_t address = addresses[lane];
    if (executor.find_memory(address, note->size_bytes).is_empty()) continue;  // it will fault
    DelayedStores::Store store;
    store.thread = {checks->block_number(), state->first_thread + lane};
    store.address = address;
    store.size_bytes = note->size_bytes;
    store.is_of_block = checks->is_own(address, note->size_bytes);
    const auto* const bytes = static_cast<const uint8_t*>(values);
    const uint32_t element = note->element_bytes;
    for (uint32_t i = 0; i < note->size_bytes / element; ++i) {
      memcpy(&store.bytes[i * element], bytes + (i * lane_count + lane) * element, element);
    }
    try {
      trial.stores.add(store);
    } catch (const std::bad_alloc&) {
      return delayed;
    }
    delayed |= uint32_t{1} << lane;
  }
  return delayed;
}

KM_NO_SANITIZE uint32_t load_old(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                                 const simt::AccessNote* note, void* out_values,
                                 uint32_t lane_count) {
  Executor& executor = executor_of(state);
  Trial& trial = *executor.launch().trial;
  const BlockChecks* const checks = executor.block_checks();
  const uint32_t size_bytes = note->size_bytes, element = note->element_bytes;
  if (checks == nullptr || !trial.schedule.has_old_values()) return 0;
  if (size_bytes > OldValues::kMostBytes) return 0;
  const HostMemoryOptional optional;
  const bool in_step = (executor.launch().checks->tools() & simt::check_tool::kInStep) != 0;
  const auto draw = [&](size_t count) {
    return trial.schedule.pick_old(static_cast<uint32_t>(count));
  };
  auto* const out = static_cast<uint8_t*>(out_values);
  uint32_t old = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const OldValues::Access access{addresses[lane], size_bytes, state->first_thread + lane,
                                   checks->is_own(addresses[lane], size_bytes)};
    try {
      const auto bytes = trial.old.older(access, checks->clock(), in_step, draw);
      if (!bytes) continue;
      for (uint32_t i = 0; i < size_bytes / element; ++i) {
        memcpy(out + (i * lane_count + lane) * element, bytes->data() + i * element, element);
      }
    } catch (const std::bad_alloc&) {
      trial.old.forget();  // a load that was not noted must not be followed by one of older content
      return old;
    }
    old |= uint32_t{1} << lane;
  }
  return old;
}

void sync_old(simt::BlockState* state, uint32_t lanes) {
  Executor& executor = executor_of(state);
  Trial* const trial = executor.launch().trial;
  if (trial == nullptr || !trial->schedule.has_old_values()) return;
  const BlockChecks* const checks = executor.block_checks();
  if (checks == nullptr) return;
  const HostMemoryNeeded needed;  // a fence that is missed would make a sound load see old values
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    trial->old.sync(checks->block_number(), state->first_thread + lane);
  }
}

void make_stores(simt::BlockState* state, uint32_t lanes) {
  Executor& executor = executor_of(state);
  Trial* const trial = executor.launch().trial;
  const BlockChecks* const checks = executor.block_checks();
  if (trial == nullptr || checks == nullptr || trial->stores.is_empty()) return;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    trial->stores.make_all({checks->block_number(), state->first_thread + lane});
  }
}

void make_stores_of_block(simt::BlockState* state) {
  Executor& executor = executor_of(state);
  const BlockChecks* const checks = executor.block_checks();
  if (checks != nullptr) executor.launch().trial->stores.make_block(checks->block_number());
}

}  // namespace km::cpu
