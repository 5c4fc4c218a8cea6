// A defect that the checker has found.
#pragma once

#include <cstdint>
#include <string>

namespace km::cpu {

/// One of the accesses of a finding, or the place of another event.
struct FindingPlace {
  std::string what;           // "write of 4 bytes"
  std::string position;       // "reduce.cu:14 (PTX line 31)"
  std::string block, thread;  // "(0,0,0)"; empty if they are unknown
  std::string work;           // who did it, if not one thread: "kernel f in stream 2"
  /// True if it is a call of the host.
  bool is_of_call() const { return !what.empty() && thread.empty() && work.empty(); }
};

/// A finding as it is printed and passed to the command.
struct Finding {
  std::string tool;           // "race", "memory", "init", "sync", "streams", "leak" or "schedule"
  std::string kind;           // of the tool's kinds: "write-read"
  std::string kernel;         // as the source names it
  std::string message;        // one line
  FindingPlace place, other;  // `other` is empty if one access is enough
  std::string relation;       // of the place to the other: "after a" if empty
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  std::string allocation;  // where the address lies
  std::string advice;      // what to do; may be empty
  uint64_t count = 1;
};

}  // namespace km::cpu
