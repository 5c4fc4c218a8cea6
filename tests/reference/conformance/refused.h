// The list of what the engine does not load yet: a row of the table where it refuses all of it,
// else each instruction. The committed file must say the same, so that it shrinks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference/variants.h"

namespace km::reference {

/// The lines of a file, without comments.
std::set<std::string> read_list(const std::string& path);

class RefusedList {
 public:
  RefusedList(const std::vector<Variant>& tried, const std::vector<const Variant*>& refused);

  void write(const std::string& path) const;
  /// A line for each variant on which the file and the engine differ.
  std::vector<std::string> differences(const std::string& path) const;

 private:
  const std::vector<Variant>& tried_;
  std::set<const Variant*> refused_;
};

}  // namespace km::reference
