// Every call of the CUDA driver fails: for each scenario, each call of the driver in it gives each
// of twelve results in turn. The call of the library that needed it has the status and the native
// code that belong to the result, nothing is lost, and afterwards all goes on as before, after a
// reset where the result is the end of the context. The same for each call of cuBLAS and each of
// its statuses.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/cuda/cuda_results.h"
#include "fake_cublas/control.h"
#include "fake_cuda/control.h"

extern "C" {
#include "support/testing.h"
}

namespace {

struct FakeDriver {
  decltype(&fake_cuda_fail) make_fail;
  decltype(&fake_cuda_calls) calls;
  decltype(&fake_cuda_failed_call) failed_call;
  decltype(&fake_cuda_live) live;
  decltype(&fake_cuda_misuses) misuses;
  decltype(&fake_cuda_last_misuse) last_misuse;
  decltype(&fake_cuda_depth) depth;
} g_driver;

struct FakeCublas {
  decltype(&fake_cublas_fail) make_fail;
  decltype(&fake_cublas_calls) calls;
  decltype(&fake_cublas_failed_call) failed_call;
  decltype(&fake_cublas_misuses) misuses;
} g_cublas;

template <class Function>
void find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  if (*out == nullptr) std::abort();
}

void find_driver() {
  void* library = dlopen(std::getenv("KM_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  find(library, "fake_cuda_fail", &g_driver.make_fail);
  find(library, "fake_cuda_calls", &g_driver.calls);
  find(library, "fake_cuda_failed_call", &g_driver.failed_call);
  find(library, "fake_cuda_live", &g_driver.live);
  find(library, "fake_cuda_misuses", &g_driver.misuses);
  find(library, "fake_cuda_last_misuse", &g_driver.last_misuse);
  find(library, "fake_cuda_depth", &g_driver.depth);
}

void find_cublas() {
  void* library = dlopen(std::getenv("KM_CUBLAS"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  find(library, "fake_cublas_fail", &g_cublas.make_fail);
  find(library, "fake_cublas_calls", &g_cublas.calls);
  find(library, "fake_cublas_failed_call", &g_cublas.failed_call);
  find(library, "fake_cublas_misuses", &g_cublas.misuses);
}

struct Injected {
  int32_t result;
  bool is_fatal;
  km_status blas_status = KM_SUCCESS;  // of a status of cuBLAS
};
constexpr Injected kInjected[] = {{1, false},   {2, false},   {3, false},   {201, false},
                                  {400, false}, {500, false}, {700, true},  {701, false},
                                  {702, true},  {719, true},  {801, false}, {999, false}};
constexpr Injected kInjectedBlas[] = {
    {1, false, KM_ERROR_BLAS_UNAVAILABLE}, {3, false, KM_ERROR_OUT_OF_DEVICE_MEMORY},
    {7, false, KM_ERROR_INVALID_ARGUMENT}, {8, false, KM_ERROR_NOT_SUPPORTED},
    {11, false, KM_ERROR_INTERNAL},        {13, false, KM_ERROR_INTERNAL},
    {14, false, KM_ERROR_INTERNAL},        {15, false, KM_ERROR_NOT_SUPPORTED},
    {16, false, KM_ERROR_BLAS_UNAVAILABLE}};
const Injected* g_now = nullptr;  // null: nothing fails
long g_reported = 0;              // failures that a call of the library had
size_t g_part = 0, g_part_count = 1;

void end_failures() {
  g_driver.make_fail(-1, 0);
  g_cublas.make_fail(-1, 0);
}

std::string failed_call() {
  const bool is_blas = g_now != nullptr && g_now->blas_status != KM_SUCCESS;
  return is_blas ? g_cublas.failed_call() : g_driver.failed_call();
}

// A launch says what is wrong with it, a missing variable that it is missing, and so on.
bool is_right_status(km_status status) {
  if (g_now->blas_status != KM_SUCCESS) return status == g_now->blas_status;
  const std::string call = failed_call();
  if (status == *km::status_of_cuda(g_now->result)) return true;
  if (call == "cuLaunchKernel") return status == KM_ERROR_INVALID_LAUNCH;
  if (call == "cuMemHostRegister_v2") return status == KM_ERROR_NOT_SUPPORTED;
  if (call == "cuEventElapsedTime") return status == KM_ERROR_INVALID_ARGUMENT;
  if (call == "cuCtxSetLimit" || call == "cuDeviceGetAttribute") {
    return status == KM_ERROR_NOT_SUPPORTED;
  }
  return false;
}

void judge_failure(km_status status) {
  int64_t code = 0;
  ++g_reported;
  OK(km_last_error_native_code(&code));
  if (g_now == nullptr || failed_call().empty() || code != g_now->result ||
      !is_right_status(status)) {
    print_error("status %d, native code %ld; made to fail: %s, %d\n", status,
                static_cast<long>(code), failed_call().c_str(),
                g_now != nullptr ? g_now->result : 0);
    OK(status);
  }
}

bool is_made_to_fail(km_status status) {
  if (status == KM_SUCCESS || failed_call().empty()) return false;
  int64_t code = 0;
  OK(km_last_error_native_code(&code));
  return g_now != nullptr && code == g_now->result;
}

#include "support/scenarios.h"
#include "support/scenarios_services.h"

void host_node(void* count, km_status) { ++*static_cast<std::atomic<int>*>(count); }

bool save_and_load(Scenario& o) {
  km_module copy;
  char path[] = "/tmp/kernelmill-failures-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  const bool good = o.module() && o.check(km_module_save_object(o.m, path, nullptr, 0)) &&
                    o.make(km_module_destroy, &copy, km_module_load_file, o.c, path);
  unlink(path);
  return good;
}

bool graph_with_host_node(Scenario& o) {
  uint64_t fill = 0, host = 0;
  km_graph_exec exec;
  const bool made = make_graph(o) &&
                    o.check(km_graph_add_fill(o.g, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) &&
                    o.check(km_graph_add_host(o.g, &fill, 1, host_node, &g_calls, &host)) &&
                    o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, o.g) &&
                    o.check(km_graph_exec_launch(exec, o.s));
  return made && o.check(km_graph_set_fill(o.g, fill, o.b, 0, 9, 4, 16)) &&
         o.check(km_graph_set_host(o.g, host, host_node, &g_calls)) &&
         o.check(km_graph_exec_update(exec, o.g)) && o.check(km_graph_exec_launch(exec, o.s)) &&
         o.check(km_stream_synchronize(o.s));
}

struct BlasVectors {
  explicit BlasVectors(const Scenario& o)
      : x{reinterpret_cast<uint64_t>(o.a), 0, 0, 1},
        y{reinterpret_cast<uint64_t>(o.b), 0, 0, 1},
        result{reinterpret_cast<uint64_t>(o.b), 0, 7, 1},
        matrix{reinterpret_cast<uint64_t>(o.a), 0, 2, 2, 0} {}
  const km_blas_vector x, y, result;
  const km_blas_matrix matrix;
};

bool blas_results(Scenario& o) {
  km_blas blas;
  if (!o.slice() || !o.make(km_blas_destroy, &blas, km_blas_create, o.s, KM_BLAS_LAYOUT_ROWS)) {
    return false;
  }
  const BlasVectors v(o);
  const float two[2] = {2, 0};
  return o.check(km_blas_dotc(blas, KM_DATA_TYPE_C32, 2, &v.x, &v.y, &v.result)) &&
         o.check(km_blas_iamax(blas, KM_DATA_TYPE_F32, 4, &v.x, &v.result)) &&
         o.check(km_blas_nrm2(blas, KM_DATA_TYPE_F64, 0, &v.x, &v.result)) &&
         o.check(km_blas_gemv(blas, KM_DATA_TYPE_C32, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE, 2, 2,
                              two, &v.matrix, &v.x, two, &v.y)) &&
         o.check(km_stream_synchronize(o.s));
}

/// A graph of the same, which is updated.
bool blas_nodes(Scenario& o) {
  km_blas blas;
  if (!o.slice() || !o.make(km_blas_destroy, &blas, km_blas_create, o.s, KM_BLAS_LAYOUT_ROWS)) {
    return false;
  }
  const BlasVectors v(o);
  km_graph_exec exec = nullptr;
  const float factor[2] = {2, 1};
  if (!o.check(km_blas_scal(blas, KM_DATA_TYPE_C32, 2, factor, &v.x))) return false;
  for (int round = 0; round < 2; ++round) {
    km_graph graph;
    if (!o.check(km_stream_begin_capture(o.s))) return false;
    OK(km_blas_iamax(blas, KM_DATA_TYPE_F32, 4, &v.x, &v.result));
    OK(km_blas_gemv(blas, KM_DATA_TYPE_C32, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE, 2, 2, factor,
                    &v.matrix, &v.x, factor, &v.y));
    OK(km_stream_end_capture(o.s, &graph));
    const bool made = exec == nullptr
                          ? o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, graph)
                          : o.check(km_graph_exec_update(exec, graph));
    OK(km_graph_destroy(graph));
    if (!made || !o.check(km_graph_exec_launch(exec, o.s))) return false;
  }
  return o.check(km_stream_synchronize(o.s));
}

bool values(Scenario& o) {
  km_slice managed;
  km_graph_exec exec;
  const auto use = [&] {
    return o.check(km_stream_write_value(o.s, o.a, 0, 7, 4)) &&
           o.check(km_stream_wait_value(o.s, o.a, 0, KM_WAIT_CONDITION_EQUAL, 7, 4));
  };
  const auto flags = static_cast<km_slice_flags>(KM_SLICE_MANAGED | KM_SLICE_ZEROED);
  if (!o.slice() || !use() ||
      !o.make(km_slice_destroy, &managed, km_slice_create, o.c, uint64_t{64}, uint64_t{1}, flags) ||
      !o.check(km_stream_begin_capture(o.s))) {
    return false;
  }
  if (!use()) return false;
  OK(km_stream_end_capture(o.s, &o.g));
  const bool made = o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, o.g) &&
                    o.check(km_graph_exec_launch(exec, o.s)) && o.check(km_stream_synchronize(o.s));
  OK(km_graph_destroy(o.g));
  return made;
}

bool peer_copy(Scenario& o) {
  km_device device;
  km_context context;
  km_slice there;
  return o.slice() && o.make(km_device_destroy, &device, km_device_open, "cuda:1") &&
         o.make(km_context_destroy, &context, km_context_create, device) &&
         o.check(km_context_enable_peer_access(o.c, context)) &&
         o.make(km_slice_destroy, &there, km_slice_create, context, uint64_t{64}, uint64_t{1},
                km_slice_flags{0}) &&
         o.check(km_slice_copy_peer(o.s, there, 0, o.a, 0, 64)) &&
         o.check(km_stream_synchronize(o.s)) &&
         o.check(km_context_disable_peer_access(o.c, context));
}

bool profile(Scenario& o) {
  return o.function() && o.check(km_profiler_start(o.c)) && run_kernel(o) &&
         o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) && o.check(km_stream_synchronize(o.s)) &&
         o.check(km_profiler_stop(o.c));
}

bool limits(Scenario& o) {
  uint64_t value = 0;
  return o.context() && o.check(km_context_limit_set(o.c, KM_CONTEXT_LIMIT_HEAP_BYTES, 4 << 20)) &&
         o.check(km_context_limit_get(o.c, KM_CONTEXT_LIMIT_HEAP_BYTES, &value));
}

bool used_by_two_streams(Scenario& o) {
  km_stream other;
  return o.slice() && o.make(km_stream_destroy, &other, km_stream_create, o.c, 0u, -1) &&
         o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) &&
         o.check(km_slice_fill_u8(other, o.a, 0, 2, 64)) && o.check(km_stream_synchronize(other));
}

