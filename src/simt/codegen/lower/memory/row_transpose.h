// RowTranspose, for accesses to several contiguous elements at an arbitrary address in each lane.
// One load or store per lane and some shuffles replace a gather or scatter per element.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "simt/codegen/lower/memory/column_memory.h"

namespace km::simt {

/// Transposes rows, one per lane, to columns, one per element of a row, and back.
class RowTranspose : private EmitterBase {
 public:
  RowTranspose(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
               ColumnMemory& columns)
      : EmitterBase(builder, plan), frame_(frame), columns_(columns) {}

  /// Loads the active lanes' rows and returns the columns.
  std::vector<Value*> load(const Access& access, Value* lanes);
  /// Stores columns to the active lanes' rows, lowest lane first, so that the highest lane wins if
  /// rows overlap.
  void store(const Access& access, const std::vector<Value*>& values, Value* lanes);

  // ---- Contiguous rows.
  /// True if permuted_columns() and permuted_rows() support the access.
  bool is_permuted(const Address& address, const Access& access) const;
  /// The columns of `whole`, which has four elements per lane.
  std::vector<Value*> permuted_columns(Value* whole);
  /// The contiguous rows of four columns.
  Value* permuted_rows(const std::vector<Value*>& columns);

 private:
  Value* active_rows(Value* lanes, Value* elsewhere);
  std::vector<Value*> row_pointers(Value* lanes);
  std::vector<Value*> load_rows_here(const Access& access, Value* lanes);
  std::vector<Value*> load_rows_apart(const Access& access, Value* lanes);
  void store_rows_here(const Access& access, const std::vector<Value*>& columns, Value* lanes);
  void store_rows_apart(const Access& access, const std::vector<Value*>& columns, Value* lanes);
  void call_row_mover(const char* what, const Access& access, Value* lanes,
                      const std::function<void(Value* lanes, Value* memory)>& body);
  bool has_many_rows();

  // ---- In row_words.cpp.
  uint32_t word_bytes(const Access& access) const;
  std::vector<Value*> load_words(const Access& access, const std::vector<Value*>& pointers);
  void store_words(const Access& access, const std::vector<Value*>& columns,
                   const std::vector<Value*>& pointers);

  // ---- In row_shuffles.cpp.
  uint32_t rows_turned(const Access& access) const;
  std::vector<Value*> columns_of(const std::vector<Value*>& rows, const Access& access);
  std::vector<Value*> rows_of(const std::vector<Value*>& columns, const Access& access);

  LaunchFrame& frame_;
  ColumnMemory& columns_;
  llvm::AllocaInst* elsewhere_ = nullptr;  // memory to which inactive lanes store
  std::optional<unsigned> row_accesses_;   // number of accesses with rows in the kernel
  unsigned rows_here_ = 0;                 // number of accesses expanded inline so far
};

}  // namespace km::simt
