// One programming interface under test: its table, and what only it knows.
#pragma once

#include <string>
#include <vector>

#include "values.h"

namespace km::fuzz {

/// The group of an object: that of what it was made from, one that it begins, or none.
enum class Grouping : uint8_t { kInherits, kBegins, kNone };

/// A function that makes handles of a type.
struct Maker {
  size_t type;
  const char* function;
  size_t wanted;  // how many are to live; of what belongs to groups, in each
};

using Script = std::vector<const char*>;

/// An interface's description of itself in tables.
struct Tables {
  std::span<const Row> rows;
  std::span<const Enumeration> enumerations;
  size_t handle_type_count;
  /// Makers in the order in which they need each other.
  std::span<const Maker> makers;
  /// Functions that make sense one after the other, with what the ones before gave out.
  std::span<const Script> scripts;
  /// The type of what nodes belong to, and their own.
  size_t graph_type, node_type;
  /// How seldom a function is called, because it takes long: one time in so many.
  unsigned (*rarity)(const Row& row);
};

class Api {
 public:
  explicit Api(const Tables& tables) : tables_(tables) {
    for (const Row& row : tables.rows) rarities_.push_back(tables.rarity(row));
  }
  virtual ~Api() = default;

  std::span<const Row> rows() const { return tables_.rows; }
  std::span<const Enumeration> enumerations() const { return tables_.enumerations; }
  size_t handle_type_count() const { return tables_.handle_type_count; }
  std::span<const Maker> makers() const { return tables_.makers; }
  std::span<const Script> scripts() const { return tables_.scripts; }
  size_t graph_type() const { return tables_.graph_type; }
  size_t node_type() const { return tables_.node_type; }
  unsigned rarity(const Row& row) const {
    return rarities_[static_cast<size_t>(&row - tables_.rows.data())];
  }

  virtual Grouping grouping(size_t type) const = 0;
  /// How many handles of a type live at most.
  virtual size_t most_handles(size_t type) const = 0;
  /// The group of the context that is current on this thread; 0 where there is no such thing.
  virtual uint32_t current_group(Shared& shared) const = 0;
  /// Makes the group's context current, where there is such a thing.
  virtual void enter_group(uint32_t group, Shared& shared) = 0;
  /// How long the memory is whose address a call gave out.
  virtual uint64_t size_of_new(const Row& row, const Word* words) const = 0;
  /// A call has given a handle out: what can be found by it goes into the pools.
  virtual void note_new(size_t type, const PoolEntry& entry, Values& values) = 0;
  /// Which environment variables a round sets: "NAME=value" each.
  virtual std::vector<std::string> environment(uint64_t round) const = 0;

  /// Writes `count` structures of the parameter's type into `memory`.
  virtual void fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
                    size_t count) = 0;
  /// A word instead of the pointer that the kind of the parameter asks for, if there is to be one.
  virtual std::optional<Word> pointer_instead(const Row& row, const Parameter& parameter,
                                              Values& values) = 0;
  virtual Word callback(int16_t type, Values& values) = 0;
  /// False for a pointer that may not be followed: pointer_instead() has given it.
  virtual bool is_there(Word) const { return true; }
  /// A call in a process that a callback has forked.
  virtual void call_in_child() {}
  /// Makes values fit together beyond single parameters, before memory is taken for pointers.
  virtual void adjust(const Row& row, Values& values, Word* words) = 0;

  /// True when sizes that no device memory has are refused before host memory is touched.
  virtual bool bounds_host_memory(const Row& row) const = 0;
  virtual bool has_failed(int64_t result) const = 0;
  /// Failed calls leave their out-parameters untouched; not those that say what is needed.
  virtual bool leaves_outputs(int64_t result) const = 0;
  /// Why a result is a defect of the library by itself; empty if it is none.
  virtual std::string defect(const Row& row, int64_t result) const = 0;
  /// True when the call ends the handle that is its first one.
  virtual bool ends_handle(const Row& row) const = 0;
  /// True when the call ends the address that is its first one.
  virtual bool ends_address(const Row& row) const = 0;
  /// True when unknown addresses are taken for the host's: those that lived may be so by now.
  virtual bool takes_host_addresses(const Row& row) const = 0;
  /// True when it ends what belongs to the group of its first handle.
  virtual bool ends_group(const Row& row) const = 0;
  /// Gets faulted contexts going again, some of them; gives the groups that have ended thereby.
  virtual std::vector<uint32_t> repair(Values& values) = 0;
  /// Ends a handle for which there is no place any more.
  virtual void release(size_t type, Word handle) = 0;
  virtual void release_address(const PoolEntry& entry) = 0;
  /// Ends all handles, in the right order; other threads make no calls.
  virtual void release_all(Shared& shared) = 0;

  /// At the begin of a thread of the fuzzer.
  virtual void begin_thread(Values& values) = 0;
  /// How much memory the library has taken from the program, where that can be told.
  virtual uint64_t allocated() const = 0;
  /// Makes waits of the program's own making end: a call of another thread lasts long.
  /// Gives the groups that have ended thereby.
  virtual std::vector<uint32_t> rescue(Shared& shared) = 0;
  /// From now on, on this thread: the allocation after so many fails; 0: none does.
  virtual void fail_allocation(uint64_t after) = 0;

 private:
  const Tables tables_;
  std::vector<unsigned> rarities_;
};

/// The interface that this program is about.
std::unique_ptr<Api> make_api();
/// The number of a function in the table.
size_t row_of(const Api& api, const char* name);

}  // namespace km::fuzz
