#include "backends/cpu/fault/guarded_copies.h"

extern "C" {
km::cpu::GuardedMove km_cpu_copy_sse, km_cpu_copy_avx, km_cpu_stream_sse, km_cpu_stream_avx,
    km_cpu_copy_down_sse, km_cpu_copy_down_avx, km_cpu_fill_sse, km_cpu_fill_avx, km_cpu_fill_large;
}

namespace km::cpu {
namespace {

constexpr GuardedCopies kSse = {km_cpu_copy_sse,   km_cpu_copy_sse, km_cpu_copy_down_sse,
                                km_cpu_stream_sse, km_cpu_fill_sse, km_cpu_fill_large};
constexpr GuardedCopies kAvx = {km_cpu_copy_avx,   km_cpu_copy_sse, km_cpu_copy_down_avx,
                                km_cpu_stream_avx, km_cpu_fill_avx, km_cpu_fill_large};

}  // namespace

const GuardedCopies& guarded_copies() {
  static const bool has_avx = __builtin_cpu_supports("avx");
  return has_avx ? kAvx : kSse;
}

}  // namespace km::cpu
