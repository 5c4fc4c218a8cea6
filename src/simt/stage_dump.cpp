#include "simt/stage_dump.h"

#include <cstdio>
#include <string>

#include "base/env.h"
#include "simt/engine.h"

namespace km::simt {

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
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace km::simt
