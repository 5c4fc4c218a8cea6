#include "simt/codegen/lower/memory/row_transpose.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

/// The lanes' addresses, with those of inactive lanes replaced by `elsewhere`: accessing that is
/// harmless, and cheaper than a branch per lane.
llvm::Value* RowTranspose::active_rows(Value* lanes, Value* elsewhere) {
  if (mask() == nullptr) return lanes;
  Value* spare = splat(b_.CreatePtrToInt(elsewhere, b_.getInt64Ty()));
  return b_.CreateSelect(mask(), lanes, spare);
}

/// The pointers to the lanes' rows.
std::vector<llvm::Value*> RowTranspose::row_pointers(Value* lanes) {
  std::vector<Value*> pointers;
  for (uint32_t l = 0; l < lanes_; ++l) {
    pointers.push_back(b_.CreateIntToPtr(b_.CreateExtractElement(lanes, l), b_.getPtrTy()));
  }
  return pointers;
}

std::vector<llvm::Value*> RowTranspose::load(const Access& access, Value* lanes) {
  auto* zeros_type = llvm::ArrayType::get(b_.getInt8Ty(), kRowBytes);
  auto* zeros = builder_.private_constant(llvm::Constant::getNullValue(zeros_type), "km_zeros");
  zeros->setAlignment(llvm::Align(kRowBytes));
  lanes = active_rows(lanes, zeros);
  if (access.is_rare || has_many_rows()) return load_rows_apart(access, lanes);
  ++rows_here_;
  return load_rows_here(access, lanes);
}

/// Loads rows inline.
std::vector<llvm::Value*> RowTranspose::load_rows_here(const Access& access, Value* lanes) {
  if (word_bytes(access) != 0) return load_words(access, row_pointers(lanes));
  auto* row = llvm::FixedVectorType::get(type_of(access.type), access.count);
  const llvm::Align align(ptx::size_bytes(access.type));
  std::vector<Value*> rows;
  for (Value* pointer : row_pointers(lanes)) {
    rows.push_back(b_.CreateAlignedLoad(row, pointer, align));
  }
  return columns_of(rows, access);
}

void RowTranspose::store(const Access& access, const std::vector<Value*>& values, Value* lanes) {
  std::vector<Value*> columns;
  for (Value* content : values) columns.push_back(splat(content));
  if (elsewhere_ == nullptr) elsewhere_ = builder_.bytes(kRowBytes, "elsewhere");
  lanes = active_rows(lanes, elsewhere_);
  if (access.is_rare || has_many_rows()) {
    store_rows_apart(access, columns, lanes);
  } else {
    ++rows_here_;
    store_rows_here(access, columns, lanes);
  }
}

/// Stores rows inline.
void RowTranspose::store_rows_here(const Access& access, const std::vector<Value*>& columns,
                                   Value* lanes) {
  if (word_bytes(access) != 0) return store_words(access, columns, row_pointers(lanes));
  const std::vector<Value*> rows = rows_of(columns, access);
  const std::vector<Value*> pointers = row_pointers(lanes);
  const llvm::Align align(ptx::size_bytes(access.type));
  KM_ASSERT(rows.size() == lanes_, "the number of rows is the number of lanes");
  for (uint32_t l = 0; l < lanes_; ++l) b_.CreateAlignedStore(rows[l], pointers[l], align);
}

/// True if the kernel has so many accesses with rows that they must call helpers: inline code takes
/// some 200 instructions each, and would take seconds to compile.
bool RowTranspose::has_many_rows() {
  constexpr unsigned kMany = 24;
  if (!row_accesses_) {
    unsigned count = 0;
    for (const BasicBlock& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) {
        const auto access = memory_access(kernel_, inst);
        if (access && access->size_bytes > ptx::size_bytes(inst.ptx->type())) ++count;
      }
    }
    row_accesses_ = count;
  }
  // Combined neighbour loads are known only when they are lowered, so expanded accesses count too.
  return std::max(*row_accesses_, rows_here_) > kMany;
}

/// Calls the helper that moves rows of this kind, whose code `body` generates at the first call.
void RowTranspose::call_row_mover(const char* what, const Access& access, Value* lanes,
                                  const std::function<void(Value* lanes, Value* memory)>& body) {
  const std::string name =
      what + std::to_string(access.count) + "_of_" + element_name(type_of(access.type));
  llvm::Function* function = builder_.helper(name);
  if (function == nullptr) {
    function = builder_.new_helper(name, b_.getVoidTy(), {lanes->getType(), b_.getPtrTy()});
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "start", function));
    b_.SetCurrentDebugLocation({});
    body(function->getArg(0), function->getArg(1));
    b_.CreateRetVoid();
  }
  frame_.note_line();
  b_.CreateCall(function, {lanes, columns_.memory()});
}

/// Loads rows by a helper.
std::vector<llvm::Value*> RowTranspose::load_rows_apart(const Access& access, Value* lanes) {
  call_row_mover("load_rows_", access, lanes, [&](Value* from, Value* memory) {
    columns_.store(memory, access, load_rows_here(access, from));
  });
  return columns_.load(columns_.memory(), access);
}

/// Stores rows by a helper.
void RowTranspose::store_rows_apart(const Access& access, const std::vector<Value*>& columns,
                                    Value* lanes) {
  columns_.store(columns_.memory(), access, columns);
  call_row_mover("store_rows_", access, lanes, [&](Value* to, Value* memory) {
    store_rows_here(access, columns_.load(memory, access), to);
  });
}

}  // namespace km::simt
