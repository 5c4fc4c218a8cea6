#include "tools/check/findings_report.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "tools/library.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ToldPlace& place) {
  const SourcePosition source = place.source();
  Json json = {{"access", place.what}, {"source", source.file},  {"line", source.line},
               {"block", place.block}, {"thread", place.thread}, {"position", source.whole}};
  if (!source.callers.empty()) json["inlined_at"] = source.callers;
  if (!place.work.empty()) json["work"] = place.work;
  return json;
}

std::string rule_of(const ToldFinding& finding) { return finding.tool + "/" + finding.kind; }

/// The file as an URI: below the folder of the call its path from there, as GitHub wants it.
std::string uri_of(const std::string& file) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + '/';
  const std::string path = file.starts_with(here) ? file.substr(here.size()) : file;
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || strchr("-._~/", c) != nullptr) {
      uri += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
      uri += code;
    }
  }
  return uri;
}

Json location_of(const SourcePosition& source, const std::string& text) {
  Json location = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(source.file)}}}}}};
  if (source.line != 0) location["physicalLocation"]["region"] = {{"startLine", source.line}};
  if (!text.empty()) location["message"] = {{"text", text}};
  return location;
}

std::string access_of(const ToldPlace& place) {
  if (place.is_of_call()) {
    return place.what + (place.position.empty() ? "" : ", from " + place.position);
  }
  const std::string thread = "thread " + place.thread + " of block " + place.block;
  return place.what + " by " + (place.work.empty() ? thread : place.work);
}

/// Appends the calls that a compiler has replaced by the code of a place.
void append_callers(const ToldPlace& place, Json* locations) {
  for (const std::string& caller : place.source().callers) {
    locations->push_back(location_of(SourcePosition::of(caller), "inlined here"));
  }
}

/// The place of a finding, in few words.
std::string place_of(const ToldFinding& finding) {
  const SourcePosition source = finding.place.source();
  const bool is_of_work = source.line == 0 && !finding.place.work.empty();
  return (is_of_work ? finding.place.work : finding.kernel) +
         (source.text.empty() ? "" : ", " + source.text);
}

Json result_of(const ToldFinding& finding) {
  std::string text = finding.message;
  if (!finding.kernel.empty()) {
    text += (finding.place.is_of_call() ? " (call " : " (kernel ") + finding.kernel + ")";
  }
  if (!finding.place.what.empty()) text += ": " + access_of(finding.place);
  if (!finding.advice.empty()) text += ". " + finding.advice;
  Json result = {{"ruleId", rule_of(finding)},
                 {"level", "error"},
                 {"message", {{"text", text}}},
                 {"occurrenceCount", finding.count}};
  if (finding.place.source().line != 0) {
    result["locations"] = Json::array({location_of(finding.place.source(), "")});
  }
  Json related = Json::array();
  append_callers(finding.place, &related);
  if (!finding.other.what.empty()) {
    related.push_back(location_of(finding.other.source(), "after: " + access_of(finding.other)));
    append_callers(finding.other, &related);
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  return result;
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string json_of(const std::vector<ToldFinding>& findings, uint64_t suppressed) {
  Json list = Json::array();
  for (const ToldFinding& finding : findings) {
    Json one = {{"tool", finding.tool},
                {"kind", finding.kind},
                {"kernel", finding.kernel},
                {"message", finding.message}};
    one.update(json_of(finding.place));
    one["address"] = finding.address;
    one["bytes"] = finding.size_bytes;
    one["allocation"] = finding.allocation;
    one["advice"] = finding.advice;
    if (!finding.other.what.empty()) one["other"] = json_of(finding.other);
    one["count"] = finding.count;
    list.push_back(std::move(one));
  }
  return text_of({{"findings", list}, {"suppressed", suppressed}});
}

std::string sarif_of(const std::vector<ToldFinding>& findings) {
  std::set<std::string> rules;
  Json results = Json::array();
  for (const ToldFinding& finding : findings) {
    rules.insert(rule_of(finding));
    results.push_back(result_of(finding));
  }
  Json descriptions = Json::array();
  for (const std::string& rule : rules) descriptions.push_back({{"id", rule}});
  const Json driver = {
      {"name", "kernelmill check"}, {"version", version_text()}, {"rules", descriptions}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return text_of({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", Json::array({run})}});
}

std::string table_of(const std::vector<ToldFinding>& findings, uint64_t most, uint64_t suppressed) {
  std::map<std::string, uint64_t> tools;
  std::string text;
  uint64_t shown = 0;
  for (const ToldFinding& finding : findings) {
    ++tools[finding.tool];
    if (shown++ >= most) continue;
    char line[128];
    std::snprintf(line, sizeof line, "  %-8s %-20s %8llu times  ", finding.tool.c_str(),
                  finding.kind.c_str(), static_cast<unsigned long long>(finding.count));
    text += line + place_of(finding) + '\n';
  }
  std::string sum = counted(findings.size(), "finding");
  for (const auto& [tool, count] : tools) sum += ", " + std::to_string(count) + " of " + tool;
  if (suppressed != 0) sum += "; " + std::to_string(suppressed) + " suppressed";
  return "kernelmill check: " + sum + '\n' + text;
}

std::string orders_text(const std::map<std::string, uint64_t>& orders) {
  if (orders.empty()) return {};
  uint64_t tried = 0;
  std::string others;
  for (const auto& [reason, count] : orders) {
    if (reason.empty()) {
      tried = count;
    } else {
      others += ", " + std::to_string(count) + " not: they " + reason;
    }
  }
  return "kernelmill check: " + std::to_string(tried) + (tried == 1 ? " launch" : " launches") +
         " tried in other orders" + others + '\n';
}

}  // namespace km::tools
