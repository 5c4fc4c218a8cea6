// ShapedAccess, which selects the code of a load or store by the shape of its address: uniform,
// with constant offsets, or varying.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/partial_contiguous.h"
#include "simt/codegen/lower/memory/segmented_access.h"

namespace km::simt {

/// Selects the class that generates an access, and generates simple forms itself.
class ShapedAccess : private EmitterBase {
 public:
  ShapedAccess(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Addresses& addresses,
               AccessChecks& checks)
      : EmitterBase(builder, plan),
        frame_(frame),
        addresses_(addresses),
        columns_(builder),
        rows_(builder, plan, frame, columns_),
        writer_(builder, plan.nontemporal, frame),
        contiguous_(builder, plan, frame, addresses, checks, columns_, writer_),
        gathers_(builder, plan, frame, addresses, rows_),
        segments_(builder, plan, addresses, columns_, gathers_) {}

  /// The accesses to rows, which neighbouring loads use too.
  RowTranspose& rows() { return rows_; }
  /// Generates code at the start of the entry function.
  void begin() { writer_.begin(); }
  /// Loads the elements of each lane. Elements of 128 bits are loaded as two of 64 bits, unless the
  /// load must be atomic.
  std::vector<Value*> load_parts(const Address& address, const Access& access);
  /// Stores the elements of each lane. Elements of 128 bits are stored as two of 64 bits, unless
  /// the store must be atomic.
  void store_parts(const Address& address, const Access& access, const std::vector<Value*>& values);
  /// Loads elements of at most 64 bits: scalars if the address is uniform, otherwise vectors.
  std::vector<Value*> load(const Address& address, const Access& access);
  /// Stores elements of at most 64 bits. Values may be scalars only if the address is uniform.
  void store(const Address& address, const Access& access, const std::vector<Value*>& values);

 private:
  llvm::Type* whole_type();
  Value* load_whole(const Address& address);
  std::vector<Value*> load_vector(const Address& address, const Access& access, ptx::Type whole);
  void store_vector(const Address& address, const Access& access, ptx::Type whole,
                    const std::vector<Value*>& values);
  void store_whole(const Address& address, Value* content);
  std::vector<Value*> load_uniform(const Address& address, const Access& access);
  void store_uniform(const Address& address, const Access& access,
                     const std::vector<Value*>& values);
  std::vector<Value*> load_offsets(const Address& address, const Access& access);
  void store_offsets(const Address& address, const Access& access,
                     const std::vector<Value*>& values);
  std::vector<Value*> load_wide(const Address& address, const Access& access);
  std::vector<Value*> load_each(const Address& address, const Access& access);
  void store_each(const Address& address, const Access& access, Value* content);

  LaunchFrame& frame_;
  Addresses& addresses_;
  ColumnMemory columns_;
  RowTranspose rows_;
  NontemporalWriter writer_;
  PartialContiguous contiguous_;
  GatherScatter gathers_;
  SegmentedAccess segments_;
  InlineBudget inline_apart_;  // accesses with constant offsets that are not contiguous
};

}  // namespace km::simt
