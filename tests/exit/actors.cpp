#include "actors.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace km::exit_test {
namespace {

constexpr uint64_t kBytes = 1 << 16;
constexpr uint64_t kMomentNs = 200000;

const char kPtx[] = R"(.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[3] = {104, 10, 0};
.visible .entry none() { ret; }
.visible .entry endless() { again: bra again; }
.visible .entry fault() { .reg .b64 %a; mov.u64 %a, 8; st.global.u32 [%a], 1; ret; }
.visible .entry store(.param .u64 out) {
  .reg .b64 %a<3>; .reg .b32 %r<4>;
  ld.param.u64 %a1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1;
  mul.wide.u32 %a2, %r3, 4; add.s64 %a1, %a1, %a2;
  st.global.u32 [%a1], %r3; ret;
}
.visible .entry print() {
  .reg .b64 %a; .reg .b32 %r;
  mov.u64 %a, text; cvta.global.u64 %a, %a; {
  .param .b64 format0; st.param.b64 [format0], %a;
  .param .b64 arguments0; st.param.b64 [arguments0], 0;
  .param .b32 result0; call.uni (result0), vprintf, (format0, arguments0);
  ld.param.b32 %r, [result0]; }
  ret;
}
)";

/// Objects of all threads of the process; made by the first of them, and never destroyed by most.
struct World {
  km_device device{};
  km_context context{};
  km_stream stream{};
  km_module module{};
  km_slice slice{};
  uint64_t address = 0;

  bool make() {
    return km_device_open("cpu", &device) == KM_SUCCESS &&
           km_context_create(device, &context) == KM_SUCCESS &&
           km_stream_create(context, 0, 0, &stream) == KM_SUCCESS &&
           km_module_load_ptx(context, kPtx, sizeof kPtx - 1, "exit.ptx", &module) == KM_SUCCESS &&
           km_slice_create(context, kBytes, 1, KM_SLICE_ZEROED, &slice) == KM_SUCCESS &&
           km_slice_address(slice, &address) == KM_SUCCESS;
  }
};

World& world() {
  static World* const made = [] {
    auto* const fresh = new World;
    fresh->make();  // at the end of the process it may fail: so do the calls then
    return fresh;
  }();
  return *made;
}

/// Static objects of a host that clean up in their destructors.
struct Cleaner {
  bool is_used = false;
  ~Cleaner() {
    if (!is_used) return;
    // A world that is made during the exit is not stopped by it: kernels may have all workers.
    km_stream_synchronize_timeout(world().stream, 100 * kMomentNs);
    km_slice_destroy(world().slice);
    km_module_destroy(world().module);
    km_stream_destroy(world().stream);
    km_context_destroy(world().context);
    km_device_destroy(world().device);
  }
} cleaner;

void clean_at_exit() {
  km_context_reset(world().context);
  km_context_synchronize(world().context);
}

km_status launch(km_stream stream, const char* kernel, uint32_t grid, const void* arguments,
                 uint64_t size_bytes) {
  km_function function;
  const km_status found = km_module_function(world().module, kernel, &function);
  if (found != KM_SUCCESS) return found;
  const km_launch_config config = {{grid, 1, 1}, {32, 1, 1}, 0};
  const km_status status =
      km_launch_kernel(stream, function, &config, arguments, size_bytes, nullptr, 0);
  km_function_destroy(function);
  return status;
}

void host_callback(void* pause_us, km_status) {
  const auto time = static_cast<useconds_t>(reinterpret_cast<uintptr_t>(pause_us));
  if (time == 1) pthread_exit(nullptr);
  if (time != 0) usleep(time);
}
void release_callback(void* memory) { std::free(memory); }
void output_callback(void*, const char*, uint64_t) {}
void exit_callback(void*, km_status) { std::exit(0); }

void launches(Random& random) {
  for (;;) {
    launch(world().stream, "store", random.below(200) + 1, &world().address, 8);
    if (random.one_of(4)) km_stream_synchronize(world().stream);
  }
}

