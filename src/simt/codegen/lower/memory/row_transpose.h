// Accesses at an address of every lane's own that touch more than one element there: a load or
// store of the row per lane and shuffles, instead of a gather or scatter per element.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "simt/codegen/lower/memory/column_memory.h"

namespace km::simt {

/// Turns rows, one for each lane, into columns, one for each element of a row, and back.
class RowTranspose : public Room {
 public:
  RowTranspose(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
               ColumnMemory& columns)
      : Room(builder, plan), frame_(frame), columns_(columns) {}

  /// Loads the active lanes' rows from their addresses; gives the columns.
  std::vector<Value*> load(const Access& access, Value* lanes);
  /// Stores columns to the active lanes' rows, lowest lane first: if lanes write one place, the
  /// highest wins.
  void store(const Access& access, const std::vector<Value*>& values, Value* lanes);

  // ---- Rows that lie side by side.
  /// True if permuted_columns() and permuted_rows() are for the access.
  bool is_permuted(const Address& address, const Access& access) const;
  /// The columns of `whole`, four elements for each lane.
  std::vector<Value*> permuted_columns(Value* whole);
  /// The rows of four columns, side by side.
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

  // ---- row_words.cpp
  uint32_t word_bytes(const Access& access) const;
  std::vector<Value*> load_words(const Access& access, const std::vector<Value*>& pointers);
  void store_words(const Access& access, const std::vector<Value*>& columns,
                   const std::vector<Value*>& pointers);

  // ---- row_shuffles.cpp
  uint32_t rows_turned(const Access& access) const;
  std::vector<Value*> columns_of(const std::vector<Value*>& rows, const Access& access);
  std::vector<Value*> rows_of(const std::vector<Value*>& columns, const Access& access);

  LaunchFrame& frame_;
  ColumnMemory& columns_;
  llvm::AllocaInst* elsewhere_ = nullptr;  // the place that inactive lanes store to
  std::optional<unsigned> row_accesses_;   // of the kernel
  unsigned rows_here_ = 0;                 // accesses whose code is in place so far
};

}  // namespace km::simt
