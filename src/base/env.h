// Environment variables: every one that the library reads is a row of base/env.def.
// In a setuid program all of them count as unset.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace km {

enum class EnvVar : uint8_t {
#define KM_ENV(name, values, fallback, text) name,
#include "base/env.def"
#undef KM_ENV
};

struct EnvEntry {
  const char* name;
  const char* values;         // "0|1", "path", "count" ...
  const char* default_value;  // empty: depends on the machine
  const char* text;           // one sentence
};

/// All variables, in the order of EnvVar.
std::span<const EnvEntry> env_table();

/// The variable's value; nothing if it is unset or empty, or if the program is setuid.
std::optional<std::string> env(EnvVar variable);

/// Sets the variable if it is unset or empty. setenv() is not thread-safe, so only programs call
/// this, before they start threads.
void set_default_env(EnvVar variable, const char* value);

/// Like env(), for a variable that is not the library's own (CUDA_HOME, HOME ...).
std::optional<std::string> foreign_env(const char* name);

/// Like foreign_env(), for variables whose empty value has a meaning of its own.
std::optional<std::string> foreign_env_or_empty(const char* name);

/// A switch: 1, on, true, yes or 0, off, false, no; any other value is KM_ERROR_INVALID_ARGUMENT.
Result<bool> env_flag(EnvVar variable, bool fallback);

/// A decimal integer within [minimum, maximum]; `fallback` if the variable is unset.
Result<uint64_t> env_integer(EnvVar variable, uint64_t minimum, uint64_t maximum,
                             uint64_t fallback);

/// The time limit on waits for other ranks, and for groups of calls that others have begun.
Result<uint64_t> env_comm_timeout_s();

/// One warning for each KM_ name in the environment that is not in the table, with the most similar
/// name that is. KM_TEST_ names are left to the tests.
std::vector<std::string> unknown_env_names();

}  // namespace km
