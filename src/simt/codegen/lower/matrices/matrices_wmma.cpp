// wmma.load and wmma.store. Programs unroll hundreds of them, so each form is one helper, which
// takes the pointer, the stride and the registers in memory. A line is a row or column of the
// matrix that is contiguous in memory.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <map>

#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/lanes/lane_loops.h"
#include "simt/codegen/lower/matrices/matrices.h"
#include "simt/forms/tensor_form.h"

namespace km::simt {

using arithmetic::WmmaFragment;
using arithmetic::WmmaPieces;
using ptx::Operand;
using ptx::Type;

namespace {

/// The arguments of a helper.
struct Matrix {
  explicit Matrix(const llvm::Function& function)
      : base(function.getArg(0)),
        stride_bytes(function.getArg(1)),
        lanes(function.getArg(2)),
        registers(function.getArg(3)) {}

  llvm::Value *base, *stride_bytes;  // i64
  llvm::Value* lanes;                // i32: active lanes
  llvm::Value* registers;            // for each register the words of 32 lanes
};

llvm::Type* piece_type(llvm::IRBuilder<>& b, const WmmaPieces& pieces) {
  return b.getIntNTy(8 * pieces.size_bytes);
}

llvm::Value* place_of(llvm::IRBuilder<>& b, const Matrix& matrix, llvm::Value* line,
                      llvm::Value* offset_bytes) {
  llvm::Value* start = b.CreateAdd(matrix.base, b.CreateMul(line, matrix.stride_bytes));
  return b.CreateIntToPtr(b.CreateAdd(start, offset_bytes), b.getPtrTy());
}

/// A group of registers whose pieces fill contiguous parts of some lines, so that one vector access
/// per line moves them. A piece is the part of a register that is contiguous in the matrix.
class LineGroup {
 public:
  /// Describes the group that starts at register `first`.
  LineGroup(const WmmaPieces& pieces, uint32_t first) : pieces_(pieces), first_(first) {
    uint64_t end = 0;
    begin_ = UINT64_MAX;
    for_each([&](const WmmaPieces::At& at, uint32_t) {
      lines_.emplace(at.line, static_cast<int>(lines_.size()));
      begin_ = std::min(begin_, at.offset_bytes);
      end = std::max(end, at.offset_bytes + pieces_.size_bytes);
    });
    width_ = static_cast<uint32_t>((end - begin_) / pieces_.size_bytes);
  }

  /// Calls body(position in the matrix, index in the group) for each piece.
  template <typename Body>
  void for_each(const Body& body) const {
    uint32_t index = 0;
    for (uint32_t r = 0; r < pieces_.group; ++r) {
      for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        for (uint32_t part = 0; part < pieces_.parts; ++part) {
          body(pieces_.at(first_ + r, lane, part), index++);
        }
      }
    }
  }

  /// The number of pieces in the group.
  uint32_t piece_count() const { return pieces_.group * kWarpLanes * pieces_.parts; }
  uint32_t width() const { return width_; }  // number of pieces per line

  /// For each piece, its index if the group's lines are concatenated.
  std::vector<int> order() const {
    std::vector<int> order(piece_count());
    for_each([&](const WmmaPieces::At& at, uint32_t index) {
      const uint64_t along = (at.offset_bytes - begin_) / pieces_.size_bytes;
      order[index] = lines_.at(at.line) * static_cast<int>(width_) + static_cast<int>(along);
    });
    return order;
  }

  /// The address of the group's part of each line.
  std::vector<llvm::Value*> places(llvm::IRBuilder<>& b, const Matrix& matrix) const {
    std::vector<llvm::Value*> places(lines_.size());
    for (const auto& [line, index] : lines_) {
      places[index] = place_of(b, matrix, b.getInt64(line), b.getInt64(begin_));
    }
    return places;
  }

  /// The pointer to the words of the group's registers.
  llvm::Value* registers(llvm::IRBuilder<>& b, const Matrix& matrix) const {
    const uint64_t bytes = uint64_t{kWarpLanes} * pieces_.parts * pieces_.size_bytes;
    return b.CreateConstGEP1_64(b.getInt8Ty(), matrix.registers, first_ * bytes);
  }

