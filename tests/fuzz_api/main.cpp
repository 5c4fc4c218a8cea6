// Random calls of every function of a programming interface, by several threads on shared objects:
//   PROGRAM [--seed=N] [--calls=N] [--seconds=N] [--round=N] [--threads=N] [--failures=N]
//           [--limit=SECONDS] [--only=NAME] [--skip=NAME]... [--times] [--on-hang=PROGRAM]
//           [--keep]
// A round of --round calls runs in a process of its own, in a folder of its own, with the number
// --seed and up. If it dies, if a call lasts --limit (a minute; the time that threads of the round
// wait for a processor does not count), or if it returns what it may not,
// the last calls of each thread are printed and the program ends with 1. The same --seed with
// --threads=1 repeats the calls. --times prints what the functions took, --on-hang runs a program
// with the number of a process that hangs; --failures=N lets an allocation fail in one of N calls.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "crash.h"
#include "round.h"
#include "run_delay.h"
#include "texts.h"

namespace km::fuzz {
namespace {

constexpr size_t kOutputShown = 2000;  // bytes of what a round printed

struct Options {
  uint64_t seed = 1, calls = 0, seconds = 0, limit = 60;
  int child = -1;  // the file of the journal: this process is a round
  bool times = false, keep = false;
  std::string only, on_hang;
  std::vector<std::string> skipped;
  RoundOptions round;
};

bool read_number(const std::string& argument, const char* name, uint64_t& value) {
  if (!argument.starts_with(name)) return false;
  value = std::strtoull(argument.c_str() + std::strlen(name), nullptr, 0);
  return true;
}

bool read_text(const std::string& argument, const char* name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(std::strlen(name));
  return true;
}

bool read_option(const std::string& argument, Options& options) {
  uint64_t number = 0;
  std::string text;
  if (read_number(argument, "--threads=", number)) {
    options.round.threads = static_cast<unsigned>(std::clamp<uint64_t>(number, 1, 16));
  } else if (read_number(argument, "--failures=", number)) {
    options.round.caller.allocation_failures = static_cast<unsigned>(number);
  } else if (read_number(argument, "--child=", number)) {
    options.child = static_cast<int>(number);
  } else if (read_text(argument, "--skip=", text)) {
    options.skipped.push_back(text);
  } else if (argument == "--times") {
    options.times = true;
  } else if (argument == "--keep") {
    options.keep = true;
  } else {
    return read_number(argument, "--seed=", options.seed) ||
           read_number(argument, "--calls=", options.calls) ||
           read_number(argument, "--seconds=", options.seconds) ||
           read_number(argument, "--limit=", options.limit) ||
           read_number(argument, "--round=", options.round.calls) ||
           read_text(argument, "--only=", options.only) ||
           read_text(argument, "--on-hang=", options.on_hang);
  }
  return true;
}

Journal* map_journal(int file) {
  void* const memory = mmap(nullptr, sizeof(Journal), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Journal*>(memory);
}

int run_child(Api& api, Options& options) {
  const struct rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  report_crashes();
  make_files();
  Caller::Options& caller = options.round.caller;
  caller.seed = options.seed;
  caller.skipped.resize(api.rows().size());
  if (!options.only.empty()) caller.only = static_cast<int>(row_of(api, options.only.c_str()));
  for (const std::string& name : options.skipped) caller.skipped[row_of(api, name.c_str())] = true;
  run_round(api, *map_journal(options.child), options.round);
  return 0;
}

void run_and_wait(const std::string& program, const std::string& argument) {
  const pid_t child = fork();
  if (child == 0) {
    execlp(program.c_str(), program.c_str(), argument.c_str(), static_cast<char*>(nullptr));
    std::_Exit(127);
  }
  waitpid(child, nullptr, 0);
}

/// The program that starts rounds and watches them.
class Parent {
 public:
  Parent(Api& api, const Options& options, char** arguments)
      : api_(api), options_(options), arguments_(arguments) {}

  int run() {
    const uint64_t begin = now_ns();
    for (uint64_t round = 0; goes_on(begin); ++round) {
      if (!run_one(options_.seed + round)) return 1;
      std::printf("%llu calls in %llu rounds, %llu s\n", static_cast<unsigned long long>(calls_),
                  static_cast<unsigned long long>(round + 1),
                  static_cast<unsigned long long>((now_ns() - begin) / 1'000'000'000));
      std::fflush(stdout);
    }
    return 0;
  }

 private:
  bool goes_on(uint64_t begin) const {
    if (options_.calls != 0) return calls_ < options_.calls;
    return calls_ == 0 || now_ns() - begin < options_.seconds * 1'000'000'000;
  }

  bool run_one(uint64_t seed) {
    std::string folder = std::filesystem::temp_directory_path() / "km-fuzz-api-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      std::perror(folder.c_str());
      return false;
    }
    const int file = memfd_create("journal", 0);
    if (file < 0 || ftruncate(file, sizeof(Journal)) != 0) std::abort();
    Journal* const journal = map_journal(file);
    const pid_t child = start(seed, folder, file);
    const std::string wrong = watch(child, *journal);
    if (!wrong.empty()) report(wrong, seed, folder, *journal);
    if (options_.times) print_times(*journal);
    calls_ += journal->calls.load();
    munmap(journal, sizeof(Journal));
    close(file);
    std::error_code ignored;
    if (!options_.keep) std::filesystem::remove_all(folder, ignored);
    return wrong.empty();
  }

  pid_t start(uint64_t seed, const std::string& folder, int file) {
    std::vector<std::string> texts(arguments_, arguments_ + 1);
    for (char** each = arguments_ + 1; *each != nullptr; ++each) texts.emplace_back(*each);
    texts.push_back("--seed=" + std::to_string(seed));
    texts.push_back("--child=" + std::to_string(file));
    std::vector<char*> words;
    for (std::string& text : texts) words.push_back(text.data());
    words.push_back(nullptr);
    std::vector<std::string> settings = api_.environment(seed);
    // Rounds share a cache that the caller names: their own calls are quicker than their compiler.
    if (std::getenv("KM_CACHE_DIR") == nullptr) {
      settings.push_back("KM_CACHE_DIR=" + folder + "/cache");
    }
    const pid_t child = fork();
    if (child != 0) return child;
    for (std::string& setting : settings) putenv(setting.data());
    const int output = open((folder + "/output.txt").c_str(), O_CREAT | O_WRONLY, 0600);
    const bool ready =
        output >= 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 && chdir(folder.c_str()) == 0;
    if (ready) execv("/proc/self/exe", words.data());
    std::_Exit(3);
  }

  /// Until the round is over; says what was wrong.
  std::string watch(pid_t child, Journal& journal) {
    const uint64_t limit_ns = options_.limit * 1'000'000'000;
    RunDelay delay(child);
    for (;;) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) return verdict(status, journal);
      delay.note(now_ns());
      const JournalEntry* const entry = find_hanging(journal, limit_ns);
      const uint64_t started = entry != nullptr ? entry->started_ns.load() : 0;
      if (started != 0 && now_ns() - started > limit_ns + delay.since_ns(started)) {
        const std::string name = api_.rows()[entry->row].name;
        if (!options_.on_hang.empty()) {
          run_and_wait(options_.on_hang, std::to_string(child));
        }
        ask_for_stacks(child);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return name + " did not return";
      }
      usleep(20'000);
    }
  }

  static std::string verdict(int status, Journal& journal) {
    if (journal.has_finding.load()) return journal.finding;
    if (WIFSIGNALED(status)) {
      return std::string("the process died: ") + strsignal(WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
      return "the process ended with " + std::to_string(WEXITSTATUS(status));
    }
    return "";
  }

  static std::string content_of(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }

  void report(const std::string& wrong, uint64_t seed, const std::string& folder,
              Journal& journal) const {
    std::string text = content_of(folder + "/output.txt");
    if (text.size() > kOutputShown) text.erase(0, text.size() - kOutputShown);
    text += "\n" + content_of(folder + "/" + kStackFile);
    std::printf("%s\n%s--seed=%llu --round=%llu: %s\n", text.c_str(),
                describe(journal, api_.rows()).c_str(), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(options_.round.calls), wrong.c_str());
    std::fflush(stdout);
  }

  void print_times(Journal& journal) const {
    for (size_t i = 0; i < api_.rows().size(); ++i) {
      const auto calls = static_cast<unsigned long long>(journal.calls_of_row[i].load());
      if (calls == 0) continue;
      std::printf("%8llu us %6llu calls %6llu right %s\n",
                  static_cast<unsigned long long>(journal.ns_of_row[i].load() / 1000), calls,
                  static_cast<unsigned long long>(journal.successes_of_row[i].load()),
                  api_.rows()[i].name);
    }
  }

  Api& api_;
  const Options& options_;
  char** arguments_;
  uint64_t calls_ = 0;
};

int run(int count, char** arguments) {
  Options options;
  options.round.caller.allocation_failures = 16;
  for (int i = 1; i < count; ++i) {
    if (read_option(arguments[i], options)) continue;
    std::fprintf(stderr, "%s is no option; see the begin of tests/fuzz_api/main.cpp\n",
                 arguments[i]);
    return 2;
  }
  const std::unique_ptr<Api> api = make_api();
  if (options.child >= 0) return run_child(*api, options);
  return Parent(*api, options, arguments).run();
}

}  // namespace
}  // namespace km::fuzz

int main(int count, char** arguments) { return km::fuzz::run(count, arguments); }