const NamedScenario kCudaScenarios[] = {
    {"a module is saved and loaded", save_and_load},
    {"a graph with a host node is updated", graph_with_host_node},
    {"copies between devices", peer_copy},
    {"a profile", profile},
    {"limits", limits},
    {"memory that two streams use", used_by_two_streams},
    {"results of BLAS, and conjugate matrices", blas_results},
    {"BLAS in a graph that is updated", blas_nodes},
    {"values that a stream writes and waits for, managed memory", values},
};

bool run(const NamedScenario& scenario, const fixture* f) {
  Scenario objects(f);
  const bool done = scenario.run(objects);
  end_failures();
  return done;
}

/// Objects go a little after their handles where callbacks are involved.
bool is_balanced(const std::string& expected) {
  for (int i = 0; i < 2000; ++i) {
    if (expected == g_driver.live()) return true;
    usleep(500);
  }
  return false;
}

[[noreturn]] void complain(const NamedScenario& scenario, const char* what, const char* text) {
  print_error("%s: %s (%s gives %d): %s\n", scenario.name, what, failed_call().c_str(),
              g_now != nullptr ? g_now->result : 0, text);
  fail();
  std::abort();
}

/// What the backend makes at its first need, and keeps with the context.
void warm_up(const fixture* f) {
  for (const auto& scenario : {NamedScenario{"two streams", used_by_two_streams},
                               NamedScenario{"BLAS, and in a graph", blas_nodes}}) {
    assert_true(run(scenario, f));
  }
}

