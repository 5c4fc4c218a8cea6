#include "tools/check/findings_file.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/file/file.h"
#include "base/text.h"

namespace km::tools {
namespace {

constexpr char kSeparator = '\x1f';
constexpr size_t kFindingFields = 21, kCountFields = 4;

uint64_t number_of(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

ToldPlace place_of(const std::vector<std::string>& fields, size_t first) {
  return {fields[first], fields[first + 1], fields[first + 2], fields[first + 3],
          fields[first + 4]};
}

ToldFinding finding_of(const std::vector<std::string>& fields) {
  ToldFinding finding;
  finding.tool = fields[3];
  finding.kind = fields[4];
  finding.kernel = fields[5];
  finding.message = fields[6];
  finding.allocation = fields[7];
  finding.advice = fields[8];
  finding.address = number_of(fields[9]);
  finding.size_bytes = number_of(fields[10]);
  finding.place = place_of(fields, 11);
  finding.other = place_of(fields, 16);
  return finding;
}

}  // namespace

Result<FindingsFile> FindingsFile::create() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  path += "/kernelmill-check-" + std::to_string(getpid());
  KM_ASSIGN(const File file, create_file(path));
  return FindingsFile(path);
}

FindingsFile::~FindingsFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

Result<std::vector<ToldFinding>> FindingsFile::read() {
  KM_ASSIGN(const std::string text, read_file(path_));
  std::vector<ToldFinding> all;
  std::map<std::pair<std::string, std::string>, size_t> places;  // by process and number
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = split(line, kSeparator);
    if (fields.size() == kFindingFields && fields[0] == "finding") {
      places[{fields[1], fields[2]}] = all.size();
      all.push_back(finding_of(fields));
    } else if (fields.size() == kCountFields && fields[0] == "count") {
      const auto at = places.find({fields[1], fields[2]});
      if (at != places.end()) all[at->second].count = number_of(fields[3]);
    } else if (fields.size() == kCountFields && fields[0] == "orders") {
      orders_[fields[2]] += number_of(fields[3]);
    }
  }
  return all;
}

}  // namespace km::tools
