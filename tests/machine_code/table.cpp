#include "table.h"

#include <fstream>
#include <sstream>

namespace km::machine_code {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream text(line);
  for (std::string column; std::getline(text, column, '\t');) columns.push_back(column);
  return columns;
}

}  // namespace

Result<Table> read_table(const std::string& path, size_t columns) {
  Table table;
  table.path = path;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      table.comment += line + "\n";
      continue;
    }
    table.rows.push_back(split(line));
    if (table.rows.back().empty() || table.rows.back().size() > columns) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s: row %zu has %zu columns instead of %zu",
                        path.c_str(), table.rows.size(), table.rows.back().size(), columns);
    }
    table.rows.back().resize(columns);
  }
  if (!table.rows.empty()) return table;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s has no rows", path.c_str());
}

Status write_table(const Table& table) {
  std::ofstream file(table.path);
  file << table.comment;
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) file << (i == 0 ? "" : "\t") << row[i];
    file << "\n";
  }
  file.close();
  if (file) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s cannot be written", table.path.c_str());
}

}  // namespace km::machine_code