void endless_kernels(Random& random) {
  for (;;) {
    km_stream stream;
    if (km_stream_create(world().context, 0, 0, &stream) != KM_SUCCESS) continue;
    launch(stream, "endless", random.below(100) + 1, nullptr, 0);
    km_stream_synchronize(stream);
    km_stream_destroy(stream);
  }
}

void faults(Random&) {
  for (;;) {
    launch(world().stream, "fault", 1, nullptr, 0);
    km_stream_synchronize(world().stream);
    km_context_reset(world().context);
  }
}

void compilations(Random& random) {
  for (;;) {
    char text[400];
    std::snprintf(
        text, sizeof text,
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) "
        "{ .reg .b64 %%a; .reg .f32 %%f; ld.param.u64 %%a, [p]; ld.global.f32 %%f, [%%a]; "
        "add.f32 %%f, %%f, 0f%08x; st.global.f32 [%%a], %%f; ret; }",
        random.next() & 0x7FFFFF);
    km_module module;
    km_function function;
    if (km_module_load_ptx(world().context, text, std::strlen(text), "k.ptx", &module)) continue;
    if (km_module_function(module, "k", &function) == KM_SUCCESS) {
      km_function_prepare(function, 32 * (random.below(8) + 1), 1, 1);
      km_function_destroy(function);
    }
    km_module_destroy(module);
  }
}

void sources(Random& random) {
  for (;;) {
    const std::string text =
        "template <int N> __device__ int f(int x) { return x * N + f<N - 1>(x); }"
        "template <> __device__ int f<0>(int x) { return x; }"
        "extern \"C\" __global__ void k(int* p) { *p = f<40>(*p) + " +
        std::to_string(random.next()) + "; }";
    km_module module;
    if (km_module_load_source(world().context, text.data(), text.size(), "k.cu", &module)) continue;
    km_module_destroy(module);
  }
}

void callbacks(Random& random) {
  for (;;) {
    const uintptr_t pause_us = random.below(8) == 0 ? 1 : random.below(3) * 500;
    km_stream_add_callback(world().stream, host_callback, reinterpret_cast<void*>(pause_us));
    if (random.one_of(8)) km_stream_synchronize(world().stream);
  }
}

void releases(Random&) {
  for (;;) {
    void* const memory = std::malloc(kBytes);
    km_slice slice;
    if (km_slice_from_host(world().context, memory, kBytes, 1, release_callback, memory, &slice)) {
      std::free(memory);
      continue;
    }
    km_slice_copy(world().stream, slice, 0, world().slice, 0, kBytes);
    km_slice_destroy(slice);
  }
}

void captures(Random& random) {
  for (;;) {
    km_stream stream;
    km_graph graph;
    km_graph_exec exec;
    if (km_stream_create(world().context, 0, 0, &stream) != KM_SUCCESS) continue;
    km_stream_begin_capture(stream);
    for (uint32_t i = random.below(6); i != 0; --i) {
      launch(stream, "store", 10, &world().address, 8);
      if (random.one_of(3)) km_stream_add_callback(stream, host_callback, nullptr);
    }
    if (random.one_of(4)) usleep(100);
    if (km_stream_end_capture(stream, &graph) == KM_SUCCESS) {
      if (km_graph_exec_create(graph, &exec) == KM_SUCCESS) {
        km_graph_exec_launch(exec, stream);
        if (random.one_of(2)) km_stream_synchronize(stream);
        km_graph_exec_destroy(exec);
      }
      km_graph_destroy(graph);
    }
    km_stream_destroy(stream);
  }
}

void slices(Random& random) {
  char buffer[256];
  for (;;) {
    km_slice slice;
    const uint64_t size_bytes = uint64_t{1} << (8 + random.below(15));
    if (km_slice_create(world().context, size_bytes, 1, KM_SLICE_ZEROED, &slice)) continue;
    km_slice_fill_u8(world().stream, slice, 0, 7, size_bytes);
    km_slice_download(world().stream, slice, 0, buffer, sizeof buffer);
    km_slice_destroy(slice);
  }
}

