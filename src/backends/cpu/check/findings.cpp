#include "backends/cpu/check/findings.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <sstream>

#include "base/check/source_position.h"
#include "base/env.h"
#include "base/file/file.h"
#include "base/printable.h"

namespace km::cpu {
namespace {

constexpr char kSeparator = '\x1f';  // between the fields of a record

/// The text of the line, if the file can be read; otherwise nothing.
std::string source_line(const std::string& position) {
  constexpr uint64_t kMostBytes = 16 << 20;
  const SourcePosition place = SourcePosition::of(position);
  if (place.line == 0) return {};
  const Result<std::string> text = read_file(place.file, kMostBytes);
  if (!text) return {};
  std::istringstream lines(*text);
  std::string line;
  for (uint64_t number = 0; number < place.line; ++number) {
    if (!std::getline(lines, line)) return {};
  }
  if (line.ends_with('\r')) line.pop_back();
  return printable_name(line);
}

/// The text of the line as it is shown.
std::string quoted_line(const std::string& position) {
  const std::string line = source_line(position);
  return line.empty() ? "" : "    > " + line + '\n';
}

/// The place of a call of the host, whose position is its stack.
std::string text_of_call(const FindingPlace& place) {
  return "  " + place.what + (place.position.empty() ? "" : ", from " + place.position) + '\n';
}

std::string text_of(const FindingPlace& place, const char* order) {
  if (place.is_of_call()) return text_of_call(place);
  std::string text = std::string("  ") + order + place.what + " by ";
  text += place.work.empty() ? "thread " + place.thread + " of block " + place.block : place.work;
  const SourcePosition at = SourcePosition::of(place.position);
  if (!at.whole.empty()) text += ", at " + at.whole;
  text += '\n' + quoted_line(place.position);
  for (const std::string& caller : at.callers) {
    text += "    inlined at " + caller + '\n' + quoted_line(caller);
  }
  return text;
}

/// The words before the other access.
std::string order_text(const Finding& finding) {
  if (!finding.other.work.empty()) return "without an order after a ";
  const std::string relation = finding.relation.empty() ? "after a" : finding.relation;
  return relation + (finding.other.what.starts_with("atomic") ? "n " : " ");
}

/// The work without its stream, because programs do one thing in many.
std::string kind_of_work(const FindingPlace& place) {
  return place.work.substr(0, place.work.rfind(" in stream "));
}

/// The line of a position, and the calls in whose place it stands.
std::string line_of(const FindingPlace& place) {
  const SourcePosition at = SourcePosition::of(place.position);
  return SourcePosition::with_callers(at.text, at.callers);
}

/// The properties in which equal findings agree.
std::string key_of(const Finding& finding) {
  std::string key;
  for (const std::string& part :
       {finding.tool, finding.kind, finding.kernel, line_of(finding.place), line_of(finding.other),
        kind_of_work(finding.place), kind_of_work(finding.other)}) {
    key += part + kSeparator;
  }
  // Calls of the host are of one kind only if they name as much memory.
  return finding.place.is_of_call() ? key + finding.place.what : key;
}

/// The environment's rules, which load_config() has tested.
FindingFilter filter_of_environment() {
  Result<FindingFilter> filter = FindingFilter::from_environment();
  return filter ? std::move(*filter) : FindingFilter();
}

}  // namespace

Findings::Findings() : filter_(filter_of_environment()) {}

Findings& Findings::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static Findings& findings = *new Findings;
  return findings;
}

void Findings::add(const Finding& finding, bool prints) {
  if (!filter_.wants(finding.kernel)) return;
  const std::lock_guard lock(mutex_);
  auto [at, is_new] = all_.try_emplace(key_of(finding));
  at->second.count += finding.count;
  if (!is_new) return;
  at->second.number = all_.size();
  tell_finding(at->second.number, finding);
  if (filter_.suppresses({finding.tool, finding.kind, finding.kernel, finding.place.position,
                          finding.other.position})) {
    return;
  }
  const Result<bool> wanted = env_flag(EnvVar::KM_CHECK_PRINT, true);
  if (prints && (!wanted || *wanted) && printed_++ < kMostPrinted) print(finding);
}

void Findings::print(const Finding& finding) const {
  std::string text = "kernelmill check: " + finding.tool + ": " + finding.message + '\n';
  const char* const what = finding.place.is_of_call() ? "  call " : "  kernel ";
  if (!finding.kernel.empty()) text += what + finding.kernel + '\n';
  if (!finding.place.what.empty()) text += text_of(finding.place, "");
  if (!finding.other.what.empty()) text += text_of(finding.other, order_text(finding).c_str());
  if (!finding.allocation.empty()) text += "  address " + finding.allocation + '\n';
  if (!finding.advice.empty()) text += "  " + finding.advice + '\n';
  if (printed_ == kMostPrinted) text += "kernelmill check: further findings are only counted\n";
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

/// Appends a record to the command's file by one write, so that those of several processes stay
/// whole.
void Findings::tell(const std::string& line) {
  const std::optional<std::string> path = env(EnvVar::KM_CHECK_REPORT);
  if (!path) return;
  const Result<File> file = open_to_append(*path);
  if (file) static_cast<void>(file->write_all(line.data(), line.size()));
}

void Findings::tell_finding(uint64_t number, const Finding& finding) {
  std::string line = "finding" + std::string(1, kSeparator) + std::to_string(getpid());
  const auto add = [&](const std::string& field) { line += kSeparator + printable_name(field); };
  add(std::to_string(number));
  for (const std::string* const field : {&finding.tool, &finding.kind, &finding.kernel,
                                         &finding.message, &finding.allocation, &finding.advice}) {
    add(*field);
  }
  add(std::to_string(finding.address));
  add(std::to_string(finding.size_bytes));
  for (const FindingPlace* const place : {&finding.place, &finding.other}) {
    for (const std::string* const field :
         {&place->what, &place->position, &place->block, &place->thread, &place->work}) {
      add(*field);
    }
  }
  tell(line + '\n');
}

void Findings::note_orders(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++orders_[reason];
}

void Findings::finish() {
  const std::lock_guard lock(mutex_);
  std::string counts;
  for (const auto& [key, kept] : all_) {
    counts += "count" + std::string(1, kSeparator) + std::to_string(getpid()) + kSeparator +
              std::to_string(kept.number) + kSeparator + std::to_string(kept.count) + '\n';
  }
  for (const auto& [reason, count] : orders_) {
    counts += "orders" + std::string(1, kSeparator) + std::to_string(getpid()) + kSeparator +
              reason + kSeparator + std::to_string(count) + '\n';
  }
  if (!counts.empty()) tell(counts);
}

}  // namespace km::cpu
