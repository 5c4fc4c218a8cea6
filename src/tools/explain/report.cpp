#include "tools/explain/report.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/text.h"
#include "tools/terminal/colour.h"

namespace km::tools {

using Json = nlohmann::ordered_json;

namespace {

std::string share_text(double share) {
  if (share < kLeastShownShare) return "     ";
  char text[16];
  std::snprintf(text, sizeof text, "%3.0f %%", 100 * share);
  return text;
}

/// Equal texts of one line, such as a load and a load of the same form, stand once.
void print_notes(const NotedLine& line) {
  for (const Note& note : line.notes) {
    if (note.text.empty()) continue;
    std::printf("               %s\n", painted(Colour::dim, "| " + text_of(note), stdout).c_str());
  }
}

void print_line(const NotedKernel& kernel, const NotedLine* line, uint32_t number,
                const std::string& text) {
  const double share = line == nullptr ? 0 : kernel.share(*line);
  const std::string row = share_text(share) + "  ";
  std::printf("%s%6u  %s\n", row.c_str(), number, printable_name(text).c_str());
  if (line != nullptr) print_notes(*line);
}

void print_advice(const NotedKernel& kernel) {
  const std::vector<Advice> advice = advise(kernel);
  if (advice.empty()) {
    std::printf("\nNothing stands out.\n");
    return;
  }
  std::printf("\n%s\n", painted(Colour::bold, "What to try first", stdout).c_str());
  for (size_t i = 0; i < std::min(kMostAdvice, advice.size()); ++i) {
    std::printf("  %s (%.0f %%): %s.\n", advice[i].place.c_str(), 100 * advice[i].share,
                advice[i].text.c_str());
  }
}

bool is_shown(const NotedLine& line, const std::string& file, size_t count) {
  return line.file == file && line.line != 0 && line.line <= count;
}

}  // namespace

std::string mode_text(const NotedKernel& kernel) {
  if (kernel.mode == "a") return "warps run to completion";
  if (kernel.mode == "b") return "each warp has a stack, to wait in the middle";
  return "each thread runs alone";
}

std::vector<std::pair<uint32_t, const NotedLine*>> source_lines(const NotedKernel& kernel,
                                                                const std::string& file,
                                                                size_t count) {
  std::vector<std::pair<uint32_t, const NotedLine*>> lines;
  for (const NotedLine& line : kernel.lines) {
    if (!is_shown(line, file, count)) continue;
    while (!lines.empty() && lines.back().first + 1 < line.line) {
      lines.emplace_back(lines.back().first + 1, nullptr);
    }
    lines.emplace_back(line.line, &line);
  }
  return lines;
}

std::vector<const NotedLine*> other_lines(const NotedKernel& kernel, const std::string& file,
                                          size_t count) {
  std::vector<const NotedLine*> lines;
  for (const NotedLine& line : kernel.lines) {
    if (is_shown(line, file, count) || kernel.share(line) < kLeastShownShare) continue;
    lines.push_back(&line);
  }
  return lines;
}

void print_kernel(const NotedKernel& kernel, const std::string& file,
                  const std::vector<std::string>& source) {
  std::printf("%s: %s, %s at a time\n",
              painted(Colour::bold, source_name(kernel.symbol), stdout).c_str(),
              mode_text(kernel).c_str(), counted(kernel.lanes, "thread").c_str());
  if (!kernel.reason.empty()) std::printf("because %s\n", kernel.reason.c_str());
  if (kernel.samples != 0) {
    std::printf("shares by %s while it ran\n", counted(kernel.samples, "sample").c_str());
  }
  std::printf("\n");
  for (const auto& [number, line] : source_lines(kernel, file, source.size())) {
    print_line(kernel, line, number, source[number - 1]);
  }
  for (const NotedLine* const line : other_lines(kernel, file, source.size())) {
    std::printf("%s  in %s\n", share_text(kernel.share(*line)).c_str(), place_of(*line).c_str());
    print_notes(*line);
  }
  if (kernel.engine_samples != 0) {
    std::printf("%s  in Kernelmill's own functions (blocks, barriers, atomics ...)\n",
                share_text(double(kernel.engine_samples) / kernel.samples).c_str());
  }
  print_advice(kernel);
}

Json json_of(const NotedKernel& kernel) {
  Json result{
      {"kernel", source_name(kernel.symbol)}, {"symbol", kernel.symbol}, {"mode", kernel.mode}};
  if (!kernel.reason.empty()) result["reason"] = kernel.reason;
  result["lanes"] = kernel.lanes;
  result["samples"] = kernel.samples;
  if (kernel.samples != 0) result["engine_samples"] = kernel.engine_samples;
  result["lines"] = Json::array();
  for (const NotedLine& line : kernel.lines) {
    Json notes = Json::array();
    for (const Note& note : line.notes) {
      if (note.text.empty()) continue;
      notes.push_back({{"kind", note.kind}, {"text", note.text}, {"count", note.count}});
    }
    result["lines"].push_back({{"file", line.file},
                               {"line", line.line},
                               {"share", kernel.share(line)},
                               {"notes", std::move(notes)}});
  }
  result["advice"] = Json::array();
  for (const Advice& advice : advise(kernel)) {
    result["advice"].push_back(
        {{"place", advice.place}, {"share", advice.share}, {"text", advice.text}});
  }
  return result;
}

}  // namespace km::tools
