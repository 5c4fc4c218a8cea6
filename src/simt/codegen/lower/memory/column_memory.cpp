#include "simt/codegen/lower/memory/column_memory.h"

namespace km::simt {

namespace {

constexpr uint64_t kColumnAlign = 64;

}  // namespace

llvm::Value* ColumnMemory::memory() {
  if (memory_ == nullptr) memory_ = builder_.bytes(kRowBytes * lanes_, "rows");
  return memory_;
}

/// The pointer to one column.
llvm::Value* ColumnMemory::place_of(Value* memory, const Access& access, unsigned index) {
  const uint64_t bytes = lanes_ * ptx::size_bytes(access.type);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, index * bytes);
}

/// The alignment of columns: that of the buffer if a column is a multiple of it, otherwise none.
llvm::Align ColumnMemory::align(const Access& access) const {
  return llvm::Align(lanes_ * ptx::size_bytes(access.type) % kColumnAlign ? 1 : kColumnAlign);
}

std::vector<llvm::Value*> ColumnMemory::load(Value* memory, const Access& access) {
  auto* column = vector_of(type_of(access.type));
  std::vector<Value*> columns;
  for (unsigned i = 0; i < access.count; ++i) {
    Value* place = place_of(memory, access, i);
    columns.push_back(b_.CreateAlignedLoad(column, place, align(access)));
  }
  return columns;
}

void ColumnMemory::store(Value* memory, const Access& access, const std::vector<Value*>& columns) {
  for (unsigned i = 0; i < access.count; ++i) {
    b_.CreateAlignedStore(columns[i], place_of(memory, access, i), align(access));
  }
}

}  // namespace km::simt
