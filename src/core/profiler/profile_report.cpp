// Profiles for people: a table as text, and a page with tables and plots.
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "base/file_writer.h"
#include "base/text.h"
#include "core/profiler/profiler.h"

namespace km {
namespace {

[[gnu::format(printf, 2, 3)]] void append(std::string* out, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  *out += text;
}

double per_second(uint64_t amount, uint64_t ns) {
  return ns == 0 ? 0 : static_cast<double>(amount) * 1e9 / static_cast<double>(ns);
}

double mean_occupancy(const Profiler::Row& row) {
  return row.count == 0 ? 0 : 100 * row.occupancy_sum / static_cast<double>(row.count);
}

std::string in_giga(uint64_t amount, uint64_t ns) {
  if (amount == 0) return "-";
  std::string text;
  append(&text, "%.2f", per_second(amount, ns) / 1e9);
  return text;
}

std::string occupancy_text(const Profiler::Row& row) {
  std::string text = "-";
  if (row.kind == KM_PROFILE_KIND_KERNEL) {
    text.clear();
    append(&text, "%.0f%%", mean_occupancy(row));
  }
  return text;
}

double in_us(uint64_t ns) { return static_cast<double>(ns) / 1000; }

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

constexpr const char* kPage = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Kernelmill profile</title>
<style>
body { font: 14px sans-serif; margin: 2em auto; max-width: 64em; color: #222; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
svg { width: 100%; background: #fafafa; border: 1px solid #ddd; }
svg text { font: 11px sans-serif; }
.kernel { fill: #3b7dd8; } .copy, .upload, .download { fill: #e2863b; } .fill { fill: #b9a13a; }
.callback { fill: #8e5bb5; } .range { fill: #4a9d5b; } .wait { fill: #bbb; }
.memory { fill: none; stroke: #c0392b; stroke-width: 1.5; }
</style></head><body>
<h1>Kernelmill profile</h1>
)";

constexpr double kWidth = 1000, kRow = 22;
/// A page with more shapes than this is slow to open.
constexpr size_t kMostShapes = 4000;

struct Span {
  uint64_t begin_ns = UINT64_MAX, end_ns = 0;
  double x(uint64_t time_ns) const {
    const double all = static_cast<double>(std::max<uint64_t>(end_ns - begin_ns, 1));
    return static_cast<double>(time_ns - begin_ns) / all * kWidth;
  }
  bool is_empty() const { return begin_ns > end_ns; }
};

Span span_of(const Profiler::Snapshot& profile) {
  Span span;
  for (const Profiler::Event& event : profile.events) {
    span.begin_ns = std::min(span.begin_ns, event.begin_ns);
    span.end_ns = std::max(span.end_ns, event.end_ns);
  }
  for (const Profiler::MemorySample& sample : profile.memory) {
    span.begin_ns = std::min(span.begin_ns, sample.time_ns);
    span.end_ns = std::max(span.end_ns, sample.time_ns);
  }
  return span;
}

void append_table(const Profiler::Snapshot& profile, std::string* out) {
  *out +=
      "<table class=\"profile\"><tr><th>name</th><th>kind</th><th>count</th><th>total ms</th>"
      "<th>mean us</th><th>min us</th><th>max us</th><th>GB/s</th><th>GFLOP/s</th>"
      "<th>occupancy</th></tr>\n";
  for (const Profiler::Row& row : profile.rows) {
    *out += "<tr><td>" + escaped(row.name) + "</td><td>" + profile_kind_name(row.kind) + "</td>";
    append(out, "<td>%" PRIu64 "</td><td>%.3f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td>",
           row.count, in_us(row.total_ns) / 1000, in_us(row.total_ns / row.count),
           in_us(row.min_ns), in_us(row.max_ns));
    *out += "<td>" + in_giga(row.size_bytes, row.total_ns) + "</td><td>" +
            in_giga(row.operations, row.total_ns) + "</td><td>" + occupancy_text(row) +
            "</td></tr>\n";
  }
  *out += "</table>\n";
}

/// Draws the device's time by kind of work.
void append_bars(const Profiler::Snapshot& profile, std::string* out) {
  std::vector<const Profiler::Row*> rows;
  for (const Profiler::Row& row : profile.rows) {
    if (row.kind < KM_PROFILE_KIND_RANGE && rows.size() < 20) rows.push_back(&row);
  }
  if (rows.empty()) return;
  append(out, "<h3>Time on the device</h3>\n<svg class=\"bars\" viewBox=\"0 0 %.0f %.0f\">\n",
         kWidth, kRow * static_cast<double>(rows.size()));
  const double longest = static_cast<double>(std::max<uint64_t>(rows[0]->total_ns, 1));
  for (size_t i = 0; i < rows.size(); ++i) {
    const double y = kRow * static_cast<double>(i);
    append(out,
           "<rect class=\"%s\" x=\"250\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"></rect>"
           "<text x=\"4\" y=\"%.1f\">",
           profile_kind_name(rows[i]->kind), y + 3,
           static_cast<double>(rows[i]->total_ns) / longest * 650, kRow - 6, y + 15);
    *out += escaped(rows[i]->name.substr(0, 40));
    append(out, "</text><text x=\"910\" y=\"%.1f\">%.3f ms</text>\n", y + 15,
           in_us(rows[i]->total_ns) / 1000);
  }
  *out += "</svg>\n";
}

using Track = std::pair<bool, uint32_t>;  // of the host, number

Track track_of(const Profiler::Event& event) {
  return {event.kind >= KM_PROFILE_KIND_RANGE, event.track};
}

std::vector<Track> tracks_of(const Profiler::Snapshot& profile) {
  std::vector<Track> tracks;
  for (const Profiler::Event& event : profile.events) {
    if (std::find(tracks.begin(), tracks.end(), track_of(event)) == tracks.end()) {
      tracks.push_back(track_of(event));
    }
  }
  std::sort(tracks.begin(), tracks.end());
  return tracks;
}

void append_timeline(const Profiler::Snapshot& profile, const Span& span, std::string* out) {
  const std::vector<Track> tracks = tracks_of(profile);
  if (tracks.empty()) return;
  append(out, "<h3>Timeline: %.3f ms</h3>\n", in_us(span.end_ns - span.begin_ns) / 1000);
  if (profile.events.size() > kMostShapes) {
    append(out, "<p>The first %zu of %zu events; a trace has all.</p>\n", kMostShapes,
           profile.events.size());
  }
  append(out, "<svg class=\"timeline\" viewBox=\"0 0 %.0f %.0f\">\n", kWidth,
         kRow * static_cast<double>(tracks.size()));
  for (size_t i = 0; i < std::min(profile.events.size(), kMostShapes); ++i) {
    const Profiler::Event& event = profile.events[i];
    const auto track = std::find(tracks.begin(), tracks.end(), track_of(event)) - tracks.begin();
    append(out, "<rect class=\"%s\" x=\"%.3f\" y=\"%.1f\" width=\"%.3f\" height=\"%.1f\"><title>",
           profile_kind_name(event.kind), span.x(event.begin_ns),
           kRow * static_cast<double>(track) + 2,
           std::max(span.x(event.end_ns) - span.x(event.begin_ns), 0.3), kRow - 4);
    *out += escaped(profile.names[event.name]);
    append(out, ", %.2f us</title></rect>\n", in_us(event.end_ns - event.begin_ns));
  }
  for (size_t i = 0; i < tracks.size(); ++i) {
    append(out, "<text x=\"4\" y=\"%.1f\">%s %u</text>\n", kRow * static_cast<double>(i) + 15,
           tracks[i].first ? "host thread" : "stream", tracks[i].second);
  }
  *out += "</svg>\n";
}

void append_memory(const Profiler::Snapshot& profile, const Span& span, std::string* out) {
  if (profile.memory.empty()) return;
  uint64_t most = 1;
  for (const Profiler::MemorySample& sample : profile.memory) {
    most = std::max(most, sample.used_bytes);
  }
  append(out, "<h3>Device memory: at most %.3f MiB</h3>\n", static_cast<double>(most) / (1 << 20));
  append(out,
         "<svg class=\"memory-plot\" viewBox=\"0 0 %.0f 120\"><path class=\"memory\" d=\"M0 115",
         kWidth);
  const size_t step = profile.memory.size() / kMostShapes + 1;
  for (size_t i = 0; i < profile.memory.size(); i += step) {
    const Profiler::MemorySample& sample = profile.memory[i];
    append(out, " H%.2f V%.2f", span.x(sample.time_ns),
           115 - 110 * static_cast<double>(sample.used_bytes) / static_cast<double>(most));
  }
  append(out, " H%.0f\"></path></svg>\n", kWidth);
}

}  // namespace

std::string profile_summary(const Profiler& profiler) {
  std::string out;
  append(&out, "%-32s %-9s %9s %11s %10s %10s %10s %8s %9s %5s\n", "name", "kind", "count",
         "total ms", "mean us", "min us", "max us", "GB/s", "GFLOP/s", "occ.");
  for (const Profiler::Row& row : profiler.rows()) {
    append(&out, "%-32.32s %-9s %9" PRIu64 " %11.3f %10.2f %10.2f %10.2f %8s %9s %5s\n",
           row.name.c_str(), profile_kind_name(row.kind), row.count, in_us(row.total_ns) / 1000,
           in_us(row.total_ns / row.count), in_us(row.min_ns), in_us(row.max_ns),
           in_giga(row.size_bytes, row.total_ns).c_str(),
           in_giga(row.operations, row.total_ns).c_str(), occupancy_text(row).c_str());
  }
  return out;
}

Status write_report(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  std::string page = kPage;
  for (const Profiler::Snapshot& profile : snapshots) {
    const Span span = span_of(profile);
    page += "<h2>" + escaped(profile.device) + "</h2>\n";
    if (profile.dropped != 0) {
      page += "<p>In the table only: " + counted(profile.dropped, "event") + ".</p>\n";
    }
    append_table(profile, &page);
    if (span.is_empty()) continue;
    append_bars(profile, &page);
    append_timeline(profile, span, &page);
    append_memory(profile, span, &page);
  }
  page += "</body></html>\n";
  return write_file(path, page);
}

}  // namespace km
