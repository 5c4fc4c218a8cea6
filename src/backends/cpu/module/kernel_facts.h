// Facts about a kernel that suffice, without its program, to launch code from the cache.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

/// A kernel in an analysed program: its module's, or one of the kernel's own part of the text.
struct KernelProgram {
  std::shared_ptr<const simt::Program> program;  // null: none is in memory
  uint32_t kernel = 0;
  Hash128 text_hash;  // of the text that the program was made of
};

struct KernelFacts {
  simt::KernelInfo info;
  bool has_explicit_cluster = false;
  uint32_t max_cluster_blocks = 0;     // .maxclusterrank, 0: not given
  std::vector<std::string> variables;  // of the kernel's program, in their order
  Hash128 text_hash;

  static KernelFacts of(const KernelProgram& kernel);
  /// True if write() keeps all that a launch needs. Variables of functions are found by parsing
  /// only, and refusals name the module.
  bool can_be_kept() const;
  std::vector<uint8_t> write() const;
  /// Nothing if the data is not what write() gives.
  static std::optional<KernelFacts> read(std::span<const uint8_t> data);
  /// The key of write()'s data in the cache.
  static std::string key(std::string_view kernel, const Hash128& text_hash);
};

}  // namespace km::cpu
