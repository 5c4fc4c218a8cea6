// The findings of a program as JSON, as SARIF and as a table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/check/findings_file.h"

namespace km::tools {

/// {"findings": [{"tool", "kind", "kernel", "message", "source", "line", "block", "thread",
/// "access", "address", "bytes", "allocation", "advice", "other": {...}, "count"}], "suppressed"}
std::string json_of(const std::vector<ToldFinding>& findings, uint64_t suppressed);
/// SARIF 2.1.0, which code hosts and editors show beside the source.
std::string sarif_of(const std::vector<ToldFinding>& findings);
/// A line that says how many launches were tried in other orders, and why others were not; empty if
/// none should.
std::string orders_text(const std::map<std::string, uint64_t>& orders);
/// A line for each finding, of at most `most`, and a sum with the number of those that rules
/// suppress, for people.
std::string table_of(const std::vector<ToldFinding>& findings, uint64_t most, uint64_t suppressed);

}  // namespace km::tools