 private:
  const WmmaPieces& pieces_;
  const uint32_t first_;
  uint64_t begin_ = 0;
  uint32_t width_ = 0;
  std::map<uint64_t, int> lines_;  // numbered in the order in which pieces reach them
};

/// Loads whole lines by vector loads, if all lanes are active.
void load_lines(llvm::IRBuilder<>& b, const WmmaPieces& pieces, const Matrix& matrix) {
  for (uint32_t r = 0; r < pieces.registers; r += pieces.group) {
    const LineGroup group(pieces, r);
    auto* line = llvm::FixedVectorType::get(piece_type(b, pieces), group.width());
    std::vector<llvm::Value*> lines;
    for (llvm::Value* place : group.places(b, matrix)) {
      lines.push_back(b.CreateAlignedLoad(line, place, llvm::Align(pieces.size_bytes)));
    }
    llvm::Value* whole = llvm::concatenateVectors(b, lines);
    b.CreateAlignedStore(b.CreateShuffleVector(whole, group.order()), group.registers(b, matrix),
                         llvm::Align(64));
  }
}

void store_lines(llvm::IRBuilder<>& b, const WmmaPieces& pieces, const Matrix& matrix) {
  for (uint32_t r = 0; r < pieces.registers; r += pieces.group) {
    const LineGroup group(pieces, r);
    auto* all = llvm::FixedVectorType::get(piece_type(b, pieces), group.piece_count());
    llvm::Value* whole = b.CreateAlignedLoad(all, group.registers(b, matrix), llvm::Align(64));
    const std::vector<int> order = group.order();
    std::vector<int> from(order.size());
    for (size_t i = 0; i < order.size(); ++i) from[order[i]] = static_cast<int>(i);
    auto next = from.begin();
    for (llvm::Value* place : group.places(b, matrix)) {
      const std::vector<int> line(next, next + group.width());
      next += group.width();
      b.CreateAlignedStore(b.CreateShuffleVector(whole, line), place,
                           llvm::Align(pieces.size_bytes));
    }
  }
}

/// The line and offset of each piece, lane by lane.
std::vector<uint32_t> piece_table(const WmmaPieces& pieces) {
  std::vector<uint32_t> words;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (uint32_t i = 0; i < pieces.registers * pieces.parts; ++i) {
      const WmmaPieces::At at = pieces.at(i / pieces.parts, lane, i % pieces.parts);
      words.push_back(static_cast<uint32_t>(at.line));
      words.push_back(static_cast<uint32_t>(at.offset_bytes));
    }
  }
  return words;
}

}  // namespace

/// Moves the pieces of the active lanes one by one, if some lanes are inactive.
void Matrices::move_wmma_lanes(llvm::IRBuilder<>& builder, llvm::Function& function,
                               const WmmaPieces& pieces, bool stores) {
  const Matrix matrix(function);
  const std::vector<uint32_t> words = piece_table(pieces);
  auto* table =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, words), "km_pieces");
  llvm::Type *word = builder.getInt32Ty(), *element = piece_type(builder, pieces);
  const uint32_t count = pieces.registers * pieces.parts;
  emit_lane_loop(builder, matrix.lanes, [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* first = b.CreateMul(lane, b.getInt32(2 * count));
    for (uint32_t i = 0; i < count; ++i) {
      auto entry = [&](uint32_t offset) {
        Value* index = b.CreateAdd(first, b.getInt32(2 * i + offset));
        return b.CreateZExt(b.CreateLoad(word, b.CreateGEP(word, table, index)), b.getInt64Ty());
      };
      Value* place = place_of(b, matrix, entry(0), entry(1));
      Value* index =
          b.CreateAdd(b.CreateMul(lane, b.getInt32(pieces.parts)),
                      b.getInt32(i / pieces.parts * kWarpLanes * pieces.parts + i % pieces.parts));
      Value* own = b.CreateGEP(element, matrix.registers, index);
      Value *from = stores ? own : place, *to = stores ? place : own;
      const llvm::Align align(pieces.size_bytes);
      b.CreateAlignedStore(b.CreateAlignedLoad(element, from, align), to, align);
    }
  });
}

/// The helper that moves fragments of this form.
llvm::Function* Matrices::wmma_helper(const Inst& inst, const WmmaPieces& pieces, bool stores) {
  const std::string name = form_name(*inst.ptx);
  if (auto* found = builder_.helper(name)) return found;
  auto* wide = b_.getInt64Ty();
  auto* function =
      builder_.new_helper(name, b_.getVoidTy(), {wide, wide, b_.getInt32Ty(), b_.getPtrTy()});
  const Matrix matrix(*function);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "start", function));
  auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
  auto* some = llvm::BasicBlock::Create(context_, "some", function);
  b.CreateCondBr(b.CreateICmpEQ(matrix.lanes, i32(builder_.all_lanes())), all_block, some);
  b.SetInsertPoint(all_block);
  if (stores) {
    store_lines(b, pieces, matrix);
  } else {
    load_lines(b, pieces, matrix);
  }
  b.CreateRetVoid();
  b.SetInsertPoint(some);
  move_wmma_lanes(b, *function, pieces, stores);
  b.CreateRetVoid();
  return function;
}

/// The content of the first active lane. PTX requires it to be equal in all lanes.
llvm::Value* Matrices::of_warp(Value* content) {
  return content->getType()->isVectorTy() ? builder_.of_first_lane(content, mask_bits()) : content;
}

