#include "simt/stage_dump.h"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/env.h"
#include "base/file/file.h"
#include "base/log.h"
#include "simt/engine.h"

namespace km::simt {
namespace {

/// The file that KM_DUMP_FILE names; none if it names none, or one that cannot be written.
File open_dump_file() {
  const std::optional<std::string> path = env(EnvVar::KM_DUMP_FILE);
  if (!path || path->empty()) return File(-1);
  Result<File> file = open_to_append(*path);
  if (file) return *std::move(file);
  log(LogLevel::kError, "cpu", "KM_DUMP_FILE: %s", file.error().message.c_str());
  return File(-1);
}

}  // namespace

bool dumps_stages() {
  static const bool any = env(EnvVar::KM_DUMP).has_value();
  return any;
}

bool dump_enabled(std::string_view stage) {
  static const std::string stages = "," + env(EnvVar::KM_DUMP).value_or("") + ",";
  return stages.find("," + std::string(stage) + ",") != std::string::npos;
}

void dump_stage(std::string_view stage, std::string_view name, std::string_view text) {
  // The text is written at once, so that dumps of kernels compiled in parallel do not mix.
  std::string out = "==== " + std::string(stage) + " of " + std::string(name) + "\n";
  out += text;
  if (!text.ends_with('\n')) out += '\n';
  static const File file = open_dump_file();
  if (file) {
    file.write_all(out.data(), out.size());
  } else {
    std::fwrite(out.data(), 1, out.size(), stderr);
  }
}

}  // namespace km::simt
