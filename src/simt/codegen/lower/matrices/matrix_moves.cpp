// ldmatrix, stmatrix and movmatrix, for 8x8 matrices of 16-bit elements. A matrix in registers has
// two elements in each of 32 lanes, row after row. A row is four lanes, or 16 bytes.
#include "simt/codegen/lower/matrices/matrix_moves.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr uint32_t kRows = 8;
constexpr uint64_t kRowBytes = 16;
constexpr uint32_t kWordsOfRow = 4;

std::vector<int> numbers(int first, int count) {
  std::vector<int> list;
  for (int i = 0; i < count; ++i) list.push_back(first + i);
  return list;
}

}  // namespace

/// The pointer to a row of the matrix whose first row's address is in lane `first`; spare memory if
/// the row's lane is inactive.
llvm::Value* MatrixMoves::matrix_row(llvm::IRBuilder<>& b, const MatrixRows& rows, uint32_t row) {
  Value* lane = b.CreateAdd(rows.first, b.getInt32(row));
  Value* at = b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), rows.addresses, lane));
  Value* bit = b.CreateAnd(b.CreateLShr(rows.bits, lane), 1);
  return b.CreateSelect(b.CreateICmpNE(bit, b.getInt32(0)), b.CreateIntToPtr(at, b.getPtrTy()),
                        rows.spare);
}

/// Reads a helper's arguments: the addresses of all lanes, the active lanes, and the lane of the
/// first row.
MatrixMoves::MatrixRows MatrixMoves::matrix_rows(llvm::IRBuilder<>& b, llvm::Function* function) {
  auto* row_type = llvm::FixedVectorType::get(b.getInt32Ty(), kWordsOfRow);
  auto* addresses = b.CreateAlloca(function->getArg(0)->getType());
  auto* spare = b.CreateAlloca(row_type);
  b.CreateStore(function->getArg(0), addresses);
  b.CreateStore(llvm::Constant::getNullValue(row_type), spare);
  return {row_type, addresses, spare, function->getArg(1), function->getArg(2)};
}

/// The helper that loads the rows of one matrix.
llvm::Function* MatrixMoves::load_matrix_helper() {
  const std::string name = "load_matrix";
  if (auto* found = builder_.helper(name)) return found;
  auto* words = vector_of(b_.getInt32Ty());
  auto* function = builder_.new_helper(
      name, words, {vector_of(b_.getInt64Ty()), b_.getInt32Ty(), b_.getInt32Ty()});
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "start", function));
  const MatrixRows rows = matrix_rows(b, function);
  std::vector<Value*> parts;
  for (uint32_t r = 0; r < kRows; ++r) {
    parts.push_back(b.CreateAlignedLoad(rows.type, matrix_row(b, rows, r), llvm::Align(kRowBytes)));
  }
  for (int size = 2 * kWordsOfRow; parts.size() > 1; size *= 2) {
    std::vector<Value*> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      joined.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], numbers(0, size)));
    }
    parts = std::move(joined);
  }
  b.CreateRet(parts[0]);
  return function;
}

/// The helper that stores the rows of one matrix.
llvm::Function* MatrixMoves::store_matrix_helper() {
  const std::string name = "store_matrix";
  if (auto* found = builder_.helper(name)) return found;
  auto* word = b_.getInt32Ty();
  auto* function = builder_.new_helper(name, b_.getVoidTy(),
                                       {vector_of(b_.getInt64Ty()), word, word, vector_of(word)});
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "start", function));
  const MatrixRows rows = matrix_rows(b, function);
  for (uint32_t r = 0; r < kRows; ++r) {
    Value* row = b.CreateShuffleVector(function->getArg(3),
                                       numbers(static_cast<int>(r * kWordsOfRow), kWordsOfRow));
    b.CreateAlignedStore(row, matrix_row(b, rows, r), llvm::Align(kRowBytes));
  }
  b.CreateRetVoid();
  return function;
}

