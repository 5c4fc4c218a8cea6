#include "simt/codegen/lower/memory/column_memory.h"

namespace km::simt {

namespace {

constexpr uint64_t kColumnAlign = 64;

}  // namespace

llvm::Value* ColumnMemory::memory() {
  if (memory_ == nullptr) memory_ = builder_.bytes(kRowBytes * builder_.lanes(), "rows");
  return memory_;
}

/// A pointer to a column.
llvm::Value* ColumnMemory::place_of(llvm::Value* memory, const Access& access, unsigned index) {
  const uint64_t bytes = builder_.lanes() * ptx::size_bytes(access.type);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, index * bytes);
}

/// The alignment of columns: that of the buffer if a column is a multiple of it, otherwise none.
llvm::Align ColumnMemory::align(const Access& access) const {
  return llvm::Align(builder_.lanes() * ptx::size_bytes(access.type) % kColumnAlign ? 1
                                                                                    : kColumnAlign);
}

std::vector<llvm::Value*> ColumnMemory::load(llvm::Value* memory, const Access& access) {
  auto* column = builder_.vector_of(builder_.type_of(access.type));
  std::vector<llvm::Value*> columns;
  for (unsigned i = 0; i < access.count; ++i) {
    llvm::Value* place = place_of(memory, access, i);
    columns.push_back(b_.CreateAlignedLoad(column, place, align(access)));
  }
  return columns;
}

void ColumnMemory::store(llvm::Value* memory, const Access& access,
                         const std::vector<llvm::Value*>& columns) {
  for (unsigned i = 0; i < access.count; ++i) {
    b_.CreateAlignedStore(columns[i], place_of(memory, access, i), align(access));
  }
}

}  // namespace km::simt
