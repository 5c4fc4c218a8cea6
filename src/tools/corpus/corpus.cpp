// kernelmill corpus: reports which kernels of a folder compile, load and become machine code. Each
// file is examined in its own process, so that a crash affects no other.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/env.h"
#include "tools/clock.h"
#include "tools/commands.h"
#include "tools/corpus/corpus.h"
#include "tools/error.h"
#include "tools/terminal/progress.h"

namespace km::tools {
namespace {

/// A process that examines one file and sends its result through a pipe.
struct Job {
  std::string path;
  pid_t process = -1;
  int pipe = -1;
  std::string answer;
  Stopwatch watch;
};

class CorpusCommand : public Command {
 public:
  explicit CorpusCommand(CLI::App& app);
  int run() override;

 private:
  Result<std::vector<std::string>> find_files() const;
  int examine_one() const;
  Status examine_all(const std::vector<std::string>& paths, std::vector<Json>& results) const;
  Result<Job> start(const std::string& path) const;
  bool advance(Job& job, Json& result) const;
  std::vector<std::string> arguments_for(const std::string& path) const;

  std::string folder_;
  std::string device_ = "cpu";
  uint32_t block_size_ = 256;
  uint32_t jobs_ = 1;
  uint32_t seconds_ = 60;
  bool json_ = false;
  bool verbose_ = false;
  bool one_ = false;
  CompileOptions options_;
};

CorpusCommand::CorpusCommand(CLI::App& app)
    : Command(app.add_subcommand("corpus", "Try all kernels below a folder, running none")) {
  parser_->add_option("DIR", folder_, "Searched for .cu and .ptx files")
      ->required()
      ->type_name("DIR");
  parser_->add_flag("--json", json_, "Print everything found out, as JSON");
  parser_->add_flag("-v,--verbose", verbose_, "Name every file and kernel that fails");
  add_device_option(*parser_, device_, "Device to make code for (default cpu)");
  parser_->add_option("--block", block_size_, "Threads per block to make code for (default 256)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1024u));
  parser_->add_option("-j,--jobs", jobs_, "Files at the same time (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 256u));
  parser_->add_option("--seconds", seconds_, "Time limit per file (default 60)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u));
  parser_->add_flag("--one", one_)->group("");  // DIR is a single file, examined in this process
  add_compile_options(*parser_, options_);
}

Result<std::vector<std::string>> CorpusCommand::find_files() const {
  std::error_code failure;
  std::vector<std::string> paths;
  using Walk = std::filesystem::recursive_directory_iterator;
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  for (auto entry = Walk(folder_, kOptions, failure); !failure && entry != Walk();
       entry.increment(failure)) {
    const std::string extension = entry->path().extension();
    const bool wanted = extension == ".cu" || extension == ".ptx";
    if (wanted && entry->is_regular_file(failure)) paths.push_back(entry->path());
  }
  if (failure) return file_error(folder_, failure.message());
  if (paths.empty()) return file_error(folder_, "holds no .cu and no .ptx files");
  std::sort(paths.begin(), paths.end());
  return paths;
}

int CorpusCommand::examine_one() const {
  const Json result = examine_file(folder_, options_, device_, block_size_);
  std::puts(result.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  return kExitOk;
}

std::vector<std::string> CorpusCommand::arguments_for(const std::string& path) const {
  std::vector<std::string> list{"kernelmill", "corpus", "--one",   path,
                                "--device",   device_,  "--block", std::to_string(block_size_)};
  if (!options_.architecture.empty()) {
    list.insert(list.end(), {"--arch", options_.architecture});
  }
  for (const std::string& define : options_.defines) list.insert(list.end(), {"-D", define});
  for (const std::string& dir : options_.include_dirs) list.insert(list.end(), {"-I", dir});
  for (const std::string& option : options_.nvrtc) list.push_back("--nvrtc=" + option);
  return list;
}

Result<Job> CorpusCommand::start(const std::string& path) const {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return file_error(path, "cannot create a pipe");
  std::vector<std::string> words = arguments_for(path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  Job job;
  job.path = path;
  job.pipe = ends[0];
  const int code =
      posix_spawn(&job.process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code == 0) return job;
  close(ends[0]);
  return file_error(path, "cannot start a process for it");
}

Json failed_file(const std::string& path, const std::string& reason) {
  return {{"file", path},           {"compiled", true},         {"loaded", false}, {"ms", 0.0},
          {"forms", Json::array()}, {"kernels", Json::array()}, {"reason", reason}};
}

/// Reads from the job's pipe; true if the job is done, with its answer in `result`.
bool CorpusCommand::advance(Job& job, Json& result) const {
  char buffer[1 << 16];
  pollfd ready{job.pipe, POLLIN, 0};
  const bool too_long = job.watch.elapsed_ms() > 1e3 * seconds_;
  if (too_long) kill(job.process, SIGKILL);
  if (!too_long && poll(&ready, 1, 10) <= 0) return false;
  const ssize_t size = too_long ? 0 : read(job.pipe, buffer, sizeof buffer);
  if (size < 0 && errno == EINTR) return false;
  if (size > 0) {
    job.answer.append(buffer, static_cast<size_t>(size));
    return false;
  }
  int status = 0;
  close(job.pipe);
  waitpid(job.process, &status, 0);
  result = Json::parse(job.answer, nullptr, false);
  if (too_long) {
    result = failed_file(job.path, "takes more than " + std::to_string(seconds_) + " s");
  } else if (result.is_discarded()) {
    result = failed_file(job.path, WIFSIGNALED(status) ? "the process died of signal " +
                                                             std::to_string(WTERMSIG(status))
                                                       : "the process ended without an answer");
  }
  return true;
}

Status CorpusCommand::examine_all(const std::vector<std::string>& paths,
                                  std::vector<Json>& results) const {
  std::vector<Job> running;
  Progress progress("examining files");
  size_t next = 0;
  while (results.size() < paths.size()) {
    while (running.size() < jobs_ && next < paths.size()) {
      KM_ASSIGN(Job job, start(paths[next++]));
      running.push_back(std::move(job));
    }
    for (size_t i = 0; i < running.size(); ++i) {
      Json result;
      if (!advance(running[i], result)) continue;
      results.push_back(std::move(result));
      running.erase(running.begin() + static_cast<ptrdiff_t>(i--));
      progress.set(results.size(), paths.size());
    }
  }
  return {};
}

int CorpusCommand::run() {
  set_default_env(EnvVar::KM_CACHE_DIR, "off");  // a cache hit would falsify the times
  if (one_) return examine_one();
  const Result<std::vector<std::string>> paths = find_files();
  if (!paths) return report(paths.error());
  std::vector<Json> results;
  if (const Status status = examine_all(*paths, results); !status) return report(status.error());
  std::sort(results.begin(), results.end(),
            [](const Json& a, const Json& b) { return a["file"] < b["file"]; });
  const Json summary = sum_up(results);
  if (json_) {
    const Json all = {{"summary", summary}, {"files", results}};
    std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    print_summary(summary, results, verbose_);
  }
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_corpus(CLI::App& app) { return std::make_unique<CorpusCommand>(app); }

}  // namespace km::tools
