#include "base/process/exec_report.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/env.h"

namespace km {
namespace {

constexpr const char* kName = "kernelmill-exec";
constexpr const char* kLink = "/memfd:kernelmill-exec (deleted)";  // the name in /proc

ExecReport* map_report(int file) {
  void* const mapped =
      mmap(nullptr, sizeof(ExecReport), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return mapped != MAP_FAILED ? static_cast<ExecReport*>(mapped) : nullptr;
}

/// Process ids and descriptors are reused, so only a file of the right name is accepted.
bool is_report(const std::string& path) {
  char target[64];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length > 0 && std::string(target, static_cast<size_t>(length)) == kLink;
}

}  // namespace

ExecReportOwner::ExecReportOwner() {
  Result<File> file = create_memory_file(kName);
  if (!file || !resize_file(file->get(), sizeof(ExecReport))) return;
  file_ = std::move(*file);
  report_ = map_report(file_.get());  // new memory is zero, the initial state
}

ExecReportOwner::~ExecReportOwner() {
  if (report_ != nullptr) munmap(report_, sizeof *report_);
}

std::string ExecReportOwner::name() const {
  return report_ != nullptr ? std::to_string(getpid()) + ":" + std::to_string(file_.get()) : "";
}

ExecReport* find_exec_report() {
  const std::optional<std::string> name = env(EnvVar::KM_EXEC_REPORT);
  int process = 0, number = 0;
  char rest = 0;
  if (!name || sscanf(name->c_str(), "%d:%d%c", &process, &number, &rest) != 2) return nullptr;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  if (!is_report(path)) return nullptr;
  const File file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return nullptr;
  struct stat info{};
  const bool is_whole = fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
                        info.st_size == static_cast<off_t>(sizeof(ExecReport));
  return is_whole ? map_report(file.get()) : nullptr;
}

}  // namespace km
