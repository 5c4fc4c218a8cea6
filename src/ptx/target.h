// The valid values of `.version` and `.target`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace km::ptx {

/// A virtual architecture: "sm_90a" is number 90 with the suffix 'a'.
struct Target {
  uint16_t number = 0;  // 10 times the compute capability
  // 'a': one architecture only, 'f': its family, 0: this and all later architectures.
  char suffix = 0;
  uint16_t min_isa = 0;  // 10 times the lowest `.version` with this target
};

/// The targets that have a form of an instruction.
struct TargetSet {
  constexpr TargetSet(uint16_t from = 0) : least(from) {}

  /// The `a` and `f` targets of the families from `from` to `to`.
  static constexpr TargetSet specific(uint16_t from, uint16_t to = UINT16_MAX) {
    TargetSet set(from);
    set.most = to;
    set.suffix = 'f';
    return set;
  }

  /// The `a` targets from `from` to `to`.
  static constexpr TargetSet architecture(uint16_t from, uint16_t to) {
    TargetSet set = specific(from, to);
    set.suffix = 'a';
    return set;
  }

  bool has(const Target& target) const;

  uint16_t least = 0, most = UINT16_MAX;
  char suffix = 0;  // 'a': only targets with it, 'f': with 'a' or 'f', 0: all
};

/// "sm_90", "sm_90a" or "sm_100a to sm_110a", for messages and tables.
std::string text_of(const TargetSet& set);

/// The target of "sm_90a" or "compute_90a"; nothing if there is none of this name.
std::optional<Target> find_target(std::string_view text);

/// True if code for the target runs on a device of this compute capability (10 * major + minor).
bool runs_on(const Target& target, uint32_t capability);

/// True if a PTX ISA of this version exists, given as 10 * major + minor.
bool is_isa_version(uint32_t version);

/// The newest `.version` that the front end supports, as 10 * major + minor.
constexpr uint32_t kNewestIsa = 95;

}  // namespace km::ptx
