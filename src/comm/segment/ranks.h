// The ranks of a communicator as one of them sees them, whatever connects them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "comm/segment/failure.h"
#include "comm/segment/unique_id.h"

namespace km::comm {

constexpr uint64_t kNoticeBytes = 160;
using NoticeData = std::array<uint8_t, kNoticeBytes>;

class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;
  virtual int32_t device() const = 0;
  /// Makes an id for another communicator of the same kind.
  virtual Failure make_id(UniqueId* out) const = 0;

  /// The first failure of any rank.
  virtual Failure failure() const = 0;
  /// Makes a failure the communicator's, unless it has one, and wakes all that wait.
  virtual void fail(const Failure& failure) = 0;

  /// Gives each rank the data of all.
  virtual Failure exchange(const NoticeData& own, const char* call,
                           std::vector<NoticeData>* out) = 0;
  /// Tells all ranks something, under a key.
  virtual Failure publish(uint64_t key, const NoticeData& data) = 0;
  /// Waits until `rank`, or any if it is kAnyRank, has published something under the key.
  virtual Failure find(uint64_t key, uint32_t rank, const char* call, NoticeData* out) = 0;
  static constexpr uint32_t kAnyRank = UINT32_MAX;
};

}  // namespace km::comm