void waits(Random& random) {
  for (;;) {
    km_event event;
    km_stream_synchronize_timeout(world().stream, kMomentNs);
    if (km_event_create(world().context, 0, &event) != KM_SUCCESS) continue;
    km_event_record(event, world().stream);
    if (random.one_of(2)) km_event_synchronize_timeout(event, kMomentNs);
    if (random.one_of(8)) km_event_synchronize(event);
    km_event_destroy(event);
  }
}

void contexts(Random& random) {
  for (;;) {
    km_context context;
    km_stream stream;
    if (km_context_create(world().device, &context) != KM_SUCCESS) continue;
    if (km_stream_create(context, 0, 0, &stream) == KM_SUCCESS) {
      km_stream_add_callback(stream, host_callback, nullptr);
      if (random.one_of(2)) km_context_reset(context);
      km_stream_destroy(stream);
    }
    km_context_destroy(context);
  }
}

void numbers_in_memory(Random& random) {
  for (;;) {
    km_stream stream;
    if (km_stream_create(world().context, 0, 0, &stream) != KM_SUCCESS) continue;
    const uint64_t value = random.below(1000);
    km_stream_wait_value(stream, world().slice, 0, KM_WAIT_CONDITION_EQUAL, value, 4);
    km_stream_write_value(world().stream, world().slice, 0, value, 4);
    km_stream_destroy(stream);
  }
}

void printing(Random&) {
  km_context_set_output(world().context, output_callback, nullptr);
  for (;;) {
    launch(world().stream, "print", 4, nullptr, 0);
    km_stream_synchronize(world().stream);
  }
}

void products(Random&) {
  km_blas blas;
  const float one = 1;
  const auto id = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(world().slice));
  const km_blas_matrix a = {id, 0, 0, 64, 0};
  const km_blas_matrix b = {id, 0, 4096, 64, 0};
  const km_blas_matrix c = {id, 0, 8192, 64, 0};
  if (km_blas_create(world().stream, KM_BLAS_LAYOUT_ROWS, &blas) != KM_SUCCESS) return;
  for (;;) {
    km_blas_gemm(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_NONE, 64, 64, 64,
                 &one, &a, &b, &one, &c);
    km_stream_synchronize(world().stream);
  }
}

using Actor = void (*)(Random&);
constexpr Actor kActors[] = {launches,  launches,  endless_kernels, compilations,      compilations,
                             callbacks, callbacks, releases,        captures,          captures,
                             slices,    waits,     contexts,        numbers_in_memory, printing,
                             faults,    products,  sources};
constexpr uint32_t kActorCount = sizeof kActors / sizeof kActors[0];

struct Start {
  Actor actor;
  Random random;
};

void* act(void* argument) {
  auto* const start = static_cast<Start*>(argument);
  start->actor(start->random);
  return nullptr;
}

}  // namespace

void start_actors(Random& random) {
  cleaner.is_used = random.one_of(6);
  if (random.one_of(6)) std::atexit(clean_at_exit);
  for (uint32_t i = random.below(5) + 1; i != 0; --i) {
    auto* const start = new Start{kActors[random.below(kActorCount)], Random(random.next())};
    pthread_t thread;
    if (pthread_create(&thread, nullptr, act, start) != 0) _exit(3);
    pthread_detach(thread);
  }
  if (random.one_of(4)) make_world();
}

void make_world() { static_cast<void>(world()); }

void exit_in_callback() {
  // Streams of the world may wait for ever: one of its own, in a context of its own.
  km_context context;
  km_stream stream;
  if (km_context_create(world().device, &context) != KM_SUCCESS ||
      km_stream_create(context, 0, 0, &stream) != KM_SUCCESS ||
      km_stream_add_callback(stream, exit_callback, nullptr) != KM_SUCCESS) {
    _exit(6);
  }
}

}  // namespace km::exit_test
