// Messages between two processes of MPI.
#include <algorithm>
#include <cstring>
#include <memory>

#include "comm/mpi/mpi_exchange.h"

namespace km::comm {
namespace {

constexpr uint64_t kPartBytes = 256 << 10;

/// One rank's sends and receives of one call, which move on together, part by part.
class MpiMessages {
 public:
  MpiMessages(MpiRanks& ranks, std::span<const Operation> operations) : ranks_(ranks) {
    for (const Operation& each : operations) {
      if (!is_between_two(each.call.kind)) continue;
      messages_.push_back(Message{&each, 0, false, false, {}, {}});
    }
  }

  Failure run() {
    const auto move = [this](bool* has_moved, bool* is_over) {
      return move_all(has_moved, is_over);
    };
    Failure failure =
        ranks_.wait({move, [this] { return awaited(); }, [this] { return described(); }});
    if (!failure) return {};
    for (Message& each : messages_) ranks_.abandon({&each.transfer, 1});
    keep_for_ever(std::move(messages_));
    return failure;
  }

 private:
  struct Message {
    const Operation* operation;
    uint64_t done_bytes;
    bool is_moving, is_over;
    Transfer transfer;
    std::vector<uint8_t> buffer;

    bool sends() const { return operation->call.kind == Kind::kSend; }
    uint32_t peer() const { return static_cast<uint32_t>(operation->call.root); }
    uint64_t left() const { return operation->call.block_bytes() - done_bytes; }
  };

  /// Messages to or from one rank move one after the other.
  bool is_first(const Message& message) const {
    for (const Message& each : messages_) {
      if (&each == &message) return true;
      if (!each.is_over && each.sends() == message.sends() && each.peer() == message.peer()) {
        return false;
      }
    }
    return true;
  }

  Failure begin(Message& message) {
    message.is_moving = true;
    message.buffer.resize(sizeof(MpiHeader) + std::min(kPartBytes, message.left()));
    if (!message.sends()) {
      message.buffer.resize(sizeof(MpiHeader) + kPartBytes);
      return ranks_.begin_receive(message.peer(), MpiTag::kMessage, message.buffer.data(),
                                  message.buffer.size(), &message.transfer);
    }
    const MpiHeader header{message.operation->call, message.buffer.size() - sizeof(MpiHeader), {}};
    std::memcpy(message.buffer.data(), &header, sizeof header);
    if (header.size_bytes != 0) {
      std::memcpy(message.buffer.data() + sizeof header,
                  static_cast<const uint8_t*>(message.operation->send) + message.done_bytes,
                  header.size_bytes);
    }
    return ranks_.begin_send(message.peer(), MpiTag::kMessage, message.buffer.data(),
                             message.buffer.size(), &message.transfer);
  }

  /// Ends a part.
  Failure end(Message& message) {
    message.is_moving = false;
    MpiHeader header;
    std::memcpy(&header, message.buffer.data(), sizeof header);
    if (!message.sends()) {
      const Signature& own = message.operation->call;
      if (header.call.block_bytes() != own.block_bytes() || header.size_bytes > message.left()) {
        return mismatch(ranks_.rank(), own, message.peer(), header.call);
      }
      if (header.size_bytes != 0) {
        std::memcpy(static_cast<uint8_t*>(message.operation->receive) + message.done_bytes,
                    message.buffer.data() + sizeof header, header.size_bytes);
      }
    }
    message.done_bytes += header.size_bytes;
    message.is_over = message.left() == 0;
    return {};
  }

  Failure move_all(bool* has_moved, bool* is_over) {
    *is_over = true;
    for (Message& each : messages_) {
      if (each.is_over) continue;
      *is_over = false;
      if (!each.is_moving && !is_first(each)) continue;
      if (!each.is_moving) {
        if (Failure failure = begin(each)) return failure;
      }
      if (Failure failure = ranks_.test(&each.transfer)) return failure;
      if (!each.transfer.is_over) continue;
      *has_moved = true;
      if (Failure failure = end(each)) return failure;
    }
    return {};
  }

  std::vector<uint32_t> awaited() const {
    std::vector<uint32_t> found;
    for (const Message& each : messages_) {
      if (each.is_moving) found.push_back(each.peer());
    }
    return found;
  }
  std::string described() const {
    const auto waits = std::find_if(messages_.begin(), messages_.end(),
                                    [](const Message& each) { return !each.is_over; });
    return waits == messages_.end() ? "nothing" : describe(waits->operation->call);
  }

  MpiRanks& ranks_;
  std::vector<Message> messages_;
};

}  // namespace

Failure exchange_messages(MpiRanks& ranks, std::span<const Operation> operations) {
  return MpiMessages(ranks, operations).run();
}

}  // namespace km::comm