/// Tests the alignment, and in checked mode the memory of all lines: each line is accessed by some
/// lane.
void Matrices::check_wmma(const Inst& inst, const WmmaFragment& fragment, const WmmaPieces& pieces,
                          const WmmaMatrix& matrix) {
  Value* active = b_.CreateICmpNE(mask_bits(), i32(0));
  if (pieces.size_bytes > 1) {
    Value* low =
        b_.CreateAnd(b_.CreateOr(matrix.base, matrix.stride_bytes), i64(pieces.size_bytes - 1));
    builder_.branch_unlikely(b_.CreateAnd(active, b_.CreateICmpNE(low, i64(0))), [&] {
      checks_.call_misaligned(matrix.base, mask_bits(), checks_.access_site(pieces.size_bytes, 0));
    });
  }
  if (plan_.variant.checked) {
    Value* lines = b_.CreateZExt(builder_.lane_numbers(), vector_of(b_.getInt64Ty()));
    Value* starts = b_.CreateMul(lines, splat(matrix.stride_bytes));
    Value* addresses = b_.CreateAdd(splat(matrix.base), starts);
    Value* is_line = b_.CreateICmpULT(builder_.lane_numbers(), splat(i32(fragment.lines())));
    Value* sizes = b_.CreateSelect(is_line, splat(i64(fragment.line_bytes())), splat(i64(0)));
    checks_.check_lane_ranges(inst, {addresses, sizes, pieces.size_bytes}, splat(active));
    AccessReports::Manner manner(AccessKind::read);
    if (inst.ptx->has(ptx::Modifier::store)) {
      manner = stored_lines(inst, fragment, pieces, matrix);
      manner.held_bytes = sizes;
    }
    checks_.reports().report_ranges(inst, addresses, sizes, manner, splat(active));
  }
  frame_.note_line();
}

/// The manner of a store, with its lines in memory of the checker's own.
AccessReports::Manner Matrices::stored_lines(const Inst& inst, const WmmaFragment& fragment,
                                             const WmmaPieces& pieces, const WmmaMatrix& matrix) {
  AccessReports::Manner manner(AccessKind::write);
  if (!checks_.reports().has_accesses()) return manner;
  const uint64_t line_bytes = fragment.line_bytes();
  auto* type = llvm::ArrayType::get(b_.getInt8Ty(), fragment.lines() * line_bytes);
  auto* memory = builder_.variable(type, "stored_lines");
  memory->setAlignment(llvm::Align(64));
  Value* base = b_.CreatePtrToInt(memory, b_.getInt64Ty());
  b_.CreateCall(wmma_helper(inst, pieces, true),
                {base, i64(line_bytes), mask_bits(), matrix.registers});
  Value* lines = b_.CreateZExt(builder_.lane_numbers(), vector_of(b_.getInt64Ty()));
  manner.sources = b_.CreateAdd(splat(base), b_.CreateMul(lines, splat(i64(line_bytes))));
  return manner;
}

/// Moves the fragment between `registers` and the memory to which operand `address` points.
void Matrices::move_wmma(const Inst& inst, const WmmaFragment& fragment, unsigned address,
                         Value* registers) {
  const auto& ptx = *inst.ptx;
  const Operand& at = ptx.operands[address];
  const Address place = addresses_.address_of(inst, at, space_of(kernel_, inst, at));
  const bool uniform = place.lanes == nullptr && place.offsets == nullptr;
  WmmaMatrix matrix;
  matrix.base = uniform ? place.base : of_warp(addresses_.lanes_of(place));
  Value* elements = i64(fragment.line_elements());
  if (ptx.operand_count > 2) {
    elements = of_warp(values_.operand(inst, ptx.operands[2], Type::u32, false, false));
    elements = b_.CreateZExt(elements, b_.getInt64Ty());
  }
  matrix.stride_bytes = b_.CreateLShr(b_.CreateMul(elements, i64(element_bits(fragment.type))), 3);
  matrix.registers = registers;
  const WmmaPieces pieces(fragment);
  check_wmma(inst, fragment, pieces, matrix);
  b_.CreateCall(wmma_helper(inst, pieces, address == 0),
                {matrix.base, matrix.stride_bytes, mask_bits(), registers});
}

void Matrices::lower_wmma_load(const Inst& inst) {
  const WmmaFragment fragment = *arithmetic::wmma_fragment(*inst.ptx);
  const Type type = fragment.register_type();
  make_fragment_memory();
  const uint32_t place = new_fragments(fragment.registers(), type);
  move_wmma(inst, fragment, 1, fragment_pointer(place));
  define_fragments(inst, inst.ptx->operands[0], fragment.registers(), place, type);
}

/// Lowers wmma.store, which needs its registers contiguous in the buffer.
void Matrices::lower_wmma_store(const Inst& inst) {
  const WmmaFragment fragment = *arithmetic::wmma_fragment(*inst.ptx);
  std::vector<const Operand*> sources;
  for (uint32_t r = 0; r < fragment.registers(); ++r) {
    sources.push_back(&tensor_register(inst.ptx->operands[1], r));
  }
  move_wmma(inst, fragment, 0,
            fragment_pointer(fragments_in_row(inst, sources, fragment.register_type())));
}

}  // namespace km::simt
