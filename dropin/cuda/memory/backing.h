// Mapped memory consists of pieces of files in memory, so that one piece can be mapped at several
// addresses.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// Allocates pieces of one file for all memory that is not shared with other processes: one file
/// per piece could exceed the process's limit of open files.
class Arena {
 public:
  static Arena& instance();
  CUresult take(uint64_t size_bytes, uint64_t* out_offset);
  void give_back(uint64_t offset, uint64_t size_bytes);
  int file() const { return file_; }

 private:
  CUresult open_file();
  std::mutex mutex_;  // guards the members below
  int file_ = -1;
  uint64_t end_ = 0;
  std::map<uint64_t, uint64_t> free_;  // sizes by offset; adjacent pieces are merged
};

/// Owns a piece of physical memory.
class Backing {
 public:
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  ~Backing();

  /// Allocates the memory; in a file of its own if `shareable`.
  CUresult create(uint64_t size_bytes, bool shareable);
  /// Uses the memory of another Backing, possibly of another process, through its file.
  CUresult import(int file);
  /// A file descriptor for import(); the caller closes it.
  CUresult share(int* out_file) const;
  /// Maps the first bytes at the address, without access rights, replacing any mapping there.
  CUresult map_at(uint64_t address, uint64_t size_bytes) const;
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  int own_file_ = -1;  // -1: the piece is in the arena
  uint64_t offset_ = 0, size_bytes_ = 0;
};

}  // namespace km::dropin
