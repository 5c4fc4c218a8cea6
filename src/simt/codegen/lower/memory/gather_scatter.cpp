#include "simt/codegen/lower/memory/gather_scatter.h"

#include "simt/codegen/lower/lanes/lane_helpers.h"

namespace km::simt {

std::vector<llvm::Value*> GatherScatter::load(const LaneIndex& index, const Access& access,
                                              Value* lanes) {
  if (has_rows(access)) return rows_.load(access, lanes);
  auto* element = type_of(access.type);
  const uint64_t size = ptx::size_bytes(access.type);
  std::vector<Value*> results;
  for (unsigned i = 0; i < access.count; ++i) {
    auto* type = vector_of(element);
    if (machine().has_gather_scatter() && size >= 4 && !access.is_volatile) {
      Value* pointers = addresses_.lane_pointers(index, lanes, i * size);
      Value* active = mask();
      if (active == nullptr) active = llvm::Constant::getAllOnesValue(vector_of(b_.getInt1Ty()));
      results.push_back(b_.CreateMaskedGather(type, pointers, llvm::Align(size), active,
                                              llvm::Constant::getNullValue(type)));
      continue;
    }
    frame_.note_line();
    std::vector<Value*> arguments = addresses_.lane_arguments(index, lanes, i * size);
    arguments.push_back(mask_bits());
    auto* helper = gather_helper(builder_, element, access.is_volatile, scale_of(index));
    results.push_back(b_.CreateCall(helper, arguments));
  }
  return results;
}

std::vector<llvm::Value*> GatherScatter::load_at(const Address& address, const Access& access) {
  const LaneIndex index = has_rows(access) ? LaneIndex() : addresses_.index_of(address);
  return load(index, access, index.lanes ? nullptr : addresses_.lanes_of(address));
}

void GatherScatter::store(const LaneIndex& index, const Access& access,
                          const std::vector<Value*>& values, Value* lanes) {
  if (has_rows(access)) return rows_.store(access, values, lanes);
  const uint64_t size = ptx::size_bytes(access.type);
  for (unsigned i = 0; i < access.count; ++i) {
    Value* content = splat(values[i]);
    if (machine().has_gather_scatter() && size >= 4 && !access.is_volatile) {
      Value* pointers = addresses_.lane_pointers(index, lanes, i * size);
      b_.CreateMaskedScatter(content, pointers, llvm::Align(size), mask());
      continue;
    }
    frame_.note_line();
    std::vector<Value*> arguments = addresses_.lane_arguments(index, lanes, i * size);
    arguments.insert(arguments.end(), {content, mask_bits()});
    auto* element = content->getType()->getScalarType();
    b_.CreateCall(scatter_helper(builder_, element, access.is_volatile, scale_of(index)),
                  arguments);
  }
}

void GatherScatter::store_at(const Address& address, const Access& access,
                             const std::vector<Value*>& values) {
  const LaneIndex index = has_rows(access) ? LaneIndex() : addresses_.index_of(address);
  store(index, access, values, index.lanes ? nullptr : addresses_.lanes_of(address));
}

}  // namespace km::simt
