// The live programs, by the handles that NVIDIA's library has given. Programs are compiled to PTX
// instead of machine code, which is returned as their cubin, since drivers load it like one.
#pragma once

#include <mutex>
#include <unordered_map>

#include "dropin/nvrtc/generated/api.h"

namespace km::nvrtc {

/// The table of live programs. NVIDIA's library follows any handle, so it gets only those
/// that are live.
class Programs {
 public:
  /// The one table. It is never destroyed, because other threads may compile during exit.
  static Programs& instance();

  void add(nvrtcProgram program);
  void remove(nvrtcProgram program);
  bool is_live(nvrtcProgram program);
  /// Notes that the program's last options asked for machine code, or did not.
  void set_machine_code(nvrtcProgram program, bool is_machine_code);
  bool is_machine_code(nvrtcProgram program);

 private:
  Programs() = default;

  std::mutex mutex_;  // guards the member below
  std::unordered_map<nvrtcProgram, bool> asked_for_machine_code_;
};

}  // namespace km::nvrtc
