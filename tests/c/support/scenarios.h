// Scenarios for tests that make something fail, which include this within their namespace: each
// makes and uses objects until a call fails, and says whether it got to its end. The test has
//   void end_failures()                     nothing is made to fail any more
//   void judge_failure(km_status)           checks how a call has failed
//   bool is_made_to_fail(km_status)         whether it failed because it was made to
#pragma once

/// A test that fails every allocation may spare those of a load: there are thousands, and most
/// scenarios only need a module to go on from. Called before (true) and after each load.
void (*g_around_load)(bool begins) = nullptr;

/// What a scenario makes, and destroys when it ends, without failures then.
class Scenario {
 public:
  explicit Scenario(const fixture* of) : f(of) {}
  ~Scenario() {
    end_failures();
    // Streams that are idle are used again at once: their number stays what it is.
    if (s != nullptr) km_stream_synchronize(s);
    for (size_t i = owned_.size(); i-- > 0;) OK(owned_[i].destroy(owned_[i].handle));
  }
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// A call that gives a handle out, the last parameter.
  template <class Handle, class Function, class... Arguments>
  bool make(km_status (*destroy)(Handle), Handle* out, Function call, Arguments... arguments) {
    Handle handle = untouched<Handle>();
    if (!check(call(arguments..., &handle))) {
      assert_true(handle == untouched<Handle>());
      return false;
    }
    *out = handle;
    owned_.push_back(
        {reinterpret_cast<km_slice>(handle), reinterpret_cast<km_status (*)(km_slice)>(destroy)});
    return true;
  }
  /// Any other call.
  bool check(km_status status) {
    if (status == KM_SUCCESS) return true;
    judge_failure(status);
    return false;
  }
  /// One that fails in any case, with this status unless something else fails first.
  bool fails(km_status expected, km_status status) {
    if (is_made_to_fail(status)) return false;
    EXPECT(expected, status);
    return true;
  }
  /// The object was destroyed by the scenario itself.
  template <class Handle>
  void forget(Handle handle) {
    for (Owned& owned : owned_) {
      if (owned.handle == reinterpret_cast<km_slice>(handle)) owned.handle = nullptr;
    }
  }

  bool context() { return make(km_context_destroy, &c, km_context_create, f->device); }
  bool stream() { return context() && make(km_stream_destroy, &s, km_stream_create, c, 0u, 0); }
  bool slice() { return stream() && slice_of(&a, 64) && slice_of(&b, 64); }
  bool slice_of(km_slice* out, uint64_t bytes) {
    return make(km_slice_destroy, out, km_slice_create, c, bytes, uint64_t{1},
                static_cast<km_slice_flags>(KM_SLICE_ZEROED));
  }
  bool pool() { return stream() && make(km_pool_destroy, &p, km_pool_create, c, uint64_t{0}); }
  bool event() { return stream() && make(km_event_destroy, &e, km_event_create, c, 0u); }
  bool module() { return slice() && load(); }
  bool load() {
    if (g_around_load != nullptr) g_around_load(true);
    const bool loaded = make(km_module_destroy, &m, km_module_load_ptx, c, test_ptx,
                             uint64_t{std::strlen(test_ptx)}, "m");
    if (g_around_load != nullptr) g_around_load(false);
    return loaded;
  }
  bool function() {
    return module() && make(km_function_destroy, &k, km_module_function, m, "fill_index");
  }
  bool launch() { return function() && make(km_launch_destroy, &l, km_launch_create, s, k); }

  const fixture* const f;
  km_context c{};
  km_stream s{};
  km_slice a{}, b{};
  km_pool p{};
  km_event e{};
  km_module m{};
  km_function k{};
  km_launch l{};
  km_graph g{};
  char bytes[256] = {};

 private:
  struct Owned {
    km_slice handle;
    km_status (*destroy)(km_slice);
  };
  template <class Handle>
  static Handle untouched() {
    return reinterpret_cast<Handle>(0x5A5A);
  }
  std::vector<Owned> owned_;
};

struct NamedScenario {
  const char* name;
  bool (*run)(Scenario& o);
};

void count_call(void* count, km_status) { ++*static_cast<std::atomic<int>*>(count); }
void count_release(void* count) { ++*static_cast<std::atomic<int>*>(count); }
std::atomic<int> g_calls{0};

constexpr km_copy_3d kRows{4, 3, 1, 0, 16, 0, 0, 8, 0};

const char* file_path() {
  static char path[] = "/tmp/kernelmill-oom-XXXXXX";
  static const bool made = [] {
    const int file = mkstemp(path);
    const bool written = file >= 0 && write(file, test_ptx, 64) == 64;
    if (file >= 0) close(file);
    std::atexit([] { unlink(path); });
    return written;
  }();
  assert_true(made);
  return path;
}

