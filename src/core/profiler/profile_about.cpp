#include "core/profiler/profile_about.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/file/file.h"
#include "km_version.h"

namespace km {
namespace {

constexpr size_t kMostProgramBytes = 300;

/// Joins the words of /proc/self/cmdline, which are separated by zeros.
std::string command_line() {
  char words[kMostProgramBytes + 1];
  const Result<File> file = open_file("/proc/self/cmdline");
  const ssize_t size = file ? read(file->get(), words, sizeof words) : 0;
  if (size <= 0) return "unknown";
  std::string text(words, static_cast<size_t>(size));
  const bool is_cut = text.size() > kMostProgramBytes;
  if (is_cut) text.resize(kMostProgramBytes);
  while (!is_cut && text.ends_with('\0')) text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return is_cut ? text + " ..." : text;
}

std::string machine() {
  utsname about{};
  if (uname(&about) != 0) return "unknown";
  return std::string(about.nodename) + ", " + about.sysname + " " + about.release + ", " +
         about.machine;
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[64];
  if (gmtime_r(&now, &parts) == nullptr) return "unknown";
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d UTC", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

}  // namespace

ProfileAbout about_this_profile() {
  return {command_line(), machine(), date(), "Kernelmill " KM_VERSION_STRING};
}

}  // namespace km
