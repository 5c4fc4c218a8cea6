#include "core/profiler/profile_text.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "base/printable.h"
#include "core/profiler/profile_counters.h"

namespace km {
namespace {

struct Unit {
  double size;
  const char* name;
};

/// Formats the amount with three digits in the largest unit that it reaches.
template <size_t Count>
std::string in_units(double amount, const Unit (&units)[Count]) {
  const Unit* unit = units;
  while (unit + 1 < units + Count && amount >= (unit + 1)->size) ++unit;
  const double shown = amount / unit->size;
  std::string text;
  append_format(&text, "%.*f %s", shown >= 100 ? 0 : shown >= 10 ? 1 : 2, shown, unit->name);
  return text;
}

double mean_occupancy(const Profiler::Row& row) {
  return row.count == 0 ? 0 : 100 * row.occupancy_sum / static_cast<double>(row.count);
}

double in_us(uint64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

void append_format(std::string* out, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  *out += text;
}

std::string giga_per_second(uint64_t amount, uint64_t ns) {
  if (amount == 0) return "-";
  std::string text;
  append_format(&text, "%.2f", ns == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(ns));
  return text;
}

std::string occupancy_text(const Profiler::Row& row) {
  if (row.kind != KM_PROFILE_KIND_KERNEL) return "-";
  std::string text;
  append_format(&text, "%.0f%%", mean_occupancy(row));
  return text;
}

std::string time_text(uint64_t ns) {
  constexpr Unit kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  if (ns == 0) return "0";
  return in_units(static_cast<double>(ns), kUnits);
}

std::string bytes_text(uint64_t size_bytes) {
  constexpr Unit kUnits[] = {{1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}};
  if (size_bytes < 1024) return std::to_string(size_bytes) + " B";
  return in_units(static_cast<double>(size_bytes), kUnits);
}

std::string profile_summary(const Profiler& profiler) {
  std::string out;
  append_format(&out, "%-32s %-9s %9s %11s %10s %10s %10s %8s %9s %5s\n", "name", "kind", "count",
                "total ms", "mean us", "min us", "max us", "GB/s", "GFLOP/s", "occ.");
  const std::vector<Profiler::Row> rows = profiler.rows();
  for (const Profiler::Row& row : rows) {
    append_format(&out, "%-32.32s %-9s %9" PRIu64 " %11.3f %10.2f %10.2f %10.2f %8s %9s %5s\n",
                  printable_name(row.name).c_str(), profile_kind_name(row.kind), row.count,
                  in_us(row.total_ns) / 1000, in_us(row.total_ns / row.count), in_us(row.min_ns),
                  in_us(row.max_ns), giga_per_second(row.size_bytes, row.total_ns).c_str(),
                  giga_per_second(row.operations, row.total_ns).c_str(),
                  occupancy_text(row).c_str());
  }
  const std::string counters = counters_summary(rows);
  return counters.empty() ? out : out + "\n" + counters;
}

}  // namespace km
