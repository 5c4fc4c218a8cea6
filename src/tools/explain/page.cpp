#include "tools/explain/page.h"

#include <algorithm>
#include <cstdio>

#include "base/file/named_file.h"
#include "base/printable.h"
#include "base/text.h"
#include "tools/explain/report.h"

namespace km::tools {
namespace {

// Rules beside those of the report, whose tables have names in their first two columns.
constexpr const char* kStyle = R"(table.lines td { border: 0; padding: 0 8px; }
table.lines td:first-child { min-width: 3em; text-align: right; color: var(--quiet); }
table.lines td:nth-child(2) { width: 100%; font-family: ui-monospace, monospace;
  white-space: pre-wrap; }
.lines small { display: block; color: var(--quiet); font-family: system-ui, sans-serif; }
.lines .hot { color: var(--memory); font-weight: bold; }
)";

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

void append_notes(const NotedLine& line, std::string* out) {
  for (const Note& note : line.notes) {
    if (note.text.empty()) continue;
    *out += "<small>" + escape_html(text_of(note)) + "</small>";
  }
}

/// Appends a row: the line's number, its text with the notes, and its share.
void append_row(const NotedKernel& kernel, const std::string& place, const std::string& text,
                const NotedLine* line, std::string* out) {
  constexpr double kHotShare = 0.1;
  *out += "<tr><td>" + place + "</td><td>" + escape_html(text);
  if (line != nullptr) append_notes(*line, out);
  const double share = line == nullptr ? 0 : kernel.share(*line);
  *out += share < kHotShare ? "</td><td>" : "</td><td class=\"hot\">";
  *out += (share < kLeastShownShare ? "" : percent(share)) + "</td></tr>\n";
}

void append_table(const NotedKernel& kernel, std::string* out) {
  const std::string file = main_file(kernel);
  std::vector<std::string> source;
  if (!file.empty()) {
    if (const auto text = read_named_file(file)) source = split(*text, '\n');
  }
  *out += "<div class=\"wide\"><table class=\"lines\">\n";
  for (const auto& [number, line] : source_lines(kernel, file, source.size())) {
    append_row(kernel, std::to_string(number), source[number - 1], line, out);
  }
  for (const NotedLine* const line : other_lines(kernel, file, source.size())) {
    append_row(kernel, "", place_of(*line), line, out);
  }
  *out += "</table></div>\n";
}

void append_advice(const NotedKernel& kernel, std::string* out) {
  std::vector<Advice> advice = advise(kernel);
  if (advice.empty()) return;
  advice.resize(std::min(kMostAdvice, advice.size()));
  *out += "<p>What to try first:</p>\n<ul>\n";
  for (const Advice& each : advice) {
    *out += "<li>" + escape_html(each.place) + " (" + percent(each.share) +
            "): " + escape_html(each.text) + ".</li>\n";
  }
  *out += "</ul>\n";
}

void append_kernel(const NotedKernel& kernel, std::string* out) {
  *out += "<h3>" + escape_html(source_name(kernel.symbol)) + "</h3>\n<p>" +
          escape_html(mode_text(kernel) + ", " + counted(kernel.lanes, "thread") + " at a time");
  if (!kernel.reason.empty()) *out += escape_html(", because " + kernel.reason);
  *out += kernel.samples == 0
              ? ". It ran too shortly to be sampled: shares are estimates.</p>\n"
              : ". Shares are of " + counted(kernel.samples, "sample") + " of its time.</p>\n";
  append_table(kernel, out);
  if (kernel.engine_samples != 0) {
    *out += "<p>" + percent(double(kernel.engine_samples) / kernel.samples) +
            " in Kernelmill's own functions (blocks, barriers, atomics ...)</p>\n";
  }
  append_advice(kernel, out);
}

}  // namespace

bool add_lines(std::vector<NotedKernel> kernels, std::string* page) {
  const size_t head = page->find("</style>"), end = page->rfind("</body>");
  if (head == std::string::npos || end == std::string::npos || end < head) return false;
  std::stable_sort(kernels.begin(), kernels.end(), [](const NotedKernel& a, const NotedKernel& b) {
    return a.samples > b.samples;
  });
  std::string part = "<h2>Lines of kernels</h2>\n";
  if (kernels.empty()) part += "<p>No kernel's code was made for a CPU device.</p>\n";
  for (const NotedKernel& kernel : kernels) append_kernel(kernel, &part);
  page->insert(end, part);
  page->insert(head, kStyle);
  return true;
}

}  // namespace km::tools