bool run_kernel(Scenario& o) {
  const fill_index_arguments arguments{0, 1, 16};
  const km_launch_config config{{1, 1, 1}, {32, 1, 1}, 0};
  const km_launch_slice slice{0, 0, reinterpret_cast<uint64_t>(o.a), 0};
  return o.check(km_launch_kernel(o.s, o.k, &config, &arguments, sizeof arguments, &slice, 1));
}

bool set_up_launch(Scenario& o) {
  const uint32_t base = 1, count = 16;
  return o.launch() && o.check(km_launch_set_grid(o.l, 1, 1, 1)) &&
         o.check(km_launch_set_block(o.l, 32, 1, 1)) && o.check(km_launch_arg_slice(o.l, o.a, 0)) &&
         o.check(km_launch_arg_scalar(o.l, &base, 4)) &&
         o.check(km_launch_arg_scalar(o.l, &count, 4));
}

bool make_graph(Scenario& o) {
  return o.function() && o.make(km_graph_destroy, &o.g, km_graph_create, o.c);
}

bool instantiate(Scenario& o, km_graph graph) {
  km_graph_exec exec;
  return o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, graph) &&
         o.check(km_graph_exec_launch(exec, o.s)) && o.check(km_graph_exec_launch(exec, o.s)) &&
         o.check(km_stream_synchronize(o.s));
}

bool compile(Scenario& o, const char* option) {
  km_program program;
  return o.make(km_program_destroy, &program, km_program_create, "text", uint64_t{4}, nullptr) &&
         o.check(km_program_add_option(program, option)) &&
         o.check(km_program_add_header(program, "a_header_with_a_long_name.h", "text", 4)) &&
         o.check(km_program_add_name_expression(program, "some_template<with, arguments>"));
}

