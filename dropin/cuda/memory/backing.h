// Mapped memory is made of pieces of files in memory, so that one piece can lie at several
// addresses.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// A piece of one file that all memory is taken from that is not shared with other processes: a
/// file each would be more than a process may have open.
class Arena {
 public:
  static Arena& instance();
  CUresult take(uint64_t size_bytes, uint64_t* out_offset);
  void give_back(uint64_t offset, uint64_t size_bytes);
  int file() const { return file_; }

 private:
  CUresult open_file();
  std::mutex mutex_;  // guards what follows
  int file_ = -1;
  uint64_t end_ = 0;
  std::map<uint64_t, uint64_t> free_;  // sizes by offset; neighbours are one
};

/// Physical memory. Owns it.
class Backing {
 public:
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  ~Backing();

  /// `shareable`: in a file of its own.
  CUresult create(uint64_t size_bytes, bool shareable);
  /// The memory behind the file of another Backing, perhaps of another process.
  CUresult import(int file);
  /// A descriptor for import(), which the caller closes.
  CUresult share(int* out_file) const;
  /// Puts the first bytes at the address, in place of what is there, without access.
  CUresult map_at(uint64_t address, uint64_t size_bytes) const;
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  int own_file_ = -1;  // else it lies in the arena
  uint64_t offset_ = 0, size_bytes_ = 0;
};

}  // namespace km::dropin
