// The end of a block's shared memory in generated code.
#pragma once

#include <cstddef>

#include "simt/abi.h"
#include "simt/codegen/builder.h"
#include "simt/kernel/layout.h"
#include "simt/kernel/shared_memory.h"

namespace km::simt {

/// The size of a block's own shared memory, an i64: static and dynamic memory, rounded up to the
/// allocation granule. The reserved memory follows it.
inline llvm::Value* shared_end(CodeBuilder& builder, const MemoryLayout& layout,
                               llvm::Value* record) {
  llvm::IRBuilder<>& b = builder.ir();
  llvm::Value* dynamic = builder.load_field(record, offsetof(LaunchRecord, shared_dynamic_bytes),
                                            b.getInt64Ty(), true);
  const uint64_t before = layout.dynamic_offset() + kSharedGranuleBytes - 1;
  return b.CreateAnd(b.CreateAdd(dynamic, builder.i64(before)),
                     builder.i64(~(kSharedGranuleBytes - 1)));
}

/// Zeroes the reserved memory after the shared memory at `shared`, an i64. Kernels that use it
/// expect zeros when a block starts.
inline void clear_reserved_shared(CodeBuilder& builder, const MemoryLayout& layout,
                                  llvm::Value* record, llvm::Value* shared) {
  llvm::IRBuilder<>& b = builder.ir();
  llvm::Value* begin = b.CreateAdd(shared, shared_end(builder, layout, record));
  b.CreateMemSetInline(b.CreateIntToPtr(begin, b.getPtrTy()), llvm::MaybeAlign(kSharedGranuleBytes),
                       b.getInt8(0), b.getInt64(kReservedSharedBytes));
}

}  // namespace km::simt
