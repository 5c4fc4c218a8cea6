#include "tools/check/check_session.h"

#include <algorithm>
#include <cstdio>

#include "base/check/check_tool_sets.h"
#include "base/check/finding_filter.h"
#include "base/file/file_writer.h"
#include "base/printable.h"
#include "tools/check/findings_report.h"
#include "tools/check/sanitizer_text.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"

namespace km::tools {
namespace {

/// The tools that look for defects without a doubt: programs may leave the end of their memory to
/// the end of the process.
constexpr const char* kUsualTools = "memory,init,race,sync,streams";

/// The value of KM_CHECK.
Result<std::string> tools_value(const CheckOptions& options) {
  std::string tools = options.tools.empty() ? kUsualTools : options.tools;
  for (size_t begin = 0; begin <= tools.size();) {
    const size_t end = std::min(tools.find(',', begin), tools.size());
    const std::string tool = tools.substr(begin, end - begin);
    if (!check_tools_named(tool)) {
      return usage_error(in_quotes(tool) + " is no tool; give " + kAllCheckToolNames);
    }
    begin = end + 1;
  }
  if (options.tells_same_values) tools += ",same-value";
  if (options.runs_in_step) tools += ",warp-in-step";
  if (options.orders != 0) tools += ",explore=" + std::to_string(options.orders);
  if (options.seed != 0) tools += ",seed=" + std::to_string(options.seed);
  if (options.ignores_sum_order) tools += ",ignore-atomic-order";
  return tools;
}

FindingTraits traits_of(const ToldFinding& finding) {
  return {finding.tool, finding.kind, finding.kernel, finding.place.position,
          finding.other.position};
}

/// The rules that suppress all of these findings.
std::string rules_of(const std::vector<ToldFinding>& findings) {
  std::string text = "# Findings that kernelmill check leaves out (--suppress).\n";
  for (const ToldFinding& finding : findings) {
    text += Suppressions::rule_of(traits_of(finding)) + '\n';
  }
  return text;
}

}  // namespace

Result<CheckSession> CheckSession::begin(const CheckOptions& options) {
  KM_TRY(options.check());
  KM_ASSIGN(const std::string tools, tools_value(options));
  for (const std::string* const path : {&options.json, &options.sarif, &options.written_rules}) {
    if (!path->empty()) KM_TRY(check_writable(*path));
  }
  Suppressions suppressions;
  if (!options.suppress.empty()) {
    KM_ASSIGN(suppressions, Suppressions::load(options.suppress));
    KM_TRY(set_variable("KM_CHECK_SUPPRESS", options.suppress));
  }
  if (!options.kernels.empty()) {
    KM_TRY(KernelPattern::parse(options.kernels));
    KM_TRY(set_variable("KM_CHECK_KERNELS", options.kernels));
  }
  KM_ASSIGN(FindingsFile file, FindingsFile::create());
  KM_TRY(set_variable("KM_CHECK", tools));
  KM_TRY(set_variable("KM_CHECK_REPORT", file.path()));
  KM_TRY(set_variable("KM_CHECK_PRINT", options.prints() ? "1" : "0"));
  CheckSession session(options, std::move(file));
  session.suppressions_ = std::move(suppressions);
  return session;
}

Result<SessionFindings> CheckSession::end() {
  KM_ASSIGN(const std::vector<ToldFinding> all, file_.read());
  SessionFindings found;
  found.orders = file_.orders();
  for (const ToldFinding& finding : all) {
    if (suppressions_.hold(traits_of(finding))) {
      ++found.suppressed;
    } else {
      found.all.push_back(finding);
    }
  }
  KM_TRY(write(found, all));
  return found;
}

Status CheckSession::tell(const SessionFindings& found) const {
  if (options_.prints()) {
    const std::string table = table_of(found.all, options_.limit, found.suppressed);
    std::fputs(printable(table + orders_text(found.orders)).c_str(), stderr);
    return {};
  }
  const std::string text = printable(sanitizer_text(found.all, options_.tools, options_.limit));
  if (!options_.log.empty()) return write_file(options_.log, text);
  std::fputs(text.c_str(), stdout);
  return {};
}

Status CheckSession::write(const SessionFindings& found,
                           const std::vector<ToldFinding>& all) const {
  if (!options_.json.empty()) {
    KM_TRY(write_file(options_.json, json_of(found.all, found.suppressed)));
  }
  if (!options_.sarif.empty()) KM_TRY(write_file(options_.sarif, sarif_of(found.all)));
  if (!options_.written_rules.empty()) {
    KM_TRY(write_file(options_.written_rules, rules_of(all)));
  }
  return {};
}

}  // namespace km::tools
