#include "tools/explain/report.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/text.h"
#include "tools/terminal/colour.h"

namespace km::tools {

using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kMostAdvice = 5;

/// "warps run to completion".
std::string mode_text(const NotedKernel& kernel) {
  if (kernel.mode == "a") return "warps run to completion";
  if (kernel.mode == "b") return "each warp has a stack, to wait in the middle";
  return "each thread runs alone";
}

std::string share_text(double share) {
  if (share < 0.005) return "     ";
  char text[16];
  std::snprintf(text, sizeof text, "%3.0f %%", 100 * share);
  return text;
}

/// Equal texts of one line, such as a load and a load of the same form, stand once.
void print_notes(const NotedLine& line) {
  for (const Note& note : line.notes) {
    if (note.text.empty()) continue;
    const std::string times = note.count > 1 ? " (" + std::to_string(note.count) + " times)" : "";
    std::printf("               %s\n",
                painted(Colour::dim, "| " + note.text + times, stdout).c_str());
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

}  // namespace

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
  uint32_t next = 0;  // the source line to go on from, after the first
  for (const NotedLine& line : kernel.lines) {
    if (line.file != file || line.line == 0 || line.line > source.size()) continue;
    while (next != 0 && next < line.line) {
      print_line(kernel, nullptr, next, source[next - 1]);
      ++next;
    }
    print_line(kernel, &line, line.line, source[line.line - 1]);
    next = line.line + 1;
  }
  for (const NotedLine& line : kernel.lines) {
    const bool is_shown = line.file == file && line.line <= source.size();
    if (is_shown || kernel.share(line) < 0.005) continue;
    std::printf("%s  in %s\n", share_text(kernel.share(line)).c_str(), place_of(line).c_str());
    print_notes(line);
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
