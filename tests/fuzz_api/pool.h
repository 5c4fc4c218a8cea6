// The handles that the threads of the fuzzer share: those that live, and some that lived.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "call_table.h"
#include "random.h"

namespace km::fuzz {

/// A handle or an address; `group` tells what was made from the same context, `parent` what it
/// belongs to more closely (a node's graph, an address's slice); `size_bytes` is how long an
/// address's memory is.
struct PoolEntry {
  Word value = 0;
  uint32_t group = 0;
  Word parent = 0;
  uint64_t size_bytes = 0;
};

/// Values of one type.
class Pool {
 public:
  /// Takes a value in; where there are many, gives the one out that left for it.
  std::optional<PoolEntry> add(const PoolEntry& entry, size_t most, Random& random);
  /// One that lives, with the parent if there is one, else of the group if there is one; an entry
  /// of 0 if none lives.
  PoolEntry live(Random& random, uint32_t group, Word parent = 0);
  /// One that has lived, or 0.
  Word ended(Random& random);
  /// The value lives no more; gives its group, 0 when nobody knew it.
  uint32_t end(Word value);
  /// Those of a group, or with a parent, which live no more.
  std::vector<Word> take_group(uint32_t group);
  std::vector<Word> take_children(Word parent);
  /// How many live; of a group, if it is not 0.
  size_t count(uint32_t group = 0);
  /// All that live, which do no more.
  std::vector<PoolEntry> take_all();
  std::vector<Word> all();
  uint32_t group_of(Word value);

 private:
  static constexpr size_t kEnded = 32;
  void note_ended(Word value);
  template <class Test>
  std::vector<Word> take_if(Test&& test);

  std::mutex mutex_;
  std::vector<PoolEntry> live_;
  std::array<Word, kEnded> ended_{};
  size_t ended_count_ = 0;
};

}  // namespace km::fuzz
