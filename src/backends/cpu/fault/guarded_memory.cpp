#include "backends/cpu/fault/guarded_memory.h"

#include <cstring>

#include "backends/cpu/fault/guarded_copies.h"
#include "backends/cpu/threads/sanitizers.h"
#include "backends/cpu/threads/stack_switch.h"

namespace km::cpu {
namespace {

/// The smallest size that bypasses the caches.
constexpr uint64_t kLeastStreamedBytes = 4096;

/// The arguments of a guarded move, since a guarded call takes a single pointer.
struct Move {
  GuardedMove* function;
  void* destination;
  const void* source;
  uint64_t size_bytes;
};

/// The arguments and the result of a guarded strnlen().
struct Length {
  const char* text;
  uint64_t limit, result;
};

KM_NO_SANITIZE void run_move(void* argument) {
  auto* move = static_cast<Move*>(argument);
  move->function(move->destination, move->source, move->size_bytes);
}

KM_NO_SANITIZE void run_length(void* argument) {
  auto* length = static_cast<Length*>(argument);
  length->result = km_cpu_guarded_length(length->text, length->limit);
}

/// Runs `function` on this stack; false if an instruction of the guard's range faulted. The signal
/// fences keep the compiler from moving the stores to current_guard, which the handler on this
/// thread reads, across the call.
bool call_with(CodeGuard& guard, void (*function)(void*), void* argument, Fault* out_fault) {
  CodeGuard* outer = current_guard;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_guard = &guard;
  uint64_t ending = km_cpu_enter(&guard, nullptr, function, argument);
  current_guard = outer;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (ending == 0) return true;
  if (out_fault != nullptr) *out_fault = guard.fault;
  return false;
}

bool guarded_call(void (*function)(void*), void* argument, Fault* out_fault) {
  CodeGuard guard;
  guard.begin = reinterpret_cast<uint64_t>(km_cpu_guarded_begin);
  guard.end = reinterpret_cast<uint64_t>(km_cpu_guarded_end);
  return call_with(guard, function, argument, out_fault);
}

bool run(const Move& move, Fault* out_fault) {
  return guarded_call(run_move, const_cast<Move*>(&move), out_fault);
}

}  // namespace

bool guarded_copy(void* destination, const void* source, uint64_t size_bytes, bool streaming,
                  Fault* out_fault) {
  const GuardedCopies& copies = guarded_copies();
  auto to = reinterpret_cast<uint64_t>(destination), from = reinterpret_cast<uint64_t>(source);
  if (to > from && to - from < size_bytes) {
    return run({copies.copy_down, destination, source, size_bytes}, out_fault);
  }
  bool overlap = from > to && from - to < size_bytes;
  if (!streaming || overlap || size_bytes < kLeastStreamedBytes) {
    return run({copies.copy, destination, source, size_bytes}, out_fault);
  }
  uint64_t head = (0 - to) & 31;  // non-temporal stores need alignment
  if (head != 0 && !run({copies.copy_any, destination, source, head}, out_fault)) return false;
  return run({copies.stream, static_cast<char*>(destination) + head,
              static_cast<const char*>(source) + head, size_bytes - head},
             out_fault);
}

bool guarded_fill(void* destination, uint32_t value, uint32_t value_size_bytes, uint64_t count,
                  bool streaming, Fault* out_fault) {
  alignas(32) unsigned char pattern[64];
  for (unsigned i = 0; i < sizeof pattern; i += value_size_bytes) {
    memcpy(pattern + i, &value, value_size_bytes);
  }
  uint64_t size_bytes = count * value_size_bytes;
  const GuardedCopies& copies = guarded_copies();
  uint64_t head = (0 - reinterpret_cast<uint64_t>(destination)) & 31;
  if (!streaming || size_bytes < kLeastStreamedBytes)
    return run({copies.fill, destination, pattern, size_bytes}, out_fault);
  if (head != 0 && !run({copies.fill, destination, pattern, head}, out_fault)) return false;
  // The pattern continues where the head ended.
  return run({copies.fill_large, static_cast<char*>(destination) + head,
              pattern + head % value_size_bytes, size_bytes - head},
             out_fault);
}

bool guarded_run(void (*function)(void*), void* argument, Fault* out_fault) {
  CodeGuard guard;
  guard.begin = 0;
  guard.end = UINT64_MAX;
  return call_with(guard, function, argument, out_fault);
}

namespace {

template <class T>
KM_NO_SANITIZE void run_move_value(void* argument) {
  const auto* move = static_cast<const Move*>(argument);
  const T value = __atomic_load_n(static_cast<const T*>(move->source), __ATOMIC_ACQUIRE);
  __atomic_store_n(static_cast<T*>(move->destination), value, __ATOMIC_RELEASE);
}

}  // namespace

bool guarded_move_value(void* destination, const void* source, uint32_t size_bytes) {
  Move move{nullptr, destination, source, size_bytes};
  return guarded_run(size_bytes == 8 ? run_move_value<uint64_t> : run_move_value<uint32_t>, &move,
                     nullptr);
}

bool guarded_length(const char* text, uint64_t limit, uint64_t* out_length) {
  Length length = {text, limit, 0};
  if (!guarded_call(run_length, &length, nullptr)) return false;
  *out_length = length.result;
  return true;
}

}  // namespace km::cpu
