#include "tools/setup/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "tools/error.h"

namespace km::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlace = "nvrtc";
constexpr std::string_view kNewPrefix = "nvrtc.new.", kOldPrefix = "nvrtc.old.";

bool is_leftover(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  return name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

/// The names in NVRTC's folder that this command did not put there, since it installs only packages
/// of NVIDIA; empty if there are none.
std::string foreign_content(const fs::path& place) {
  std::error_code failure;
  const fs::file_type type = fs::symlink_status(place, failure).type();
  if (type == fs::file_type::not_found) return {};
  if (type != fs::file_type::directory) return "it is not a folder";
  std::string names;
  size_t count = 0;
  fs::directory_iterator entry(place, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name == "nvidia" || (name.starts_with("nvidia_") && name.ends_with(".dist-info"))) continue;
    constexpr size_t kMostShown = 3;
    if (++count <= kMostShown) names += (names.empty() ? "'" : ", '") + name + "'";
    if (count == kMostShown + 1) names += " ...";
  }
  return names.empty() ? names : "it holds " + names;
}

/// Asks on the terminal; false without a terminal.
bool is_agreed_to(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
  std::fprintf(stderr, "kernelmill: %s [y/N] ", printable(question).c_str());
  char answer[16] = "";
  if (std::fgets(answer, sizeof answer, stdin) == nullptr) return false;
  return answer[0] == 'y' || answer[0] == 'Y';
}

}  // namespace

Result<SetupLock> SetupLock::take(const fs::path& data) {
  std::error_code failure;
  fs::create_directories(data, failure);
  if (failure) return file_error(data.string(), failure.message());
  SetupLock lock(open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // tidy: file: a lock
  if (lock.folder_ >= 0 && flock(lock.folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return error(KM_ERROR_NOT_PERMITTED, "another 'kernelmill setup' is running in " +
                                             data.string() + ": wait until it ends");
  }
  return lock;
}

SetupLock::~SetupLock() {
  if (folder_ >= 0) close(folder_);
}

SetupLock::SetupLock(SetupLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}

void remove_leftovers(const fs::path& data) {
  std::error_code ignored;
  std::vector<fs::path> gone;
  fs::directory_iterator entry(data, ignored);
  for (; !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (is_leftover(name, kNewPrefix)) gone.push_back(entry->path());
    if (!is_leftover(name, kOldPrefix)) continue;
    const fs::path place = data / kPlace;
    if (fs::symlink_status(place, ignored).type() == fs::file_type::not_found) {
      fs::rename(entry->path(), place, ignored);  // tidy: file: a folder
    } else {
      gone.push_back(entry->path());
    }
  }
  for (const fs::path& folder : gone) fs::remove_all(folder, ignored);
}

Status check_place(const fs::path& data, bool is_agreed) {
  const fs::path place = data / kPlace;
  const std::string content = foreign_content(place);
  if (content.empty() || is_agreed) return {};
  const std::string about = place.string() + " is not as 'kernelmill setup' makes it: " + content;
  if (is_agreed_to(about + ". Remove all of it?")) return {};
  return error(KM_ERROR_NOT_PERMITTED, about + ". Move it away, or have it removed by --yes");
}

fs::path new_folder(const fs::path& data) {
  return (data / kNewPrefix).string() + std::to_string(getpid());
}

Status replace_nvrtc(const fs::path& data, const fs::path& made) {
  const fs::path place = data / kPlace;
  std::error_code failure;
  const fs::path before = (data / kOldPrefix).string() + std::to_string(getpid());
  fs::rename(place, before, failure);  // tidy: file: a folder, which as a rule was not there
  const bool had_one = !failure;
  fs::rename(made, place, failure);  // tidy: file: a folder
  const std::error_code result = failure;
  if (had_one && result) fs::rename(before, place, failure);  // tidy: file: a folder
  if (result) return file_error(place.string(), result.message());
  fs::remove_all(before, failure);
  return {};
}

}  // namespace km::tools