const NamedScenario kScenarios[] = {
    {"a device is opened",
     [](Scenario& o) {
       km_device device;
       return o.make(km_device_destroy, &device, km_device_open, o.f->uri);
     }},
    {"devices are counted",
     [](Scenario& o) {
       uint32_t count = 0;
       return o.check(km_device_count(o.f->info.backend, &count)) &&
              o.check(km_device_count(nullptr, &count));
     }},
    {"a context", [](Scenario& o) { return o.context(); }},
    {"a context and its device",
     [](Scenario& o) {
       km_device device;
       return o.context() && o.make(km_device_destroy, &device, km_context_device, o.c);
     }},
    {"the default stream, twice",
     [](Scenario& o) {
       km_stream first, second;
       return o.context() && o.make(km_stream_destroy, &first, km_context_default_stream, o.c) &&
              o.make(km_stream_destroy, &second, km_context_default_stream, o.c);
     }},
    {"a context is reset",
     [](Scenario& o) {
       return o.slice() && o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) &&
              o.check(km_context_reset(o.c));
     }},
    {"a context is waited for",
     [](Scenario& o) {
       return o.slice() && o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) && o.check(km_context_synchronize(o.c));
     }},
    {"a context's error is read",
     [](Scenario& o) {
       km_status status;
       char text[200];
       return o.slice() && o.fails(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u8(o.s, o.a, 60, 1, 8)) &&
              o.check(km_context_error_message(o.c, text, sizeof text, nullptr)) &&
              o.check(km_context_take_error(o.c, &status));
     }},
    {"peers",
     [](Scenario& o) {
       km_context other;
       return o.slice() && o.make(km_context_destroy, &other, km_context_create, o.f->device) &&
              o.check(km_context_enable_peer_access(o.c, other)) &&
              o.check(km_context_disable_peer_access(o.c, other));
     }},
    {"a stream", [](Scenario& o) { return o.stream(); }},
    {"many streams",
     [](Scenario& o) {
       km_stream more[12];
       bool good = o.context();
       for (km_stream& stream : more) {
         good = good && o.make(km_stream_destroy, &stream, km_stream_create, o.c, 0u, 0);
       }
       return good;
     }},
    {"callbacks",
     [](Scenario& o) {
       return o.stream() && o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_stream_synchronize(o.s));
     }},
    {"an event", [](Scenario& o) { return o.event(); }},
    {"an event is recorded and waited for",
     [](Scenario& o) {
       km_stream other;
       return o.event() && o.make(km_stream_destroy, &other, km_stream_create, o.c, 0u, 0) &&
              o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_event_record(o.e, o.s)) && o.check(km_stream_wait_event(other, o.e)) &&
              o.check(km_event_synchronize(o.e)) && o.check(km_stream_synchronize(other));
     }},
    {"times between events",
     [](Scenario& o) {
       km_event end;
       int64_t elapsed = 0;
       return o.event() && o.make(km_event_destroy, &end, km_event_create, o.c, 0u) &&
              o.check(km_event_record(o.e, o.s)) && o.check(km_event_record(end, o.s)) &&
              o.check(km_event_synchronize(end)) &&
              o.check(km_event_elapsed_ns(o.e, end, &elapsed));
     }},
    {"slices", [](Scenario& o) { return o.slice(); }},
    {"a large slice", [](Scenario& o) { return o.stream() && o.slice_of(&o.a, 5 << 20); }},
    {"many slices",
     [](Scenario& o) {
       km_slice more[20];
       bool good = o.stream();
       for (km_slice& slice : more) good = good && o.slice_of(&slice, 100);
       return good;
     }},
    {"an aligned and a pitched slice",
     [](Scenario& o) {
       uint64_t pitch = 0;
       km_slice slice = nullptr;
       if (!o.stream() || !o.make(km_slice_destroy, &o.a, km_slice_create_aligned, o.c,
                                  uint64_t{64}, uint64_t{1}, uint64_t{4096}, 0u)) {
         return false;
       }
       if (!o.check(km_slice_create_pitched(o.c, 100, 7, 0, &slice, &pitch))) {
         assert_true(slice == nullptr && pitch == 0);
         return false;
       }
       OK(km_slice_destroy(slice));
       return true;
     }},
    {"slices in stream order",
     [](Scenario& o) {
       if (!o.stream() || !o.make(km_slice_destroy, &o.a, km_slice_create_on_stream, o.s,
                                  uint64_t{64}, uint64_t{4}, km_slice_flags{KM_SLICE_ZEROED})) {
         return false;
       }
       if (!o.check(km_slice_destroy_on_stream(o.a, o.s))) return false;
       o.forget(o.a);
       return o.check(km_stream_synchronize(o.s));
     }},
    {"views",
     [](Scenario& o) {
       km_slice view, part;
       return o.slice() &&
              o.make(km_slice_destroy, &view, km_slice_view, o.a, uint64_t{8}, uint64_t{32}) &&
              o.make(km_slice_destroy, &part, km_slice_view, view, uint64_t{1}, uint64_t{2});
     }},
    {"a slice of host memory",
     [](Scenario& o) {
       km_slice slice;
       return o.stream() &&
              o.make(km_slice_destroy, &slice, km_slice_from_host, o.c, static_cast<void*>(o.bytes),
                     uint64_t{256}, uint64_t{1}, count_release, static_cast<void*>(&g_calls)) &&
              o.check(km_slice_fill_u8(o.s, slice, 0, 1, 256));
     }},
    {"a slice is found",
     [](Scenario& o) {
       km_slice found = nullptr;
       uint64_t address = 0, offset = 0;
       if (!o.slice() || !o.check(km_slice_address(o.a, &address))) return false;
       if (!o.check(km_context_find_slice(o.c, address + 3, &found, &offset))) {
         assert_true(found == nullptr && offset == 0);
         return false;
       }
       OK(km_slice_destroy(found));
       return true;
     }},
    {"copies",
     [](Scenario& o) {
       return o.slice() && o.check(km_slice_upload(o.s, o.a, 0, o.bytes, 64)) &&
              o.check(km_slice_copy(o.s, o.b, 0, o.a, 0, 64)) &&
              o.check(km_slice_download(o.s, o.b, 0, o.bytes, 64));
     }},
    {"copies behind work",
     [](Scenario& o) {
       return o.slice() && o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_slice_upload(o.s, o.a, 0, o.bytes, 64)) &&
              o.check(km_slice_copy(o.s, o.b, 0, o.a, 0, 64)) &&
              o.check(km_slice_fill_u32(o.s, o.b, 0, 7, 16)) &&
              o.check(km_slice_download(o.s, o.b, 0, o.bytes, 64));
     }},
    {"copies with pitches",
     [](Scenario& o) {
       return o.slice() && o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
              o.check(km_slice_upload_3d(o.s, o.a, o.bytes, &kRows)) &&
              o.check(km_slice_copy_3d(o.s, o.b, o.a, &kRows)) &&
              o.check(km_slice_fill_2d(o.s, o.b, 0, 16, 1, 4, 2, 3)) &&
              o.check(km_slice_download_3d(o.s, o.b, o.bytes, &kRows));
     }},
    {"copies by address",
     [](Scenario& o) {
       uint64_t a = 0, b = 0;
       return o.slice() && o.check(km_slice_address(o.a, &a)) &&
              o.check(km_slice_address(o.b, &b)) &&
              o.check(km_memory_upload(o.s, a, o.bytes, 64)) &&
              o.check(km_memory_copy(o.s, b, a, 64)) && o.check(km_memory_fill_u16(o.s, b, 3, 8)) &&
              o.check(km_memory_download(o.s, b, o.bytes, 64));
     }},
    {"page-locked memory",
     [](Scenario& o) {
       km_host_memory memory;
       void* pointer = nullptr;
       return o.slice() &&
              o.make(km_host_memory_destroy, &memory, km_host_memory_create, o.c, uint64_t{64},
                     0u) &&
              o.check(km_host_memory_pointer(memory, &pointer)) &&
              o.check(km_slice_upload(o.s, o.a, 0, pointer, 64)) &&
              o.check(km_stream_synchronize(o.s));
     }},
    {"registered memory",
     [](Scenario& o) {
       km_host_memory memory;
       return o.slice() &&
              o.make(km_host_memory_destroy, &memory, km_host_memory_register, o.c,
                     static_cast<void*>(o.bytes), uint64_t{256}, 0u) &&
              o.check(km_slice_download(o.s, o.a, 0, o.bytes, 64)) &&
              o.check(km_stream_synchronize(o.s));
     }},
    {"a mapped file as slice",
     [](Scenario& o) {
       km_slice slice;
       return o.slice() &&
              o.make(km_slice_destroy, &slice, km_slice_map_file, o.c, file_path(), uint64_t{0},
                     uint64_t{64}, uint64_t{1}, 0u) &&
              o.check(km_slice_copy(o.s, o.a, 0, slice, 0, 64)) &&
              o.check(km_stream_synchronize(o.s));
     }},
    {"a mapped file as host memory",
     [](Scenario& o) {
       km_host_memory memory;
       return o.slice() && o.make(km_host_memory_destroy, &memory, km_host_memory_map_file, o.c,
                                  file_path(), uint64_t{0}, uint64_t{64}, 0u);
     }},
    {"a pool", [](Scenario& o) { return o.pool(); }},
    {"slices of a pool",
     [](Scenario& o) {
       return o.pool() &&
              o.make(km_slice_destroy, &o.a, km_pool_allocate, o.p, uint64_t{100}, uint64_t{4},
                     0u) &&
              o.make(km_slice_destroy, &o.b, km_pool_allocate_on_stream, o.p, o.s, uint64_t{900},
                     uint64_t{4}, km_slice_flags{KM_SLICE_ZEROED});
     }},
    {"a pool's blocks go around",
     [](Scenario& o) {
       bool good = o.pool();
       for (int i = 0; good && i < 6; ++i) {
         good = o.make(km_slice_destroy, &o.a, km_pool_allocate_on_stream, o.p, o.s,
                       uint64_t{100} << i, uint64_t{4}, km_slice_flags{KM_SLICE_ZEROED}) &&
                o.check(km_slice_destroy_on_stream(o.a, o.s));
         if (good) o.forget(o.a);
         good = good && o.check(km_pool_trim(o.p, 2048));
       }
       return good;
     }},
    {"tracked allocations",
     [](Scenario& o) {
       uint64_t count = 0;
       char text[100];
       return o.context() &&
              o.check(km_context_set_tracking(o.c, KM_TRACKING_ON | KM_TRACKING_STACKS)) &&
              o.slice_of(&o.a, 100) &&
              o.check(km_slice_set_tag(o.a, "a tag that is no short string at all")) &&
              o.check(km_context_allocations(o.c, 0, nullptr, &count)) &&
              o.fails(KM_ERROR_BUFFER_TOO_SMALL,
                      km_context_allocation_stack(o.c, 1, text, 2, nullptr));
     }},
    {"a memory profile",
     [](Scenario& o) {
       uint64_t count = 0;
       return o.context() && o.check(km_context_start_memory_profile(o.c, 1000000)) &&
              o.slice_of(&o.a, 100) && o.check(km_context_stop_memory_profile(o.c)) &&
              o.check(km_context_memory_samples(o.c, 0, nullptr, &count));
     }},
    {"a module", [](Scenario& o) { return o.module(); }},
    {"a module that is wrong",
     [](Scenario& o) {
       km_module module = nullptr;
       return o.context() &&
              o.fails(KM_ERROR_INVALID_PTX,
                      km_module_load_ptx(o.c, ".version 7.0\n.target sm_70\nnonsense", 35, "wrong",
                                         &module));
     }},
    {"functions and their parameters",
     [](Scenario& o) {
       km_function second;
       km_param_info info{};
       info.struct_size = sizeof info;
       return o.function() &&
              o.make(km_function_destroy, &second, km_module_function, o.m, "scale") &&
              o.check(km_function_param(o.k, 0, &info));
     }},
    {"a function that is not there",
     [](Scenario& o) {
       km_function none = nullptr;
       return o.module() &&
              o.fails(KM_ERROR_NOT_FOUND, km_module_function(o.m, "fill_indexes", &none));
     }},
    {"a global variable",
     [](Scenario& o) {
       km_slice global;
       return o.module() && o.make(km_slice_destroy, &global, km_module_global, o.m, "counters") &&
              o.check(km_slice_fill_u32(o.s, global, 0, 1, 4));
     }},
    {"a kernel is launched",
     [](Scenario& o) {
       return o.function() && run_kernel(o) && o.check(km_stream_synchronize(o.s));
     }},
    {"a kernel is launched often",
     [](Scenario& o) {
       bool good = o.function();
       for (int i = 0; i < 20; ++i) good = good && run_kernel(o);
       return good && o.check(km_stream_synchronize(o.s));
     }},
    {"a launch step by step",
     [](Scenario& o) {
       return set_up_launch(o) && o.check(km_launch_submit(o.l)) &&
              o.check(km_launch_submit(o.l)) && o.check(km_stream_synchronize(o.s));
     }},
    {"a wrong launch",
     [](Scenario& o) {
       return set_up_launch(o) && o.check(km_launch_set_grid(o.l, 0, 1, 1)) &&
              o.fails(KM_ERROR_INVALID_LAUNCH, km_launch_submit(o.l));
     }},
    {"a program",
     [](Scenario& o) { return compile(o, "an option that is not a short string at all"); }},
    {"a graph of nodes",
     [](Scenario& o) {
       uint64_t fill = 0, copy = 0;
       return make_graph(o) &&
              o.check(km_graph_add_fill(o.g, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) &&
              o.check(km_graph_add_copy(o.g, &fill, 1, o.b, 0, o.a, 0, 64, &copy)) &&
              instantiate(o, o.g);
     }},
    {"a graph is captured",
     [](Scenario& o) {
       if (!o.function() || !o.check(km_stream_begin_capture(o.s))) return false;
       const bool good = o.check(km_slice_fill_u32(o.s, o.a, 0, 7, 16)) && run_kernel(o) &&
                         o.check(km_slice_copy(o.s, o.b, 0, o.a, 0, 64));
       if (good) {
         return o.make(km_graph_destroy, &o.g, km_stream_end_capture, o.s) && instantiate(o, o.g);
       }
       end_failures();
       km_graph ended = nullptr;
       if (km_stream_end_capture(o.s, &ended) == KM_SUCCESS) OK(km_graph_destroy(ended));
       return false;
     }},
    {"BLAS calls, queued and captured",
     [](Scenario& o) {
       km_blas blas;
       const float one = 1;
       if (!o.slice()) return false;
       if (!o.make(km_blas_destroy, &blas, km_blas_create, o.s, KM_BLAS_LAYOUT_ROWS)) {
         return false;
       }
       const km_blas_vector from = {reinterpret_cast<uint64_t>(o.a), 0, 0, 1};
       const km_blas_vector to = {reinterpret_cast<uint64_t>(o.b), 0, 0, 1};
       const auto add = [&] { return km_blas_axpy(blas, KM_DATA_TYPE_F32, 8, &one, &from, &to); };
       if (is_fake(o.f) && !is_cuda(o.f)) return o.fails(KM_ERROR_NOT_SUPPORTED, add());
       if (!o.check(add()) || !o.check(km_stream_synchronize(o.s)) ||
           !o.check(km_stream_begin_capture(o.s))) {
         return false;
       }
       if (o.check(add()) && o.make(km_graph_destroy, &o.g, km_stream_end_capture, o.s)) {
         return instantiate(o, o.g);
       }
       end_failures();
       km_graph ended = nullptr;
       if (km_stream_end_capture(o.s, &ended) == KM_SUCCESS) OK(km_graph_destroy(ended));
       return false;
     }},
    {"a graph is cloned and drawn",
     [](Scenario& o) {
       uint64_t fill = 0, size = 0;
       km_graph clone;
       return make_graph(o) &&
              o.check(km_graph_add_fill(o.g, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) &&
              o.make(km_graph_destroy, &clone, km_graph_clone, o.g) &&
              o.check(km_graph_dot(clone, nullptr, 0, &size)) && instantiate(o, clone);
     }},
};
