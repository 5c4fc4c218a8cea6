// The values that `.version` and `.target` can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace km::ptx {

/// A virtual architecture: "sm_90a" is number 90 with the suffix 'a'.
struct Target {
  uint16_t number = 0;   // 10 times the compute capability
  char suffix = 0;       // 'a': one architecture only, 'f': its family, 0: it and all later ones
  uint16_t min_isa = 0;  // 10 times the lowest `.version` that knows it
};

/// The target that `text` names as "sm_90a" or "compute_90a"; nothing where there is none.
std::optional<Target> find_target(std::string_view text);

/// True if code for the target runs on a device of this compute capability (10 * major + minor).
bool runs_on(const Target& target, uint32_t capability);

/// True if there is a PTX ISA of this version, given as 10 * major + minor.
bool is_isa_version(uint32_t version);

/// The newest `.version` that the front end knows, as 10 * major + minor.
constexpr uint32_t kNewestIsa = 95;

}  // namespace km::ptx