/// Transposes a matrix in registers by a helper.
llvm::Value* MatrixMoves::transpose_matrix(Value* matrix) {
  const std::string name = "transpose_matrix";
  if (auto* found = builder_.helper(name)) return b_.CreateCall(found, {matrix});
  auto* words = vector_of(b_.getInt32Ty());
  auto* function = builder_.new_helper(name, words, {words});
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "start", function));
  auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), kRows * kRows);
  std::vector<int> pick;
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t column = 0; column < kRows; ++column) {
      pick.push_back(static_cast<int>(column * kRows + row));
    }
  }
  Value* whole = b.CreateShuffleVector(b.CreateBitCast(function->getArg(0), halves), pick);
  b.CreateRet(b.CreateBitCast(whole, words));
  return b_.CreateCall(function, {matrix});
}

/// The tested rows. Lane 8 * i + r has the address of row r of matrix i.
MatrixMoves::Rows MatrixMoves::rows_of(const Inst& inst, const Operand& place, uint32_t matrices) {
  Value* addresses =
      addresses_.lanes_of(addresses_.address_of(inst, place, space_of(kernel_, inst, place)));
  Value* first_lanes =
      b_.CreateICmpULT(builder_.lane_numbers(), splat(i32(uint64_t{kRows} * matrices)));
  Value* lanes = builder_.and_masks(mask(), first_lanes);
  checks_.check_lanes(inst, {addresses, i64(kRowBytes), kRowBytes}, lanes);
  const bool loads = inst.ptx->opcode == ptx::Opcode::ldmatrix;
  checks_.reports().counts().count_lanes(
      addresses,
      {inst.ptx->location.line, kRowBytes, loads ? AccessKind::read : AccessKind::write,
       CountedSpace::shared},
      lanes);
  return {addresses, lanes};
}

void MatrixMoves::lower(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case ptx::Opcode::ldmatrix:
      return lower_ldmatrix(inst);
    case ptx::Opcode::stmatrix:
      return lower_stmatrix(inst);
    default:
      return lower_movmatrix(inst);
  }
}

void MatrixMoves::lower_ldmatrix(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const Operand& target = ptx.operands[0];
  const bool several = target.kind == Operand::Kind::vector;
  const uint32_t matrices = several ? target.count : 1;
  const Rows rows = rows_of(inst, ptx.operands[1], matrices);
  checks_.reports().report_lanes(inst, rows.addresses, kRowBytes, AccessKind::read, rows.lanes);
  for (uint32_t i = 0; i < matrices; ++i) {
    Value* matrix = b_.CreateCall(load_matrix_helper(),
                                  {rows.addresses, mask_bits(), i32(uint64_t{kRows} * i)});
    if (ptx.has(Modifier::trans)) matrix = transpose_matrix(matrix);
    const Operand& part = several ? pool[target.first + i] : target;
    if (part.kind == Operand::Kind::reg) values_.define_result(inst, part.reg, matrix, Type::b32);
  }
}

void MatrixMoves::lower_stmatrix(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const Operand& source = ptx.operands[1];
  const bool several = source.kind == Operand::Kind::vector;
  const uint32_t matrices = several ? source.count : 1;
  const Rows rows = rows_of(inst, ptx.operands[0], matrices);
  std::vector<Value*> content;
  for (uint32_t i = 0; i < matrices; ++i) {
    const Operand& part = several ? pool[source.first + i] : source;
    Value* matrix = values_.operand(inst, part, Type::b32, true, true);
    if (ptx.has(Modifier::trans)) matrix = transpose_matrix(matrix);
    content.push_back(matrix);
  }
  AccessReports& reports = checks_.reports();
  // Lane by lane, the words of all matrices are those of the rows.
  auto manner = reports.with_values(AccessKind::write, content, sizeof(uint32_t));
  manner.element_bytes = kRowBytes;
  reports.report_lanes(inst, rows.addresses, kRowBytes, manner, rows.lanes);
  for (uint32_t i = 0; i < matrices; ++i) {
    b_.CreateCall(store_matrix_helper(),
                  {rows.addresses, mask_bits(), i32(uint64_t{kRows} * i), content[i]});
  }
}

void MatrixMoves::lower_movmatrix(const Inst& inst) {
  if (inst.writes.empty()) return;
  Value* matrix = values_.operand(inst, inst.ptx->operands[1], Type::b32, true, true);
  values_.define_result(inst, inst.writes[0].first, transpose_matrix(matrix), Type::b32);
}

}  // namespace km::simt
