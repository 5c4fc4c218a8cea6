// MPI, which is opened when a communicator asks for it: libraries with the ABI of MPI 5
// (mpi_abi.h), MPICH and its relatives, and Open MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <string>

#include "base/process/dylib.h"
#include "comm/segment/failure.h"

namespace km::comm {

/// The functions that are used. Handles are pointers, but ints for MPICH: calls pass both in the
/// same registers, and results lie in the low half of places that were 0.
class MpiLibrary {
 public:
  using Handle = uint64_t;

  /// This process's number in MPI, which launchers tell programs before they begin MPI: that would
  /// wait for the other processes.
  static Failure find_world_rank(uint32_t* out);
  /// The library of this process, begun by the program or by this call.
  static Failure get(const MpiLibrary** out);

#define KM_MPI_CALL(name, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "comm/mpi/functions.def"
#undef KM_MPI_CALL

  struct Constants {
    Handle comm_world = 0, byte = 0, errors_return = 0;
    int any_source = 0, thread_multiple = 0;
    void* status_ignore = nullptr;
  };
  const Constants& constants() const { return constants_; }
  /// The library's version and path, in messages: "Open MPI v5.0.11 (/usr/lib/libmpi.so.40)".
  const std::string& about() const { return about_; }
  uint32_t world_rank() const { return world_rank_; }
  uint32_t world_ranks() const { return world_ranks_; }
  /// False when MPI is over in this process: a call would end the process.
  bool is_usable() const;
  /// Keeps MPI from ending with the process, while threads of communicators call it.
  class Use {
   public:
    explicit Use(const MpiLibrary& library)
        : lock_(library.end_mutex_), is_usable_(library.is_usable()) {}
    explicit operator bool() const { return is_usable_; }

   private:
    const std::shared_lock<std::shared_mutex> lock_;
    const bool is_usable_;
  };
  /// Ends MPI, if it was begun here, when all communicators are gone, or have had time for that.
  void end() const;
  /// Counts communicators.
  void add_user(int change) const { users_ += change; }
  /// Counts calls that may wait for another process for ever. MPI cannot end while there is one.
  void add_endless_call(int change) const { endless_calls_ += change; }

 private:
  static Failure find(MpiLibrary* out);
  Failure load(const std::string& path);
  Failure read_constants();
  Handle object(const char* name) const;
  Failure begin();

  std::string about_;
  Constants constants_;
  uint32_t world_rank_ = 0, world_ranks_ = 0;
  std::optional<Dylib> library_;
  mutable std::shared_mutex end_mutex_;
  mutable std::atomic<int> users_{0}, endless_calls_{0};
};

/// The failure of an MPI function.
Failure mpi_failure(const char* function, int code);
/// The failure of a call after MPI_Finalize.
Failure mpi_is_over();

}  // namespace km::comm
