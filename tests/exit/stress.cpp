// km_exit_stress RUNS [FIRST [AT_ONCE]]: processes that end at a random moment, in a random way,
// while threads of theirs are inside calls of every kind: launches, kernels without an end,
// compilations, callbacks, captures, waits, resets. Each must end with status 0. `RUNS` processes
// with the numbers from FIRST on, AT_ONCE of them at a time; a number decides all that its process
// does but for the timing. `km_exit_stress =NUMBER` is one process.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "actors.h"

extern char** environ;

namespace km::exit_test {
namespace {

constexpr unsigned kLimitS = 60;  // then a process counts as hanging

// Ways to end, by name.
void by_exit() { std::exit(0); }
void by_quick_exit() { std::quick_exit(0); }
void at_once() { _exit(0); }

void* exit_elsewhere(void*) {
  by_exit();
  return nullptr;
}

void from_another_thread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, exit_elsewhere, nullptr) != 0) _exit(3);
  for (;;) pause();
}

void after_main_has_ended() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, exit_elsewhere, nullptr) != 0) _exit(3);
  pthread_exit(nullptr);
}

void from_a_callback() {
  exit_in_callback();
  for (;;) pause();
}

/// A forked child of a process that uses the library ends by exit().
void beside_a_child() {
  make_world();
  const pid_t child = fork();
  if (child < 0) _exit(3);
  if (child == 0) {
    km_device device;
    std::exit(km_device_open("cpu", &device) == KM_ERROR_FORKED ? 0 : 4);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(5);
  by_exit();
}

struct Way {
  const char* name;
  void (*end)();  // null: return from main
  unsigned weight;
};
constexpr Way kWays[] = {
    {"exit", by_exit, 4},
    {"return from main", nullptr, 3},
    {"exit on another thread", from_another_thread, 2},
    {"exit after the main thread's end", after_main_has_ended, 1},
    {"exit in a callback", from_a_callback, 2},
    {"_exit", at_once, 1},
    {"quick_exit", by_quick_exit, 1},
    {"exit beside a forked child", beside_a_child, 1},
};

const Way& choose_way(Random& random) {
  unsigned sum = 0;
  for (const Way& way : kWays) sum += way.weight;
  unsigned left = random.below(sum);
  for (const Way& way : kWays) {
    if (left < way.weight) return way;
    left -= way.weight;
  }
  return kWays[0];
}

int run_one(uint64_t number) {
  alarm(kLimitS);
  Random random(number);
  const Way& way = choose_way(random);
  start_actors(random);
  // Often before the first call has returned, seldom after all is warm.
  const unsigned scale_us[] = {200, 3000, 20000, 60000};
  usleep(random.below(scale_us[random.below(4)]) + 1);
  if (way.end != nullptr) way.end();
  return 0;
}

struct Totals {
  unsigned runs = 0, crashes = 0, hangs = 0;
};

void judge(int status, uint64_t number, Totals* totals) {
  ++totals->runs;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  Random random(number);
  const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  ++(hangs ? totals->hangs : totals->crashes);
  std::printf("process %llu (%s): %s %d\n", static_cast<unsigned long long>(number),
              choose_way(random).name, WIFSIGNALED(status) ? "signal" : "status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
}

pid_t start(const char* program, uint64_t number) {
  std::string argument = "=" + std::to_string(number);
  std::string name = program;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t process = -1;
  return posix_spawn(&process, program, nullptr, nullptr, arguments, environ) == 0 ? process : -1;
}

int run_many(const char* program, uint64_t runs, uint64_t first, size_t at_once_count) {
  std::map<pid_t, uint64_t> running;
  Totals totals;
  uint64_t next = first;
  while (next < first + runs || !running.empty()) {
    if (next < first + runs && running.size() < at_once_count) {
      const pid_t process = start(program, next);
      if (process < 0) return 2;
      running.emplace(process, next++);
      continue;
    }
    int status = 0;
    const pid_t ended = wait(&status);
    const auto found = running.find(ended);
    if (found == running.end()) return 2;
    judge(status, found->second, &totals);
    running.erase(found);
  }
  std::printf("%u exits, %u crashes, %u hangs\n", totals.runs, totals.crashes, totals.hangs);
  return totals.crashes + totals.hangs == 0 ? 0 : 1;
}

}  // namespace
}  // namespace km::exit_test

int main(int argc, char** argv) {
  using namespace km::exit_test;
  if (argc == 2 && argv[1][0] == '=') return run_one(std::strtoull(argv[1] + 1, nullptr, 10));
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s RUNS [FIRST [AT_ONCE]]\n", argv[0]);
    return 2;
  }
  const uint64_t runs = std::strtoull(argv[1], nullptr, 10);
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const size_t at_once_count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 2;
  return run_many("/proc/self/exe", runs, first, at_once_count);
}
