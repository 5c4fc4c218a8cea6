#include "shaders/naga.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file/file.h"
#include "base/file/file_writer.h"

extern char** environ;

namespace km::shaders {
namespace {

namespace fs = std::filesystem;

/// A folder that ends with its object, with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    static std::atomic<uint32_t> count{0};
    const std::string name =
        "kernelmill-naga-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    const fs::path path = fs::temp_directory_path(failed) / name;
    if (failed || !fs::create_directory(path, failed)) return;
    fs::permissions(path, fs::perms::owner_all, failed);
    path_ = path.string();
  }
  ~TemporaryFolder() {
    std::error_code failed;
    if (!path_.empty()) fs::remove_all(path_, failed);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The path of a file in it; empty if the folder could not be made.
  std::string file(const char* name) const { return path_.empty() ? path_ : path_ + "/" + name; }

 private:
  std::string path_;
};

/// Runs naga on two files, with its messages in a third one. The program's status as waitpid()
/// gives it.
Result<int> run_naga(const std::string& from, const std::string& to, const std::string& messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const char* const arguments[] = {"naga", from.c_str(), to.c_str(), nullptr};
  pid_t process = -1;
  const int code = posix_spawnp(&process, arguments[0], &actions, nullptr,
                                const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    return make_error(KM_ERROR_BACKEND_UNAVAILABLE,
                      "naga, which writes WGSL, cannot be started: %s; install it (cargo install "
                      "naga-cli) and put it on PATH",
                      std::strerror(code));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// The text of naga after its warnings.
std::string reason_of(std::string messages) {
  while (messages.starts_with("[WARN")) {
    const size_t end = messages.find('\n');
    messages.erase(0, end == std::string::npos ? end : end + 1);
  }
  while (messages.ends_with('\n')) messages.pop_back();
  return messages.empty() ? "it has ended without a word" : messages;
}

}  // namespace

Result<std::string> wgsl_of(std::span<const uint32_t> spirv) {
  const TemporaryFolder folder;
  const std::string from = folder.file("shader.spv"), to = folder.file("shader.wgsl"),
                    messages = folder.file("messages");
  if (from.empty()) {
    return make_error(KM_ERROR_IO, "naga's files need a folder for temporary ones (TMPDIR)");
  }
  KM_TRY(write_file(from, {reinterpret_cast<const char*>(spirv.data()), spirv.size_bytes()}));
  KM_ASSIGN(const int status, run_naga(from, to, messages));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    KM_ASSIGN(std::string said, read_file(messages));
    return make_error(KM_ERROR_NOT_SUPPORTED, "naga refuses the shader: %s",
                      reason_of(std::move(said)).c_str());
  }
  return read_file(to);
}

}  // namespace km::shaders
