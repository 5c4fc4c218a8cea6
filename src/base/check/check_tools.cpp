#include "base/check/check_tools.h"

#include "base/assert.h"
#include "base/check/check_tool_sets.h"

namespace km {
namespace {

constexpr CheckTool kTools[] = {
    {"memory", "memcheck", check_tool::kMemory},  {"init", "initcheck", check_tool::kInit},
    {"race", "racecheck", check_tool::kRace},     {"sync", "synccheck", check_tool::kSync},
    {"streams", "streams", check_tool::kStreams}, {"leak", "leakcheck", check_tool::kLeak},
};

}  // namespace

std::span<const CheckTool> check_tools() { return kTools; }

std::optional<uint16_t> check_tools_named(std::string_view name) {
  for (const CheckTool& tool : kTools) {
    if (name == tool.name || name == tool.sanitizer_name) return tool.bit;
  }
  return name == "all" ? std::optional(check_tool::kAll) : std::nullopt;
}

std::string_view check_tool_name(uint16_t bit) {
  for (const CheckTool& tool : kTools) {
    if (tool.bit == bit) return tool.name;
  }
  KM_ASSERT(false, "a finding is of a tool of the table");
  return {};
}

}  // namespace km
