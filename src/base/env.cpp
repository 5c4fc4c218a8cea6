#include "base/env.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace km {
namespace {

constexpr EnvEntry kTable[] = {
#define KM_ENV(name, values, fallback, text) {#name, values, fallback, text},
#include "base/env.def"
#undef KM_ENV
};

const EnvEntry& entry_of(EnvVar variable) { return kTable[static_cast<size_t>(variable)]; }

bool is_known(std::string_view name) {
  // KM_TEST_... belong to the tests; KM_LIBRARY_DIR is read by the builds of the bindings.
  if (name.starts_with("KM_TEST_") || name == "KM_LIBRARY_DIR") return true;
  for (const EnvEntry& entry : kTable) {
    if (name == entry.name) return true;
  }
  return false;
}

std::string unknown_name_text(std::string_view name) {
  std::vector<std::string_view> known;
  for (const EnvEntry& entry : kTable) known.emplace_back(entry.name);
  return "unknown environment variable '" + std::string(name) + "' is ignored." +
         suggestion(name, known);
}

}  // namespace

std::span<const EnvEntry> env_table() { return kTable; }

std::optional<std::string> env(EnvVar variable) { return foreign_env(entry_of(variable).name); }

void set_default_env(EnvVar variable, const char* value) {
  if (!env(variable)) setenv(entry_of(variable).name, value, 1);
}

std::optional<std::string> foreign_env(const char* name) {
  std::optional<std::string> value = foreign_env_or_empty(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

std::optional<std::string> foreign_env_or_empty(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<bool> env_flag(EnvVar variable, bool fallback) {
  const std::optional<std::string> value = env(variable);
  if (!value) return fallback;
  for (const char* yes : {"1", "on", "true", "yes"}) {
    if (*value == yes) return true;
  }
  for (const char* no : {"0", "off", "false", "no"}) {
    if (*value == no) return false;
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is '%s'; expected 0 or 1",
                    entry_of(variable).name, value->c_str());
}

Result<uint64_t> env_integer(EnvVar variable, uint64_t minimum, uint64_t maximum,
                             uint64_t fallback) {
  const std::optional<std::string> value = env(variable);
  if (!value) return fallback;
  uint64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, code] = std::from_chars(value->data(), end, number);
  if (code == std::errc() && stop == end && number >= minimum && number <= maximum) return number;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is '%s'; expected an integer from %llu to %llu",
                    entry_of(variable).name, value->c_str(),
                    static_cast<unsigned long long>(minimum),
                    static_cast<unsigned long long>(maximum));
}

Result<uint64_t> env_comm_timeout_s() {
  constexpr uint64_t kMostSeconds = 1'000'000;
  return env_integer(EnvVar::KM_COMM_TIMEOUT_S, 1, kMostSeconds, 600);
}

std::vector<std::string> unknown_env_names() {
  std::vector<std::string> lines;
  if (environ == nullptr) return lines;
  for (char** item = environ; *item != nullptr; ++item) {
    const std::string_view text(*item);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("KM_") && !is_known(name)) lines.push_back(unknown_name_text(name));
  }
  return lines;
}

}  // namespace km
