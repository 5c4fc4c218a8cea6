#include "tools/check/sanitizer_text.h"

#include <algorithm>

#include "base/text.h"

namespace km::tools {
namespace {

constexpr const char* kBar = "========= ";

std::string line(const std::string& text) { return kBar + text + '\n'; }

std::string more(const std::string& text) { return kBar + ("    " + text) + '\n'; }

std::string at(const ToldFinding& finding, const ToldPlace& place) {
  const SourcePosition source = place.source();
  if (source.line == 0 && !place.work.empty()) return place.what;
  return "at " + finding.kernel + " in " + source.file + ":" + std::to_string(source.line);
}

std::string by(const ToldPlace& place) {
  if (!place.work.empty()) return "by " + place.work;
  return "by thread " + place.thread + " in block " + place.block;
}

/// "write" of "write of 4 bytes".
std::string verb_of(const ToldPlace& place) { return place.what.substr(0, place.what.find(' ')); }

std::string space_of(const ToldFinding& finding) {
  const bool is_shared = finding.allocation.find("shared memory") != std::string::npos;
  return is_shared ? "__shared__" : "__global__";
}

std::string race_text(const ToldFinding& finding) {
  const auto side = [&](const ToldPlace& place) {
    std::string verb = verb_of(place);
    if (!verb.empty()) verb[0] = static_cast<char>(std::toupper(verb[0]));
    return verb + " access " + at(finding, place);
  };
  return line("Error: Race reported between " + side(finding.place)) +
         more("and " + side(finding.other) + " [" + std::to_string(finding.count) + " hazards]");
}

std::string leak_text(const ToldFinding& finding) {
  return line("Leaked " + counted(finding.size_bytes, "byte") + " at " + hex(finding.address)) +
         more("Allocated by " + finding.kernel) + more("from " + finding.place.position);
}

/// A call of the host with an address that is wrong.
std::string call_text(const ToldFinding& finding) {
  return line("Program hit " + finding.kind + " on call to " + finding.kernel + ": " +
              finding.message) +
         more("Address " + finding.allocation) + more("from " + finding.place.position);
}

/// The sum of what was leaked, which the tool prints if it was looked for.
std::string leak_summary(const std::vector<ToldFinding>& findings) {
  uint64_t bytes = 0, count = 0;
  for (const ToldFinding& finding : findings) {
    if (finding.tool != "leak") continue;
    bytes += finding.size_bytes * finding.count;
    count += finding.count;
  }
  return line("LEAK SUMMARY: " + counted(bytes, "byte") + " leaked in " +
              counted(count, "allocation"));
}

std::string text_of(const ToldFinding& finding) {
  if (finding.tool == "race") return race_text(finding);
  if (finding.tool == "leak") return leak_text(finding);
  if (finding.place.is_of_call()) return call_text(finding);
  std::string first = "Program hit " + finding.kind + ": " + finding.message;
  const std::string size = " of size " + counted(finding.size_bytes, "byte");
  if (finding.tool == "init") {
    first = "Uninitialized " + space_of(finding) + " memory read" + size;
  } else if (finding.tool == "sync" && finding.kind != "no-end") {
    const bool in_warp = finding.kind == "bad-mask";
    first = in_warp ? "Barrier error detected. Invalid arguments"
                    : "Barrier error detected. Divergent thread(s) in block";
  } else if (finding.kind == "illegal-address" || finding.kind == "misaligned-address") {
    first = "Invalid " + space_of(finding) + " " + verb_of(finding.place) + size;
  }
  std::string text = line(first) + more(at(finding, finding.place)) + more(by(finding.place));
  if (finding.tool == "memory" && !finding.allocation.empty()) {
    const bool is_misaligned = finding.kind == "misaligned-address";
    text += more("Access to " + finding.allocation +
                 (is_misaligned ? " is misaligned" : " is out of bounds"));
  }
  if (finding.count > 1) text += more("and " + std::to_string(finding.count - 1) + " more times");
  return text;
}

}  // namespace

std::string sanitizer_text(const std::vector<ToldFinding>& findings, const std::string& tool,
                           uint64_t most) {
  std::string text = line("COMPUTE-SANITIZER");
  const uint64_t shown = std::min<uint64_t>(findings.size(), most);
  for (uint64_t i = 0; i < shown; ++i) text += text_of(findings[i]) + line("");
  if (tool == "racecheck") {
    const std::string count = std::to_string(findings.size());
    return text + line("RACECHECK SUMMARY: " + std::to_string(shown) + " hazards displayed (" +
                       count + " errors, 0 warnings)");
  }
  if (tool.find("leak") != std::string::npos) text += leak_summary(findings);
  return text + line("ERROR SUMMARY: " + counted(findings.size(), "error"));
}

}  // namespace km::tools
