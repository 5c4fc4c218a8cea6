#include "core/profiler/profile_counters.h"

#include <algorithm>
#include <array>
#include <cinttypes>

#include "backend/counts.h"
#include "base/assert.h"
#include "base/printable.h"
#include "core/profiler/profile_text.h"

namespace km {
namespace {

constexpr size_t kKinds = KM_COUNTER_KIND_INSTRUCTION + 1;
constexpr size_t kShownLines = 5;  // of each class, for a kernel

/// Events that are compared with each other: accesses to global memory, to shared memory, branches.
enum class Class : uint8_t { global, shared, branch, none };

Class class_of(km_counter_kind kind) {
  if (kind <= KM_COUNTER_KIND_GLOBAL_ATOMIC) return Class::global;
  if (kind <= KM_COUNTER_KIND_SHARED_ATOMIC) return Class::shared;
  return kind == KM_COUNTER_KIND_BRANCH ? Class::branch : Class::none;
}

std::string ratio_text(uint64_t amount, uint64_t of) {
  std::string text;
  append_format(&text, "%.2f", static_cast<double>(amount) / static_cast<double>(of));
  return text;
}

std::string excess_text(const Profiler::Counter& counter) {
  std::string text;
  const uint64_t excess = counter.excess();
  switch (class_of(counter.kind)) {
    case Class::global:
      append_format(&text, "%" PRIu64 " sectors", excess);
      break;
    case Class::shared:
      append_format(&text, "%" PRIu64 " bank conflicts", excess);
      break;
    case Class::branch:
      append_format(
          &text, "%" PRIu64 " divergent, efficiency %.1f%%", excess,
          100 - 100 * static_cast<double>(excess) / static_cast<double>(counter.counts.requests));
      break;
    case Class::none:
      return "-";
  }
  return text;
}

/// The end of a position, which has the name of the file and the line.
std::string shortened(const std::string& position) {
  constexpr size_t kMost = 32;
  if (position.size() <= kMost) return position;
  return "..." + position.substr(position.size() - kMost + 3);
}

void append_row(const std::string& name, const Profiler::Counter& counter, std::string* out) {
  const CounterText text = text_of(counter);
  append_format(out, "%-32.32s %-13s %12s %12s %12s %8s  %s\n", name.c_str(),
                counter_name(counter.kind), text.requests.c_str(), text.threads.c_str(),
                text.taken.c_str(), text.ideal.c_str(), text.excess.c_str());
}

constexpr const char* kHeadings[] = {"event",       "requests", "threads per request",
                                     "per request", "ideal",    "excess"};

void append_cells(const std::string& name, const Profiler::Counter& counter, std::string* out) {
  const CounterText text = text_of(counter);
  *out += "<tr><td>" + escape_html(name) + "</td><td>" + counter_name(counter.kind) + "</td>";
  for (const std::string& cell :
       {text.requests, text.threads, text.taken, text.ideal, text.excess}) {
    *out += "<td>" + cell + "</td>";
  }
  *out += "</tr>\n";
}

void begin_table(const char* first, std::string* out) {
  *out += std::string("<div class=\"wide\"><table class=\"counters\"><tr><th>") + first + "</th>";
  for (const char* heading : kHeadings) *out += std::string("<th>") + heading + "</th>";
  *out += "</tr>\n";
}

}  // namespace

const char* counter_name(km_counter_kind kind) {
  constexpr std::array<const char*, kKinds> kNames = {
      "invalid",      "global load",   "global store", "global atomic", "shared load",
      "shared store", "shared atomic", "branch",       "instruction"};
  KM_ASSERT(static_cast<size_t>(kind) < kNames.size(), "each kind of counter has its name");
  return kNames[static_cast<size_t>(kind)];
}

const char* counter_unit(km_counter_kind kind) {
  switch (class_of(kind)) {
    case Class::global:
      return "sectors";
    case Class::shared:
      return "wavefronts";
    case Class::branch:
      return "divergent";
    case Class::none:
      break;
  }
  return nullptr;
}

std::vector<Profiler::Counter> totals_of(const Profiler::Row& row) {
  std::array<kmb_counts, kKinds> sums{};
  for (const Profiler::Counter& counter : row.counters) {
    add_counts(counter.counts, sums[static_cast<size_t>(counter.kind)]);
  }
  std::vector<Profiler::Counter> totals;
  for (size_t kind = 1; kind < kKinds; ++kind) {
    if (sums[kind].requests == 0) continue;
    totals.push_back({"", static_cast<km_counter_kind>(kind), sums[kind]});
  }
  return totals;
}

std::vector<Profiler::Counter> worst_of(const Profiler::Row& row, size_t most) {
  std::vector<Profiler::Counter> worst;
  for (const Class each : {Class::global, Class::shared, Class::branch}) {
    std::vector<Profiler::Counter> found;
    for (const Profiler::Counter& counter : row.counters) {
      if (class_of(counter.kind) == each && counter.excess() != 0) found.push_back(counter);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.excess() > b.excess(); });
    found.resize(std::min(found.size(), most));
    worst.insert(worst.end(), found.begin(), found.end());
  }
  return worst;
}

CounterText text_of(const Profiler::Counter& counter) {
  const kmb_counts& counts = counter.counts;
  CounterText text;
  text.requests = std::to_string(counts.requests);
  text.threads = ratio_text(counts.threads, counts.requests);
  const Class own = class_of(counter.kind);
  const bool has_ideal = own == Class::global || own == Class::shared;
  text.taken = has_ideal ? ratio_text(counts.taken, counts.requests) : "-";
  text.ideal = has_ideal ? ratio_text(counts.ideal, counts.requests) : "-";
  text.excess = excess_text(counter);
  return text;
}

bool has_counters(const std::vector<Profiler::Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Profiler::Row& row) { return !row.counters.empty(); });
}

std::string counters_summary(const std::vector<Profiler::Row>& rows) {
  std::string out, lines;
  const auto begin = [](const char* first, std::string* table) {
    append_format(table, "%-32s %-13s %12s %12s %12s %8s  %s\n", first, "event", "requests",
                  "threads/req", "taken/req", "ideal", "excess");
  };
  if (!has_counters(rows)) return out;
  begin("kernel", &out);
  for (const Profiler::Row& row : rows) {
    const std::string name = printable_name(row.name);
    for (const Profiler::Counter& counter : totals_of(row)) append_row(name, counter, &out);
    for (const Profiler::Counter& counter : worst_of(row, kShownLines)) {
      append_row(shortened(printable_name(counter.position)), counter, &lines);
    }
  }
  if (lines.empty()) return out;
  begin("line with the most excess", &out);
  return out + lines;
}

void append_counters(const std::vector<Profiler::Row>& rows, std::string* page) {
  if (!has_counters(rows)) return;
  *page += "<h3>What warps did</h3>\n";
  begin_table("kernel", page);
  std::string lines;
  for (const Profiler::Row& row : rows) {
    for (const Profiler::Counter& counter : totals_of(row)) append_cells(row.name, counter, page);
    for (const Profiler::Counter& counter : worst_of(row, kShownLines)) {
      append_cells(counter.position, counter, &lines);
    }
  }
  *page += "</table></div>\n";
  if (lines.empty()) return;
  *page += "<h3>Lines with the most excess</h3>\n";
  begin_table("line", page);
  *page += lines + "</table></div>\n";
}

}  // namespace km
