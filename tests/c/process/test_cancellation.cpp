// No call is a cancellation point. Each scenario runs on a thread whose cancellation is due: the
// first cancellation point, of whatever call, would end the thread there, in the middle of the
// library. It comes to its end and is cancelled afterwards.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "support/testing.h"
}

namespace {

void end_failures() {}
void judge_failure(km_status status) { OK(status); }
bool is_made_to_fail(km_status) { return false; }

#include "support/scenarios.h"
#include "support/scenarios_services.h"

struct Run {
  const NamedScenario* scenario;
  const fixture* f;
  std::atomic<bool> is_complete{false};
};

void* run_cancelled(void* argument) {
  auto* const run = static_cast<Run*>(argument);
  pthread_cancel(pthread_self());
  {
    Scenario objects(run->f);
    run->scenario->run(objects);
  }
  // And calls that fail, whose text is made.
  km_stream_query(reinterpret_cast<km_stream>(5));
  km_device none = nullptr;
  km_device_open("no such device", &none);
  run->is_complete = true;
  pthread_testcancel();
  return nullptr;
}

void no_call_is_a_cancellation_point(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  std::vector<NamedScenario> all(std::begin(kScenarios), std::end(kScenarios));
  all.insert(all.end(), std::begin(kServiceScenarios), std::end(kServiceScenarios));
  for (const NamedScenario& scenario : all) {
    {
      Scenario objects(f);  // the files that it reads are made
      scenario.run(objects);
    }
    Run run{&scenario, f};
    pthread_t thread;
    void* result = nullptr;
    assert_int_equal(pthread_create(&thread, nullptr, run_cancelled, &run), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    if (!run.is_complete) print_message("%s\n", scenario.name);
    assert_true(run.is_complete);
    assert_ptr_equal(result, PTHREAD_CANCELED);
  }
  assert_true(all.size() >= 60);
}

}  // namespace

int main() {
  setenv("KM_LOG", "debug", 1);  // what is said goes through write()
  setenv("KM_LOG_FILE", "/dev/null", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_call_is_a_cancellation_point)};
  return RUN_ON_DEVICES("cancellation", tests);
}
