#include "ptx/target.h"

#include <algorithm>
#include <charconv>

namespace km::ptx {
namespace {

struct Row {
  uint16_t number, min_isa, min_isa_arch, min_isa_family;  // 0: no target with that suffix
};

constexpr Row kTargets[] = {
    {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},
    {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 31, 0, 0},    {37, 41, 0, 0},
    {50, 40, 0, 0},    {52, 41, 0, 0},    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},
    {62, 50, 0, 0},    {70, 51, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
    {82, 62, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 90, 0, 0},    {89, 78, 0, 0},
    {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90},
    {120, 87, 87, 88}, {121, 88, 88, 88},
};

constexpr uint16_t kVersions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32,
                                  40, 41, 42, 43, 50, 51, 60, 61, 62, 63, 64, 65, 70,
                                  71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84,
                                  85, 86, 87, 88, 90, 91, 92, 93, 94, 95};
static_assert(std::end(kVersions)[-1] == kNewestIsa);

constexpr uint16_t kThor = 101, kRenamedThor = 110;  // one device, renamed in PTX 9.0

}  // namespace

bool TargetSet::has(const Target& target) const {
  const uint16_t number = target.number == kThor ? kRenamedThor : target.number;
  if (number < least || number > most) return false;
  return suffix == 0 || target.suffix == 'a' || (suffix == 'f' && target.suffix == 'f');
}

std::string text_of(const TargetSet& set) {
  const auto name = [](uint16_t number) { return "sm_" + std::to_string(number); };
  if (set.suffix == 0) return name(set.least);
  std::string text = name(set.least) + "a";
  if (set.most != UINT16_MAX && set.most != set.least) text += " to " + name(set.most) + "a";
  return text;
}

std::optional<Target> find_target(std::string_view text) {
  for (std::string_view prefix : {"sm_", "compute_"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    Target target;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), target.number);
    if (error != std::errc()) return std::nullopt;
    const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (rest.size() > 1 || (!rest.empty() && rest != "a" && rest != "f")) return std::nullopt;
    target.suffix = rest.empty() ? '\0' : rest[0];
    const auto row = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const Row& r) { return r.number == target.number; });
    if (row == std::end(kTargets)) return std::nullopt;
    target.min_isa = target.suffix == 'a'   ? row->min_isa_arch
                     : target.suffix == 'f' ? row->min_isa_family
                                            : row->min_isa;
    if (target.min_isa == 0) return std::nullopt;
    return target;
  }
  return std::nullopt;
}

bool runs_on(const Target& target, uint32_t capability) {
  constexpr uint32_t kUnitsOfMajor = 10;
  if (target.suffix == 'a') return target.number == capability;
  if (target.number > capability) return false;
  return target.suffix == 0 || target.number / kUnitsOfMajor == capability / kUnitsOfMajor;
}

bool is_isa_version(uint32_t version) {
  return std::find(std::begin(kVersions), std::end(kVersions), version) != std::end(kVersions);
}

}  // namespace km::ptx
