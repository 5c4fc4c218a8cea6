// The test of one access against what the shadow knows of its memory.
#pragma once

#include <cstdint>

#include "backends/cpu/check/access_record.h"
#include "backends/cpu/check/block_clock.h"

namespace km::cpu {

/// Two accesses of different threads, of which one writes, that nothing orders.
struct RacingPair {
  AccessRecord before, now;
  uint32_t offset_bytes = 0;  // from the beginning of the line
  uint32_t size_bytes = 0;    // of what both touch
};

/// Receives races.
class RaceSink {
 public:
  virtual void note(const RacingPair& pair) = 0;

 protected:
  ~RaceSink() = default;
};

/// Tests accesses of one block and keeps them in the shadow.
class RaceCheck {
 public:
  RaceCheck(const BlockClock& clock, RaceSink& sink, bool is_shared)
      : clock_(clock), sink_(sink), is_shared_(is_shared) {}

  /// Accesses of whole words of a line by one instruction.
  void touch_words(Line& line, const Span& now);
  /// An access of some bytes of a line by one thread.
  void touch_bytes(Line& line, const AccessRecord& now, uint32_t offset_bytes, uint32_t size_bytes);

 private:
  enum class Verdict { ordered, unknown };

  Verdict judge(const Span& before, const Span& now) const;
  Verdict judge_copy(const Span& before, const Span& now) const;
  bool is_ordered(const AccessRecord& before, const AccessRecord& now) const;
  bool touch_spans(Line& line, const Span& now);
  void read_cells(Line& line, const Span& now);
  bool keep_read(Span& kept, const Span& now) const;
  void touch_cell(Cell& cell, const AccessRecord& now, uint32_t offset_bytes, uint32_t size_bytes);
  void keep_read(AccessRecord& kept, const AccessRecord& now) const;
  bool outlasts(const AccessRecord& write, const AccessRecord& now) const;
  bool check(const AccessRecord& before, const AccessRecord& now, uint32_t offset_bytes,
             uint32_t size_bytes);

  const BlockClock& clock_;
  RaceSink& sink_;
  const bool is_shared_;
};

}  // namespace km::cpu
