// Every allocation of the library fails: each one once, and each one and all after it. The call
// that needed it says KM_ERROR_OUT_OF_HOST_MEMORY and leaves its out-parameters as they are, what
// was made before can be destroyed, nothing is lost, and everything works again afterwards. Not
// made to fail is what the library says it cannot go on without (KM_HOST_ALLOCATION_NEEDED): the
// code generator's memory and that of its own threads.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "support/testing.h"
}

namespace {

constexpr long kNever = -1;
std::atomic<long> g_until_failure{kNever};
std::atomic<bool> g_for_ever{false};
// The scenario "a module" fails each allocation of a load; the others spare them.
std::atomic<bool> g_spares_loads{false}, g_spared{false};
// A thread whose allocations do not fail.
thread_local bool t_spared = false;
std::atomic<long> g_asked{0}, g_live{0};

void* take(void*, uint64_t size_bytes, km_host_allocation_flags flags) {
  if ((flags & KM_HOST_ALLOCATION_NEEDED) == 0 && !g_spared && !t_spared) {
    ++g_asked;
    long left = g_until_failure;
    while (left > 0 && !g_until_failure.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 0) {
      if (!g_for_ever) g_until_failure = kNever;
      return nullptr;
    }
  }
  void* memory = std::malloc(size_bytes);
  if (memory != nullptr) ++g_live;
  return memory;
}

void give_back(void*, void* memory) {
  --g_live;
  std::free(memory);
}

void end_failures() { g_until_failure = kNever; }

// For scenarios.h: what a call may fail with, and whether one has failed for that reason.
void judge_failure(km_status status) {
  if (status != KM_ERROR_OUT_OF_HOST_MEMORY) OK(status);
  expect_message("the host is out of memory");
}
bool is_made_to_fail(km_status status) { return status == KM_ERROR_OUT_OF_HOST_MEMORY; }

#include "support/scenarios.h"
#include "support/scenarios_services.h"

// Services that NVIDIA GPUs have not, or by a library of their own only.
const NamedScenario kOwnScenarios[] = {
    {"memory that the checker knows is freed",
     [](Scenario& o) {
       km_slice freed = nullptr;
       if (!o.slice() ||
           !o.check(km_context_set_check(o.c, KM_CHECK_MEMORY, 0, nullptr, nullptr)) ||
           !o.check(km_slice_create(o.c, 64, 1, 0, &freed))) {
         return false;
       }
       OK(km_slice_destroy(freed));
       return true;
     }},
    {"a transform",
     [](Scenario& o) {
       km_fft_shape shape{KM_FFT_KIND_COMPLEX, KM_DATA_TYPE_F32, 1, 0, {4, 0, 0}, 2, {}, {}};
       km_fft fft = nullptr;
       if (!o.slice()) return false;
       const km_array place{reinterpret_cast<uint64_t>(o.a), 0, 0, 0};
       return o.make(km_fft_destroy, &fft, km_fft_create, o.s, &shape) &&
              o.check(km_fft_execute(fft, KM_FFT_DIRECTION_FORWARD, &place, &place)) &&
              o.check(km_stream_synchronize(o.s));
     }},
};

// The library keeps some memory for reuse, more than this would be lost objects.
constexpr long kKept = 12;

long run_points_once(const NamedScenario& scenario, const fixture* f, bool* out_grew) {
  const auto run = [&] {
    Scenario objects(f);
    const bool done = scenario.run(objects);
    end_failures();
    return done;
  };
  for (int warm = 0; warm < 3; ++warm) assert_true(run());
  g_asked = 0;
  assert_true(run());
  const long count = g_asked;
  const long live = g_live;
  for (const bool for_ever : {false, true}) {
    g_for_ever = for_ever;
    for (long index = 0; index < count; ++index) {
      g_until_failure = index;
      run();
    }
  }
  assert_true(run());
  for (int i = 0; i < 1000 && g_live > live + kKept; ++i) usleep(1000);  // callbacks are due
  *out_grew = g_live > live + kKept;
  if (*out_grew) print_message("%s: %ld allocations more\n", scenario.name, g_live - live);
  return 2 * count;
}

// What is lost is lost each time; what is kept for reuse, only until there is enough of it.
long run_all_points(const NamedScenario& scenario, const fixture* f) {
  long points = 0;
  bool grew = true;
  for (int attempt = 0; grew && attempt < 3; ++attempt) {
    points = run_points_once(scenario, f, &grew);
  }
  assert_false(grew);
  return points;
}

void every_allocation_fails(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  long points = 0;
  if (is_fake(f)) skip();  // its own allocations would fail, too
#ifdef KM_TEST_SANITIZED
  skip();  // the sanitizers have the allocations
#endif
  std::vector<NamedScenario> all(std::begin(kScenarios), std::end(kScenarios));
  all.insert(all.end(), std::begin(kServiceScenarios), std::end(kServiceScenarios));
  all.insert(all.end(), std::begin(kOwnScenarios), std::end(kOwnScenarios));
  g_around_load = [](bool begins) { g_spared = begins && g_spares_loads; };
  for (const NamedScenario& scenario : all) {
    g_spares_loads = std::strcmp(scenario.name, "a module") != 0;
    const long here = run_all_points(scenario, f);
    print_message("%6ld points: %s\n", here, scenario.name);
    points += here;
  }
  print_message("%6ld points in %zu scenarios\n", points, all.size());
  assert_true(all.size() >= 60);
  assert_true(points >= 5000);
}

// A worker's own memory, which it makes once: the other test meets it only by luck.
void a_workers_memory_fails(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
#ifdef KM_TEST_SANITIZED
  skip();
#endif
  Scenario o(f);
  const km_fft_shape shape{KM_FFT_KIND_COMPLEX, KM_DATA_TYPE_F32, 1, 0, {4, 0, 0}, 2, {}, {}};
  km_fft fft = nullptr;
  assert_true(o.slice());
  const km_array place{reinterpret_cast<uint64_t>(o.a), 0, 0, 0};
  assert_true(o.make(km_fft_destroy, &fft, km_fft_create, o.s, &shape));
  t_spared = g_for_ever = true;
  g_until_failure = 0;
  OK(km_fft_execute(fft, KM_FFT_DIRECTION_FORWARD, &place, &place));
  km_status status;
  while ((status = km_stream_query(o.s)) == KM_NOT_READY) usleep(100);
  end_failures();
  t_spared = false;
  EXPECT(KM_ERROR_OUT_OF_HOST_MEMORY, status);
  expect_message("the host is out of memory");
  km_context_reset(o.c);
}

void the_hook_is_asked(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  km_context context;
  if (km_set_allocator(take, give_back, nullptr) == KM_ERROR_NOT_SUPPORTED) skip();
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_set_allocator(take, nullptr, nullptr));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_set_allocator(nullptr, give_back, nullptr));
  const long asked = g_asked, live = g_live;
  OK(km_context_create(f->device, &context));
  assert_true(g_asked > asked);
  assert_true(g_live > live);
  // What came from malloc goes back to malloc, and the other way round.
  OK(km_set_allocator(nullptr, nullptr, nullptr));
  OK(km_context_destroy(context));
  OK(km_context_create(f->device, &context));
  const long between = g_asked;
  OK(km_set_allocator(take, give_back, nullptr));
  OK(km_context_destroy(context));
  assert_int_equal(g_asked, between);
}

}  // namespace

int main() {
  // Before everything else, so that all of the library's memory is counted.
  km_set_allocator(take, give_back, nullptr);
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_hook_is_asked),
                                     cmocka_unit_test(a_workers_memory_fails),
                                     cmocka_unit_test(every_allocation_fails)};
  return RUN_ON_DEVICES("oom", tests);
}
