// How ranks of MPI find each other: each reports to the process that made the id, which answers.
// All starts of a process send in the world's communicator, side by side.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "comm/mpi/library.h"

namespace km::comm {

/// A rank's report to the id's maker.
struct MpiReport {
  uint64_t nonce;  // of the id
  uint32_t rank, ranks;
  int32_t process, answer_tag;
};

/// The answer of the id's maker: numbers in one message.
class MpiAnswer {
 public:
  explicit MpiAnswer(uint32_t ranks) : numbers_(ranks + 2, -1) {}
  bool is_good() const { return numbers_[0] == 0; }
  void set_good(bool is_good) { numbers_[0] = is_good ? 0 : 1; }
  /// The tag of the communicator for MPI.
  int& group_tag() { return numbers_[1]; }
  int& process_of(uint32_t rank) { return numbers_[rank + 2]; }
  std::vector<int> processes() const { return {numbers_.begin() + 2, numbers_.end()}; }
  std::vector<int>& numbers() { return numbers_; }

 private:
  std::vector<int> numbers_;
};

// Every MPI has tags up to 32767.
constexpr int kReportTag = 0x2000;
constexpr int kFirstAnswerTag = kReportTag + 1, kAnswerTags = 0x1fff;
constexpr int kFirstGroupTag = 0x4000, kGroupTags = 0x2000;

/// Reports that come to this process, by the nonces of ids: those of another start that goes on are
/// kept for it.
class MpiReports {
 public:
  static MpiReports& instance();
  /// Receives reports while the object lives.
  class Receiving {
   public:
    explicit Receiving(const MpiLibrary& library) : library_(library) { instance().begin(); }
    ~Receiving() { instance().end(library_); }
    Receiving(const Receiving&) = delete;
    Receiving& operator=(const Receiving&) = delete;

    /// Looks for a report with the nonce.
    Failure look(uint64_t nonce, std::optional<MpiReport>* out) const {
      return instance().look(library_, nonce, out);
    }

   private:
    const MpiLibrary& library_;
  };

 private:
  void begin();
  void end(const MpiLibrary& library);
  Failure look(const MpiLibrary& library, uint64_t nonce, std::optional<MpiReport>* out);
  Failure receive(const MpiLibrary& library);

  std::mutex mutex_;  // guards the members below
  int users_ = 0;
  bool is_receiving_ = false;
  MpiReport next_{};  // where MPI writes
  MpiLibrary::Handle request_ = 0;
  std::multimap<uint64_t, MpiReport> reports_;
};

/// A tag for the answer to a report, which no other start of this process has.
class MpiAnswerTag {
 public:
  /// 0 if all are taken.
  MpiAnswerTag();
  ~MpiAnswerTag();
  MpiAnswerTag(const MpiAnswerTag&) = delete;
  MpiAnswerTag& operator=(const MpiAnswerTag&) = delete;

  int tag() const { return tag_; }
  /// Takes the tag out of use, because an answer may still come.
  void keep() { is_kept_ = true; }

 private:
  int tag_ = 0;
  bool is_kept_ = false;
};

/// A tag by which MPI tells one communicator that this process makes from another.
int next_group_tag(uint32_t process);

/// Makes the communicator of the processes. MPI's own call would wait for a lost process for ever.
Failure create_mpi_comm(const MpiLibrary& library, const std::vector<int>& processes, int tag,
                        uint64_t timeout_ns, MpiLibrary::Handle* out);

}  // namespace km::comm
