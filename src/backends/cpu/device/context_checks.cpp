#include "backends/cpu/device/context_checks.h"

#include <algorithm>
#include <cstdio>

#include "backends/cpu/check/findings.h"
#include "backends/cpu/check/undefined_memory.h"
#include "base/check/source_position.h"
#include "base/fixed_text.h"

namespace km::cpu {
namespace {

/// Reads "(x,y,z)". Other texts, which name no single thread, give the unknown number.
void put_index(uint32_t (&index)[3], const std::string& text) {
  if (std::sscanf(text.c_str(), "(%u,%u,%u)", &index[0], &index[1], &index[2]) != 3) {
    std::fill(std::begin(index), std::end(index), UINT32_MAX);
  }
}

km_finding_place abi_place(const FindingPlace& place) {
  km_finding_place made{};
  const SourcePosition source = SourcePosition::of(place.position);
  copy_text(made.access, place.work.empty() ? place.what : place.what + " by " + place.work);
  copy_text(made.source, source.file);
  made.line = source.line;
  put_index(made.block, place.block);
  put_index(made.thread, place.thread);
  return made;
}

/// The calls in whose place the code stands, a line each.
std::string callers_of(const FindingPlace& place) {
  std::string text;
  for (const std::string& caller : SourcePosition::of(place.position).callers) {
    if (!text.empty()) text += '\n';
    text += caller;
  }
  return text;
}

}  // namespace

void ContextChecks::set(const Settings& settings) {
  const std::lock_guard lock(mutex_);
  const bool had_init = has(check_tool::kInit);
  settings_ = settings;
  given_ = 0;
  if (settings.tools != 0) is_used_ = is_any_used_ = true;
  if ((settings.tools & check_tool::kInit) != 0) UndefinedMemory::begin();
  if ((settings.tools & check_tool::kRace) == 0) {
    shadow_.reset();
  } else if (!shadow_) {
    shadow_.emplace();
  }
  // Kernels write memory without a report from now on.
  if (had_init && (settings.tools & check_tool::kInit) == 0) {
    UndefinedMemory::instance().define_all();
  }
  tells_same_values_ = settings.tells_same_values;
  tools_ = settings.tools;
}

void ContextChecks::drop_callback() {
  const std::lock_guard lock(mutex_);
  settings_.callback = nullptr;
}

bool ContextChecks::has_callback() const {
  const std::lock_guard lock(mutex_);
  return settings_.callback != nullptr;
}

void ContextChecks::add(const Finding& finding) {
  const std::lock_guard lock(mutex_);
  Findings::instance().add(finding, settings_.callback == nullptr);
  if (settings_.callback == nullptr) return;
  if (settings_.limit != 0 && given_++ >= settings_.limit) return;
  const km_finding given = abi_finding(finding);
  settings_.callback(settings_.user_data, &given);
}

km_finding abi_finding(const Finding& finding) {
  km_finding made{};
  made.struct_size = sizeof made;
  made.tool = check_tools_named(finding.tool).value_or(0);
  made.count = finding.count;
  made.address = finding.address;
  made.size_bytes = finding.size_bytes;
  made.place = abi_place(finding.place);
  made.other = abi_place(finding.other);
  copy_text(made.kind, finding.kind);
  copy_text(made.kernel, finding.kernel);
  copy_text(made.message, finding.message);
  copy_text(made.allocation, finding.allocation);
  copy_text(made.advice, finding.advice);
  copy_text(made.place_callers, callers_of(finding.place));
  copy_text(made.other_callers, callers_of(finding.other));
  return made;
}

Finding own_finding(const km_finding& finding) {
  Finding made;
  made.tool = check_tool_name(static_cast<uint16_t>(finding.tool));
  made.kind = finding.kind;
  made.kernel = finding.kernel;
  made.message = finding.message;
  made.place.what = finding.place.access;
  made.place.position = finding.place.source;
  if (finding.place.line != 0) made.place.position += ":" + std::to_string(finding.place.line);
  made.address = finding.address;
  made.size_bytes = finding.size_bytes;
  made.allocation = finding.allocation;
  made.advice = finding.advice;
  made.count = finding.count;
  return made;
}

}  // namespace km::cpu
