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

/// The whole table, in the order of EnvVar.
std::span<const EnvEntry> env_table();

/// The variable's value; nothing when it is unset or empty.
std::optional<std::string> env(EnvVar variable);

/// Sets the variable where it is unset or empty. Only for programs, before they start threads.
void set_default_env(EnvVar variable, const char* value);

/// env() for a variable that belongs to others (CUDA_HOME, HOME ...).
std::optional<std::string> foreign_env(const char* name);

/// foreign_env() for variables that mean something when they are empty, too.
std::optional<std::string> foreign_env_or_empty(const char* name);

/// A switch: 1, on, true, yes or 0, off, false, no; anything else is KM_ERROR_INVALID_ARGUMENT.
Result<bool> env_flag(EnvVar variable, bool fallback);

/// A decimal integer within [minimum, maximum]; the fallback when the variable is unset.
Result<uint64_t> env_integer(EnvVar variable, uint64_t minimum, uint64_t maximum,
                             uint64_t fallback);

/// One line for each KM_ name in the environment that is not in the table, with the nearest name
/// that is. KM_TEST_ names are left to the tests.
std::vector<std::string> unknown_env_names();

}  // namespace km
