#include "table.h"

#include <fstream>

#include "base/text.h"

namespace km::machine_code {

Result<Table> read_table(const std::string& path, size_t columns) {
  Table table;
  table.path = path;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      table.comment += line + "\n";
      continue;
    }
    table.rows.push_back(split(line, '\t'));
    if (line.empty() || table.rows.back().size() > columns) {
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
