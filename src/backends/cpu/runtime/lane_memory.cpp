#include "backends/cpu/runtime/lane_memory.h"

#include "backends/cpu/fault/runtime_code.h"
#include "backends/cpu/runtime/caller.h"
#include "base/arch/attributes.h"

// Lane code preserves all registers, so that a call from generated code spills none.
#define KM_LANE_CODE KM_LANE_SECTION KM_KEEPS_REGISTERS
// Helpers are inlined, so that all accesses lie in the section of lane code.
#define KM_LANE_PART KM_NO_SANITIZE KM_GENERAL_REGISTERS __attribute__((always_inline)) inline

#if defined(__clang__)  // all callees are inlined
#pragma clang diagnostic ignored "-Wexcessive-regsave"
#endif

namespace km::cpu {
namespace {

using simt::BlockState;

template <class Element>
KM_LANE_PART void move(void* to, const void* from, uint32_t lanes) {
  // tidy: order: each lane's access stays one, as the kernel has it
  auto* target = static_cast<volatile Element*>(to);
  // tidy: order: likewise
  const auto* source = static_cast<const volatile Element*>(from);
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    target[lane] = source[lane];
  }
}

KM_LANE_PART void move_elements(void* to, const void* from, uint32_t lanes, uint32_t size_bytes) {
  switch (size_bytes) {
    case 1:
      return move<uint8_t>(to, from, lanes);
    case 2:
      return move<uint16_t>(to, from, lanes);
    case 4:
      return move<uint32_t>(to, from, lanes);
    default:
      return move<uint64_t>(to, from, lanes);
  }
}

}  // namespace

KM_NO_SANITIZE void misaligned(BlockState* state, uint64_t address, uint32_t lanes,
                               simt::AccessSite site) {
  const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
  address += static_cast<uint64_t>(int64_t{site.step_bytes} * lane);
  executor_of(state).raise(simt::FaultKind::misaligned, 0, address, site.size_bytes,
                           state->first_thread + lane, site.line);
}

KM_LANE_CODE void load_lanes(BlockState* state, uint64_t address, uint32_t lanes,
                             simt::AccessSite site, void* elements) {
  state->line = site.line;
  move_elements(elements, reinterpret_cast<const void*>(address), lanes, site.size_bytes);
}

KM_LANE_CODE void store_lanes(BlockState* state, uint64_t address, uint32_t lanes,
                              simt::AccessSite site, const void* elements) {
  state->line = site.line;
  move_elements(reinterpret_cast<void*>(address), elements, lanes, site.size_bytes);
}

}  // namespace km::cpu
