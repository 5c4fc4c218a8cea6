// Draws a call, makes it, and takes in what it gives.
#pragma once

#include "api.h"
#include "journal.h"

namespace km::fuzz {

/// The calls of one thread, or of the callbacks that run on it.
class Caller {
 public:
  struct Options {
    uint64_t seed = 1;
    int only = -1;                     // the number of the one function that is called
    std::vector<bool> skipped;         // by the number of the function
    unsigned allocation_failures = 0;  // one call in so many; 0: none
  };

  Caller(Api& api, Shared& shared, Journal& journal, const Options& options, size_t thread);
  /// Call number `number` of this thread; `depth` is 0 outside callbacks.
  void make_call(uint64_t number, unsigned depth);
  /// Makes what there is too little of, with calls that are right.
  void tend(uint64_t number);
  /// Ends waits that only the program itself could end.
  void rescue();
  /// Makes some calls that belong together.
  void run_script(uint64_t number);

 private:
  // Copies of what out-parameters hold before the call, to see that a failed one left them.
  struct Output {
    const uint8_t* memory;
    uint32_t size_bytes;
    size_t parameter;
    uint8_t before[64];
  };

  void call_row(size_t index, uint64_t number, unsigned depth, Values& values, uint32_t group = 0);
  void tend_group(uint32_t group, uint64_t number, Values& values);
  int64_t timed_call(size_t index, JournalEntry& entry, unsigned depth, uint64_t fail_after);
  void end_group(uint32_t group, Values& values);
  void forget_children(Word parent);
  std::vector<uint32_t> groups();
  void release(size_t type, Word handle);
  size_t draw_row(Random& random) const;
  void draw_plain(const Row& row, Values& values);
  void draw_pointers(const Row& row, Values& values);
  Word plain_word(const Parameter& parameter, Values& values);
  Word pointer_word(const Row& row, const Parameter& parameter, Values& values);
  Word array_word(const Row& row, const Parameter& parameter, Values& values);
  Word text_word(const Parameter& parameter, Values& values);
  Word output_word(const Parameter& parameter, Values& values);
  /// Lowers what the call says about its arrays to what there is memory for.
  void bound_counts(const Row& row, Values& values);
  size_t elements_of(const Parameter& parameter) const;
  void note_outputs(const Row& row);
  void record(JournalEntry& entry, const Row& row, uint64_t number, unsigned depth, size_t index);
  void take_results(const Row& row, int64_t result, Values& values);
  void take_in(const Row& row, size_t type, Word handle, Values& values);
  void check(const Row& row, int64_t result);

  Api& api_;
  Shared& shared_;
  Journal& journal_;
  const Options& options_;
  ThreadJournal& log_;
  size_t thread_;
  Word words_[kMostParameters] = {};
  std::vector<Output> outputs_;
};

/// Makes a few calls on whatever thread this is, inside a callback; `choice` picks them.
void call_in_callback(uint64_t choice);
/// What call_in_callback uses from now on.
void set_callback_world(Api& api, Shared& shared, Journal& journal, const Caller::Options& options);

}  // namespace km::fuzz
