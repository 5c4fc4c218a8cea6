// Prefetcher, for loads that hardware prefetchers do not anticipate.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simt/analysis/memory/index_strides.h"
#include "simt/codegen/lower/memory/access.h"
#include "simt/plan/memory/address_advance.h"

namespace km::simt {

/// Generates prefetches of the memory that the next iteration of a loop, the next packet or a later
/// block loads.
class Prefetcher : private EmitterBase {
 public:
  Prefetcher(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
             Addresses& addresses)
      : EmitterBase(builder, plan),
        frame_(frame),
        values_(values),
        addresses_(addresses),
        advances_(plan.base) {}

  /// Starts a region, and forgets the loads of the last one.
  void begin_region();
  /// Generates prefetches for the successors of a load, if the hardware would not recognise their
  /// pattern.
  void prefetch(const Inst& inst, const Address& address, const Access& access);
  /// True if the region's code so far loads data on which a later region works.
  bool loads_tile() const { return loads_tile_; }

 private:
  enum class CacheLevel : uint8_t { first, second };

  void prefetch_lines(Value* first, uint64_t size_bytes, CacheLevel level);
  std::optional<int64_t> block_step(const Inst& inst);
  const std::vector<const Inst*>& loads_alike(const Inst& load);
  void prefetch_next_block(const Inst& inst, const Address& address, uint64_t size_bytes);
  void prefetch_moving(const Address& address, uint64_t size_bytes);
  Value* round_step(ValueId value, uint32_t loop);
  Value* round_step_of_sum(const Inst& sum, uint32_t loop);
  bool prefetch_next_tile(const Inst& inst, const Address& address, uint64_t size_bytes);
  void prefetch_next_packet(const Inst& inst, const Address& address, uint64_t size_bytes);
  Value* progress_place();

  LaunchFrame& frame_;
  Values& values_;
  Addresses& addresses_;
  AddressAdvance advances_;
  std::optional<IndexStrides> block_strides_;
  std::map<std::pair<ptx::Opcode, ValueId>, std::vector<const Inst*>> alike_loads_;
  uint64_t progress_used_bytes_ = 0;
  bool loads_tile_ = false;
};

}  // namespace km::simt
