#include "simt/codegen/lower/memory/nontemporal_writer.h"

#include <numeric>

namespace km::simt {

namespace {

constexpr uint64_t kLineBytes = 64;

}  // namespace

void NontemporalWriter::begin() {
  if (stores_.is_empty()) return;
  llvm::Value* blocks = b_.getInt64(1);
  for (unsigned d = 0; d < 3; ++d) {
    llvm::Value* size = builder_.load_field(frame_.record(), offsetof(LaunchRecord, grid) + 4 * d,
                                            b_.getInt32Ty(), true);
    blocks = b_.CreateMul(blocks, b_.CreateZExt(size, b_.getInt64Ty()));
  }
  llvm::Value* threads = b_.CreateZExt(frame_.block_threads(), b_.getInt64Ty());
  llvm::Value* most = builder_.load_field(frame_.record(), offsetof(LaunchRecord, cached_bytes),
                                          b_.getInt64Ty(), true);
  llvm::Value* of_block = b_.CreateMul(threads, b_.getInt64(stores_.thread_bytes()));
  exceeds_caches_ = b_.CreateICmpUGT(blocks, b_.CreateUDiv(most, of_block));
}

void NontemporalWriter::store(const Address& address, const Access& access, llvm::Value* content) {
  const llvm::Align align(ptx::size_bytes(access.type));
  llvm::Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
  auto* type = llvm::cast<llvm::FixedVectorType>(content->getType());
  const auto plain = [&]() -> std::vector<llvm::Value*> {
    b_.CreateAlignedStore(content, pointer, align);
    return {};
  };
  const auto line = static_cast<unsigned>(kLineBytes / align.value());  // elements of a cache line
  if (!access.nontemporal || type->getNumElements() % line != 0) {
    plain();
    return;
  }
  const auto past = [&]() -> std::vector<llvm::Value*> {
    for (unsigned first = 0; first < type->getNumElements(); first += line) {
      std::vector<int> pick(line);
      std::iota(pick.begin(), pick.end(), static_cast<int>(first));
      llvm::Value* at = b_.CreateConstGEP1_64(type->getElementType(), pointer, first);
      auto* store =
          b_.CreateAlignedStore(b_.CreateShuffleVector(content, pick), at, llvm::Align(kLineBytes));
      auto* const one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
      store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                         llvm::MDNode::get(builder_.context(), {one}));
    }
    return {};
  };
  llvm::Value* rest = b_.CreateAnd(address.base, b_.getInt64(kLineBytes - 1));
  builder_.choose(b_.CreateAnd(exceeds_caches_, b_.CreateICmpEQ(rest, b_.getInt64(0))), past,
                  plain);
}

}  // namespace km::simt
