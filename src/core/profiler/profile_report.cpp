// Writes profiles as an HTML page with tables and plots.
#include <algorithm>
#include <cinttypes>

#include "base/file/file_writer.h"
#include "base/printable.h"
#include "base/text.h"
#include "core/profiler/profile_about.h"
#include "core/profiler/profile_counters.h"
#include "core/profiler/profile_text.h"

namespace km {
namespace {

constexpr const char* kPage = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Kernelmill profile</title>
<style>
:root { color-scheme: light dark; --text: #222; --back: #fff; --plot: #fafafa; --line: #ddd;
  --quiet: #666; --kernel: #3575cf; --copy: #b3611a; --fill: #84701c; --callback: #8e5bb5;
  --range: #357f46; --wait: #707070; --compile: #bd4873; --call: #5c7693; --memory: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --back: #16181c; --plot: #1f2228;
  --line: #3a3f47; --quiet: #9aa0a8; --memory: #e8695b; } }
body { font: 14px system-ui, sans-serif; margin: 1.5em auto; padding: 0 1em; max-width: 70em;
  color: var(--text); background: var(--back); }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; } h3 { font-size: 1em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 1em; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.wide, .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 10em; }
svg { display: block; width: 100%; } svg text { font: 11px system-ui, sans-serif; }
.share { display: flex; justify-content: space-between; gap: 1em; margin-top: 6px; }
.share span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.share span:last-child { white-space: nowrap; color: var(--quiet); }
.bars { background: var(--plot); }
.plot input { margin: 0 4px 2px 8px; vertical-align: middle; } .zoom, .key { color: var(--quiet); }
.key > span { white-space: nowrap; margin-right: 1em; display: inline-block; }
.scroll { border: 1px solid var(--line); background: var(--plot); margin-top: 6px; }
.canvas { position: relative; width: 100%; padding: 20px 0 4px; }
.axis, .arrows { position: absolute; inset: 0; height: 100%; }
.arrows { opacity: .6; }
.arrows line { stroke: var(--quiet); } .arrows circle { fill: var(--quiet); }
.axis line { stroke: var(--line); } .axis text { fill: var(--quiet); }
.axis g { display: none; }
@media (max-width: 700px) { .axis text:nth-of-type(even) { display: none; } }
.by1:checked ~ .scroll .at1, .by4:checked ~ .scroll .at4, .by16:checked ~ .scroll .at16,
.by64:checked ~ .scroll .at64 { display: inline; }
.by4:checked ~ .scroll .canvas { width: 400%; } .by16:checked ~ .scroll .canvas { width: 1600%; }
.by64:checked ~ .scroll .canvas { width: 6400%; }
.lane { position: relative; }
.label { position: sticky; left: 0; width: max-content; padding: 3px 4px 0; font-size: 11px;
  color: var(--quiet); height: 17px; line-height: 14px; box-sizing: border-box;
  text-shadow: 0 0 2px var(--plot), 0 0 2px var(--plot), 0 0 2px var(--plot); }
.timeline rect { stroke-width: .5px; } .name text { fill: #fff; }
.timeline .named { stroke: var(--plot); stroke-width: 1px; }
.kernel { fill: var(--kernel); stroke: var(--kernel); color: var(--kernel); }
.copy, .upload, .download { fill: var(--copy); stroke: var(--copy); color: var(--copy); }
.fill { fill: var(--fill); stroke: var(--fill); color: var(--fill); }
.callback { fill: var(--callback); stroke: var(--callback); color: var(--callback); }
.range { fill: var(--range); stroke: var(--range); color: var(--range); }
.wait { fill: var(--wait); stroke: var(--wait); color: var(--wait); }
.compile { fill: var(--compile); stroke: var(--compile); color: var(--compile); }
.call { fill: var(--call); stroke: var(--call); color: var(--call); }
.memory { fill: none; stroke: var(--memory); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
</style></head><body>
<h1>Kernelmill profile</h1>
)";

void append_about(std::string* out) {
  const ProfileAbout about = about_this_profile();
  *out += "<dl><dt>program</dt><dd>" + escape_html(about.program) + "</dd>\n<dt>machine</dt><dd>" +
          escape_html(about.machine) + "</dd>\n<dt>date</dt><dd>" + escape_html(about.date) +
          "</dd>\n<dt>library</dt><dd>" + escape_html(about.library) + "</dd></dl>\n";
}

void append_key(std::string* out) {
  constexpr std::pair<const char*, const char*> kKinds[] = {
      {"kernel", "kernel"},    {"copy", "copy"},
      {"fill", "fill"},        {"callback", "callback"},
      {"range", "range"},      {"wait", "wait"},
      {"compile", "compiler"}, {"call", "call of the host"}};
  *out += "<p class=\"key\">";
  for (const auto& [kind, text] : kKinds) {
    append_format(out, "<span><span class=\"%s\">&#9632;</span> %s</span>\n", kind, text);
  }
  *out += "</p>\n";
}

void append_table(const Profiler::Snapshot& profile, std::string* out) {
  *out +=
      "<div class=\"wide\"><table class=\"profile\"><tr><th>name</th><th>kind</th><th>count</th>"
      "<th>total</th><th>mean</th><th>min</th><th>max</th><th>GB/s</th>"
      "<th>GFLOP/s</th><th>occupancy</th></tr>\n";
  for (const Profiler::Row& row : profile.rows) {
    *out +=
        "<tr><td>" + escape_html(row.name) + "</td><td>" + profile_kind_name(row.kind) + "</td>";
    append_format(out, "<td>%" PRIu64 "</td>", row.count);
    for (const uint64_t time_ns :
         {row.total_ns, row.total_ns / row.count, row.min_ns, row.max_ns}) {
      *out += "<td>" + time_text(time_ns) + "</td>";
    }
    *out += "<td>" + giga_per_second(row.size_bytes, row.total_ns) + "</td><td>" +
            giga_per_second(row.operations, row.total_ns) + "</td><td>" + occupancy_text(row) +
            "</td></tr>\n";
  }
  *out += "</table></div>\n";
}

/// Draws the share of each kind of work in the device's time.
void append_bars(const Profiler::Snapshot& profile, std::string* out) {
  constexpr size_t kMostBars = 20;
  uint64_t all_ns = 0;
  for (const Profiler::Row& row : profile.rows) {
    if (!is_of_host(row.kind)) all_ns += row.total_ns;
  }
  if (all_ns == 0) return;
  *out += "<h3>Time on the device</h3>\n";
  size_t shown = 0;
  for (const Profiler::Row& row : profile.rows) {
    if (is_of_host(row.kind) || ++shown > kMostBars) break;
    const double share = 100 * static_cast<double>(row.total_ns) / static_cast<double>(all_ns);
    *out += "<div class=\"share\"><span>" + escape_html(row.name) + "</span><span>" +
            time_text(row.total_ns);
    append_format(out,
                  ", %.1f%%</span></div>\n<svg class=\"bars\" height=\"8\"><rect class=\"%s\" "
                  "width=\"%.3f%%\" height=\"8\"></rect></svg>\n",
                  share, profile_kind_name(row.kind), share);
  }
}

void append_profile(const Profiler::Snapshot& profile, size_t number, std::string* page) {
  *page += "<h2>" + escape_html(profile.device) + "</h2>\n";
  if (profile.events.empty() && profile.dropped == 0) {
    *page += std::string("<p class=\"empty\">") + kEmptyProfile + "</p>\n";
  }
  if (profile.dropped != 0) {
    *page += "<p>In the table only: " + counted(profile.dropped, "event") + ".</p>\n";
  }
  if (!profile.rows.empty()) append_table(profile, page);
  append_counters(profile.rows, page);
  append_bars(profile, page);
  append_timeline(profile, number, page);
}

}  // namespace

Status write_report(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  std::string page = kPage;
  append_about(&page);
  append_key(&page);
  size_t number = 0;
  for (const Profiler::Snapshot& profile : snapshots) append_profile(profile, ++number, &page);
  page += "</body></html>\n";
  return write_file(path, page);
}

}  // namespace km
