// Tables of what is known of machine code: lines of columns that tabs separate.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace km::machine_code {

/// A table's lines. Those that begin with '#' explain it and are kept as they are.
struct Table {
  std::string path;
  std::string comment;
  std::vector<std::vector<std::string>> rows;
};

/// Reads a table, each of whose rows has `columns` columns, or fewer: missing ones are empty.
Result<Table> read_table(const std::string& path, size_t columns);
Status write_table(const Table& table);

}  // namespace km::machine_code
