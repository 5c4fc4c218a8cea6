#include "work.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace km::limits_test {
namespace {

constexpr uint32_t kCount = 1 << 16;

const char kPtx[] = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 count) {
  .reg .b64 %a<3>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %a1, [out]; ld.param.u32 %r5, [count];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
  setp.ge.u32 %p, %r1, %r5; @%p ret;
  mul.wide.u32 %a2, %r1, 4; add.s64 %a1, %a1, %a2; st.global.u32 [%a1], %r1; ret;
}
.visible .entry turn() {
  .shared .b32 x[64]; .reg .b32 %r<4>; .reg .b32 %s;
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %s, x; add.u32 %s, %s, %r2;
  st.shared.u32 [%s], %r1; bar.sync 0; ld.shared.u32 %r3, [%s]; ret;
}
.visible .entry fault() { .reg .b64 %a; mov.u64 %a, 8; st.global.u32 [%a], 1; ret; }
)";

/// Calls up to the first that fails.
class Work {
 public:
  Outcome run() {
    const bool whole =
        open() && load() && compute(257) && compute(64) && use_services() && fault() && load();
    if (whole) compute(128);
    close();
    return std::move(outcome_);
  }

 private:
  bool ok(km_status status) {
    if (status == KM_SUCCESS) return true;
    if (outcome_.status != KM_SUCCESS) return false;
    char text[1000] = "";
    uint64_t size = 0;
    km_last_error_message(text, sizeof text, &size);
    outcome_.status = status;
    outcome_.message = text;
    return false;
  }

  bool open() {
    return ok(km_device_open("cpu", &device_)) && ok(km_context_create(device_, &context_));
  }

  bool load() {
    return ok(km_stream_create(context_, 0, 0, &stream_)) &&
           ok(km_module_load_ptx(context_, kPtx, sizeof kPtx - 1, "limits.ptx", &module_)) &&
           ok(km_slice_create(context_, kCount, 4, KM_SLICE_ZEROED, &slice_)) &&
           ok(km_slice_address(slice_, &address_));
  }

  bool launch(const char* kernel, uint32_t blocks, uint32_t threads, const void* arguments,
              uint64_t size_bytes) {
    km_function function = nullptr;
    if (!ok(km_module_function(module_, kernel, &function))) return false;
    const km_launch_config config = {{blocks, 1, 1}, {threads, 1, 1}, 0};
    const km_status status =
        km_launch_kernel(stream_, function, &config, arguments, size_bytes, nullptr, 0);
    const bool done = ok(status);
    km_function_destroy(function);
    return done;
  }

  bool compute(uint32_t threads) {
    struct {
      uint64_t out;
      uint32_t count;
    } const arguments = {address_, kCount - 100};
    std::vector<uint32_t> out(kCount, 7);
    if (!ok(km_slice_fill_u32(stream_, slice_, 0, 0, kCount)) ||
        !launch("store", 256, threads, &arguments, 12) || !launch("turn", 20, 64, nullptr, 0) ||
        !ok(km_slice_download(stream_, slice_, 0, out.data(), kCount * 4)) ||
        !ok(km_stream_synchronize(stream_))) {
      return false;
    }
    for (uint32_t i = 0; i < kCount; ++i) {
      const bool is_written = i < kCount - 100 && i < 256 * threads;
      if (out[i] != (is_written ? i : 0)) outcome_.is_wrong = true;
    }
    return !outcome_.is_wrong;
  }

  /// Threads, descriptors and mappings of other kinds.
  bool use_services() {
    km_host_memory memory = nullptr;
    km_event event = nullptr;
    km_slice large = nullptr;
    std::atomic<uint32_t> calls{0};
    const bool done = ok(km_host_memory_create(context_, 1 << 20, 0, &memory)) &&
                      ok(km_slice_create(context_, 8 << 20, 1, 0, &large)) &&
                      ok(km_event_create(context_, 0, &event)) &&
                      ok(km_stream_add_callback(stream_, count, &calls)) &&
                      ok(km_event_record(event, stream_)) && ok(km_event_synchronize(event));
    km_stream_synchronize(stream_);  // or the callback would come when `calls` is gone
    if (done && calls.load() != 1) outcome_.is_wrong = true;
    km_event_destroy(event);
    km_slice_destroy(large);
    km_host_memory_destroy(memory);
    return done && !outcome_.is_wrong;
  }

  static void count(void* calls, km_status) { ++*static_cast<std::atomic<uint32_t>*>(calls); }

  bool fault() {
    if (!launch("fault", 1, 1, nullptr, 0)) return false;
    const km_status status = km_stream_synchronize(stream_);
    if (status != KM_ERROR_ILLEGAL_ADDRESS) {
      outcome_.is_wrong = status == KM_SUCCESS;
      return ok(status);
    }
    drop_objects();
    return ok(km_context_reset(context_));
  }

  void drop_objects() {
    km_slice_destroy(slice_);
    km_module_destroy(module_);
    km_stream_destroy(stream_);
    slice_ = nullptr;
    module_ = nullptr;
    stream_ = nullptr;
  }

  void close() {
    drop_objects();
    km_context_destroy(context_);
    km_device_destroy(device_);
  }

  Outcome outcome_;
  km_device device_ = nullptr;
  km_context context_ = nullptr;
  km_stream stream_ = nullptr;
  km_module module_ = nullptr;
  km_slice slice_ = nullptr;
  uint64_t address_ = 0;
};

}  // namespace

Outcome work() { return Work().run(); }

}  // namespace km::limits_test
