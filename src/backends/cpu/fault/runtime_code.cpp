#include "backends/cpu/fault/runtime_code.h"

extern "C" {
[[gnu::visibility("hidden")]] extern const char __start_km_lane_code[];
[[gnu::visibility("hidden")]] extern const char __stop_km_lane_code[];
}

namespace km::cpu {

// tidy: order: the thread's own signal handler reads it
__thread volatile uint32_t in_image_access __attribute__((tls_model("initial-exec"))) = 0;

KM_NO_SANITIZE bool is_lane_code(uint64_t pc) {
  return pc >= reinterpret_cast<uint64_t>(&__start_km_lane_code[0]) &&
         pc < reinterpret_cast<uint64_t>(&__stop_km_lane_code[0]);
}

}  // namespace km::cpu
