// The file by which programs tell `kernelmill check` what the checker has found in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check/source_position.h"
#include "base/result.h"

namespace km::tools {

/// One access or event of a finding.
struct ToldPlace {
  std::string what, position, block, thread;
  std::string work;  // who did it, if not one thread

  /// True if it is a call of the host.
  bool is_of_call() const { return !what.empty() && thread.empty() && work.empty(); }
  SourcePosition source() const { return SourcePosition::of(position); }
};

/// A finding as a program tells it.
struct ToldFinding {
  std::string tool, kind, kernel, message, allocation, advice;
  uint64_t address = 0, size_bytes = 0;
  ToldPlace place, other;  // `other.what` is empty if one place is enough
  uint64_t count = 1;
};

/// An empty file for the programs, which is removed in the end.
class FindingsFile {
 public:
  /// Creates the file in the folder for temporary files.
  static Result<FindingsFile> create();
  FindingsFile(FindingsFile&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  FindingsFile& operator=(FindingsFile&&) = delete;
  ~FindingsFile();

  const std::string& path() const { return path_; }
  /// All findings so far. Lines that no program of this version writes are skipped.
  Result<std::vector<ToldFinding>> read();
  /// After read(): the launches that were tried in other orders (under the empty text), and those
  /// that were not, by the reason.
  const std::map<std::string, uint64_t>& orders() const { return orders_; }

 private:
  explicit FindingsFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::map<std::string, uint64_t> orders_;
};

}  // namespace km::tools