/// A context that is dead says so, and lives again after a reset.
void revive(const NamedScenario& scenario, const fixture* f) {
  const km_status status = km_context_synchronize(f->context);
  if (status == KM_SUCCESS) return;
  int64_t code = 0;
  OK(km_last_error_native_code(&code));
  if (!g_now->is_fatal || code != g_now->result) complain(scenario, "the context is dead", "");
  if (status != *km::status_of_cuda(g_now->result)) complain(scenario, "wrong sticky status", "");
  OK(km_context_reset(f->context));
  OK(km_context_synchronize(f->context));
  g_now = nullptr;
  warm_up(f);
}

void run_point(const NamedScenario& scenario, const fixture* f, int64_t index,
               const Injected& injected, const std::string& live) {
  const int64_t misuses = g_driver.misuses();
  g_now = &injected;
  if (injected.blas_status != KM_SUCCESS) {
    g_cublas.make_fail(index, injected.result);
  } else {
    g_driver.make_fail(index, injected.result);
  }
  run(scenario, f);
  const std::string call = failed_call();
  revive(scenario, f);
  if (g_cublas.misuses() != 0) complain(scenario, "misuse of cuBLAS", "");
  if (g_driver.misuses() != misuses) complain(scenario, "misuse", g_driver.last_misuse());
  if (g_driver.depth() != 0) complain(scenario, "a context was left on the thread", "");
  g_now = nullptr;
  if (!run(scenario, f)) complain(scenario, "does not work afterwards", call.c_str());
  if (!is_balanced(live)) complain(scenario, (live + " became").c_str(), g_driver.live());
}

