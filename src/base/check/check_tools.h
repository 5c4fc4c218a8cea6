// The tools of the checker, by name and as bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace km {

/// The bits of the checker's tools, which are those of km_check_flags.
namespace check_tool {
constexpr uint16_t kMemory = 1;    // invalid accesses are reported and not made
constexpr uint16_t kInit = 2;      // reads and writes are reported
constexpr uint16_t kRace = 4;      // accesses and what orders them are reported
constexpr uint16_t kSync = 8;      // arrivals at barriers and member masks are reported
constexpr uint16_t kStreams = 16;  // accesses are reported

// Bits of code that are no tools by name, beyond those of km_check_flags.
constexpr uint16_t kInStep = 512;  // the lanes of a warp run in step
// Accesses of warps and executions of basic blocks are counted. Packets are then whole warps, and
// no branch is decided in advance.
constexpr uint16_t kCounters = 1024;
constexpr uint16_t kSchedule = 2048;  // mode c, whose lanes may change places at each access
}  // namespace check_tool

/// A tool by its name and that of compute-sanitizer's tool.
struct CheckTool {
  std::string_view name, sanitizer_name;
  uint16_t bit;
};

/// All tools.
std::span<const CheckTool> check_tools();
/// The bits that a name stands for, by either name or "all"; nothing if no tool has it.
std::optional<uint16_t> check_tools_named(std::string_view name);
/// The name of the tool with this bit.
std::string_view check_tool_name(uint16_t bit);

}  // namespace km
