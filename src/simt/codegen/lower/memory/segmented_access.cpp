#include "simt/codegen/lower/memory/segmented_access.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace km::simt {

namespace {

constexpr uint32_t kLeastRun = 8;

}  // namespace

/// The length of the runs that the form of the address suggests for this access; 0 if it suggests
/// none that are long enough.
uint32_t SegmentedAccess::run_lanes(const Address& address, const Access& access) {
  const bool native = ptx::size_bits(access.type) >= 32 && ptx::size_bits(access.type) <= 64;
  if (address.varying == kNone || access.count != 1 || access.is_volatile || !native) return 0;
  const LaneRun run = runs_.of(address.varying);
  const bool dense = run.step == static_cast<int64_t>(ptx::size_bytes(access.type));
  return dense && run.lanes >= kLeastRun ? run.lanes : 0;
}

/// True if the active lanes of each run are contiguous, starting at the run's first lane.
llvm::Value* SegmentedAccess::are_runs(Value* lanes, uint32_t run, uint64_t size_bytes) {
  KM_ASSERT(std::has_single_bit(run) && lanes_ % run == 0,
            "the length of a run is a power of two that divides the packet");
  std::vector<int> first(lanes_);
  std::vector<llvm::Constant*> distance(lanes_);
  for (uint32_t l = 0; l < lanes_; ++l) {
    first[l] = static_cast<int>(l & ~(run - 1));
    distance[l] = b_.getInt64((l & (run - 1)) * size_bytes);
  }
  Value* expected =
      b_.CreateAdd(b_.CreateShuffleVector(lanes, first), llvm::ConstantVector::get(distance));
  Value* wrong = builder_.and_masks(mask(), b_.CreateICmpNE(lanes, expected));
  return b_.CreateNot(builder_.any(wrong));
}

/// The mask of the `run` lanes from `first` on.
llvm::Value* SegmentedAccess::mask_of_run(uint32_t first, uint32_t run) {
  auto* type = llvm::FixedVectorType::get(b_.getInt1Ty(), run);
  if (mask() == nullptr) return llvm::Constant::getAllOnesValue(type);
  std::vector<int> picks;
  for (uint32_t l = 0; l < run; ++l) picks.push_back(static_cast<int>(first + l));
  return b_.CreateShuffleVector(mask(), picks);
}

/// The address of the first lane of each run.
SegmentedAccess::Places SegmentedAccess::places_of(const Address& address, uint32_t run) {
  Places places;
  for (uint32_t l = 0; l < lanes_; l += run) {
    Value* first = b_.CreateExtractElement(address.start, l);
    places.push_back(b_.CreateAdd(first, i64(address.offset_bytes)));
  }
  return places;
}

/// Loads one vector per run by `load_one`.
std::vector<llvm::Value*> SegmentedAccess::load_all(
    const Places& places, const std::function<Value*(uint32_t run, Value* from)>& load_one) {
  std::vector<Value*> parts;
  for (uint32_t i = 0; i < places.size(); ++i) {
    parts.push_back(load_one(i, b_.CreateIntToPtr(places[i], b_.getPtrTy())));
  }
  return {llvm::concatenateVectors(b_, parts)};
}

std::vector<llvm::Value*> SegmentedAccess::load_plain(const Places& places, const Access& access,
                                                      uint32_t run) {
  auto* type = llvm::FixedVectorType::get(type_of(access.type), run);
  const llvm::Align align(ptx::size_bytes(access.type));
  return load_all(places, [&](uint32_t, Value* from) -> Value* {
    return builder_.beside_context(b_.CreateAlignedLoad(type, from, align));
  });
}

std::vector<llvm::Value*> SegmentedAccess::load_masked(const Places& places, const Access& access,
                                                       uint32_t run) {
  auto* type = llvm::FixedVectorType::get(type_of(access.type), run);
  const llvm::Align align(ptx::size_bytes(access.type));
  return load_all(places, [&](uint32_t i, Value* from) -> Value* {
    return b_.CreateMaskedLoad(type, from, align, mask_of_run(i * run, run),
                               llvm::Constant::getNullValue(type));
  });
}

/// True if loads of all lanes cannot fault, as in PartialContiguous::load(). Runs without active
/// lanes then read from spare memory, where their places point afterwards.
llvm::Value* SegmentedAccess::may_all_read(Places& places, uint32_t run, uint64_t size_bytes) {
  Value* spare = b_.CreatePtrToInt(columns_.memory(), b_.getInt64Ty());
  Value* may_read = b_.getTrue();
  for (uint32_t i = 0; i < places.size(); ++i) {
    Value* bits = b_.CreateBitCast(mask_of_run(i * run, run), b_.getIntNTy(run));
    Value* some = b_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
    places[i] = b_.CreateSelect(some, places[i], spare);
    may_read = b_.CreateAnd(may_read, addresses_.lies_on_one_page(places[i], run * size_bytes));
  }
  return may_read;
}

/// Loads one vector per run. With mask registers, all lanes are loaded if that cannot fault.
std::vector<llvm::Value*> SegmentedAccess::load_runs(const Address& address, const Access& access,
                                                     uint32_t run) {
  Places places = places_of(address, run);
  if (mask() == nullptr) return load_plain(places, access, run);
  if (!machine().has_mask_registers() && run != lanes_) return load_masked(places, access, run);
  Value* may_read = may_all_read(places, run, ptx::size_bytes(access.type));
  return builder_.choose(
      may_read, [&] { return load_plain(places, access, run); },
      [&] { return load_masked(places, access, run); });
}

std::vector<llvm::Value*> SegmentedAccess::load(const Address& address, const Access& access) {
  const uint32_t run = run_lanes(address, access);
  const auto gathered = [&] { return gathers_.load(address.index, access, address.lanes); };
  if (run == 0) return gathered();
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  Value* fits = are_runs(address.start, run, size_bytes);
  if (mask() == nullptr || machine().has_masked_loads(size_bytes)) {
    return builder_.choose(fits, [&] { return load_runs(address, access, run); }, gathered);
  }
  // LLVM makes a branch per lane of a masked load.
  Places places = places_of(address, run);
  Value* may_read = may_all_read(places, run, size_bytes);
  return builder_.choose(
      b_.CreateAnd(fits, may_read), [&] { return load_plain(places, access, run); }, gathered);
}

}  // namespace km::simt