/// Calls of what `calls` counts, in one run of the scenario.
int64_t count_calls(const NamedScenario& scenario, const fixture* f, int64_t (*calls)()) {
  const int64_t before = calls();
  assert_true(run(scenario, f));
  return calls() - before;
}

long run_points(const NamedScenario& scenario, const fixture* f) {
  g_now = nullptr;
  for (int warm = 0; warm < 3; ++warm) assert_true(run(scenario, f));
  usleep(20000);  // what is due has gone
  const std::string live = g_driver.live();
  const int64_t driver_calls = count_calls(scenario, f, g_driver.calls);
  const int64_t blas_calls = count_calls(scenario, f, g_cublas.calls);
  long points = 0;
  for (int64_t index = 0; index < driver_calls; ++index) {
    for (const Injected& injected : kInjected) {
      run_point(scenario, f, index, injected, live);
      ++points;
    }
  }
  for (int64_t index = 0; index < blas_calls; ++index) {
    for (const Injected& injected : kInjectedBlas) {
      run_point(scenario, f, index, injected, live);
      ++points;
    }
  }
  return points;
}

void every_driver_call_fails(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  long points = 0;
  g_driver.make_fail(1, 719);  // the fixture's stream goes with this life of the context
  static_cast<void>(km_stream_synchronize(f->stream));
  end_failures();
  OK(km_context_reset(f->context));
  warm_up(f);
  size_t number = 0, count = 0;
  const auto run_all = [&](const NamedScenario& scenario) {
    if (number++ % g_part_count != g_part) return;
    const long here = run_points(scenario, f);
    print_message("%6ld points: %s\n", here, scenario.name);
    points += here;
    ++count;
  };
  for (const NamedScenario& scenario : kScenarios) run_all(scenario);
  for (const NamedScenario& scenario : kServiceScenarios) run_all(scenario);
  for (const NamedScenario& scenario : kCudaScenarios) run_all(scenario);
  print_message("%6ld points in %zu of %zu scenarios; %ld failures reported\n", points, count,
                number, g_reported);
  assert_true(points >= 2000);
}

}  // namespace

// km_cuda_failures [PART COUNT]: every COUNT-th scenario from PART on.
int main(int argc, char** argv) {
  if (argc == 3) {
    g_part = std::strtoul(argv[1], nullptr, 10);
    g_part_count = std::strtoul(argv[2], nullptr, 10);
  }
  find_driver();
  find_cublas();
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_driver_call_fails)};
  return RUN_ON_DEVICES("driver failures", tests);
}
