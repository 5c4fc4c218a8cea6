// Accesses at an address of every lane's own that touch more than one element there: a load or
// store of the row per lane and shuffles, instead of a gather or scatter per element.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr uint64_t kRowBytes = 32;  // v8.b32, v4.b64
constexpr uint64_t kColumnAlign = 64;
constexpr size_t kMostLooked = 512;  // instructions among which a load's neighbours are looked for

/// <0, 1 .. count - 1>, each times `step` and from `first` on.
std::vector<int> every(unsigned first, unsigned step, unsigned count) {
  std::vector<int> picks(count);
  for (unsigned i = 0; i < count; ++i) picks[i] = static_cast<int>(first + i * step);
  return picks;
}

/// From the lower or upper half of every 16 bytes, `width` elements of `a`, as many of `b`, and so
/// on.
llvm::Value* interleaved(llvm::IRBuilder<>& b, llvm::Value* a, llvm::Value* c, unsigned width,
                         bool upper) {
  auto* type = llvm::cast<llvm::FixedVectorType>(a->getType());
  const unsigned count = type->getNumElements(), chunk = 128 / type->getScalarSizeInBits();
  std::vector<int> picks;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned pair = i % chunk / (2 * width), place = i % (2 * width);
    const unsigned at = pair * width + place % width + (upper ? chunk / 2 : 0);
    picks.push_back(static_cast<int>(i / chunk * chunk + at + (place < width ? 0 : count)));
  }
  return b.CreateShuffleVector(a, c, picks);
}

/// Four vectors of 32-bit elements, or two of 64 bits: rows and columns of every 16 bytes change
/// places.
std::vector<llvm::Value*> turned(llvm::IRBuilder<>& b, const std::vector<llvm::Value*>& rows) {
  const auto both = [&](llvm::Value* a, llvm::Value* c, unsigned width) {
    return std::vector{interleaved(b, a, c, width, false), interleaved(b, a, c, width, true)};
  };
  if (rows.size() == 2) return both(rows[0], rows[1], 1);
  const auto first = both(rows[0], rows[1], 1), second = both(rows[2], rows[3], 1);
  std::vector<llvm::Value*> result = both(first[0], second[0], 2);
  for (llvm::Value* row : both(first[1], second[1], 2)) result.push_back(row);
  return result;
}

}  // namespace

bool Emitter::has_rows(const Access& access) const {
  const uint64_t size = access.count * ptx::size_bytes(access.type);
  return access.count > 1 && std::has_single_bit(access.count) && size <= kRowBytes &&
         !access.is_volatile;
}

/// Every lane's address: lanes that are not active go to `elsewhere`.
llvm::Value* Emitter::active_rows(Value* lanes, Value* elsewhere) {
  if (mask() == nullptr) return lanes;
  Value* spare = splat(b_.CreatePtrToInt(elsewhere, b_.getInt64Ty()));
  return b_.CreateSelect(mask(), lanes, spare);
}

std::vector<llvm::Value*> Emitter::row_pointers(Value* lanes) {
  std::vector<Value*> pointers;
  for (uint32_t l = 0; l < lanes_; ++l) {
    pointers.push_back(b_.CreateIntToPtr(b_.CreateExtractElement(lanes, l), b_.getPtrTy()));
  }
  return pointers;
}

std::vector<llvm::Value*> Emitter::load_rows(const Access& access, Value* lanes) {
  auto* zeros_type = llvm::ArrayType::get(b_.getInt8Ty(), kRowBytes);
  auto* zeros = builder_.private_constant(llvm::Constant::getNullValue(zeros_type), "km_zeros");
  zeros->setAlignment(llvm::Align(kRowBytes));
  lanes = active_rows(lanes, zeros);
  const bool is_apart = access.is_rare || has_many_rows();
  return is_apart ? load_rows_apart(access, lanes) : load_rows_here(access, lanes);
}

std::vector<llvm::Value*> Emitter::load_rows_here(const Access& access, Value* lanes) {
  auto* row = llvm::FixedVectorType::get(type_of(access.type), access.count);
  const llvm::Align align(ptx::size_bytes(access.type));
  std::vector<Value*> rows;
  for (Value* pointer : row_pointers(lanes)) {
    rows.push_back(b_.CreateAlignedLoad(row, pointer, align));
  }
  return columns_of(rows, access);
}

/// Rows of 16 bytes that are turned together, in registers of the processor; 0: they are not.
uint32_t Emitter::rows_turned(const Access& access) const {
  const uint64_t size = ptx::size_bytes(access.type);
  if (access.count * size != 16 || size < 4) return 0;
  const uint32_t chunks = has_avx512() ? 4 : plan_.variant.isa == Isa::avx2 ? 2 : 1;
  return std::min(chunks * access.count, lanes_);
}

/// The elements of every lane's row, by their place in the row.
std::vector<llvm::Value*> Emitter::columns_of(const std::vector<Value*>& rows,
                                              const Access& access) {
  const uint32_t group = rows_turned(access);
  std::vector<Value*> results;
  if (group == 0) {
    Value* whole = llvm::concatenateVectors(b_, rows);
    for (unsigned i = 0; i < access.count; ++i) {
      results.push_back(b_.CreateShuffleVector(whole, every(i, access.count, lanes_)));
    }
    return results;
  }
  std::vector<std::vector<Value*>> columns(access.count);
  for (uint32_t first = 0; first < lanes_; first += group) {
    std::vector<Value*> parts;
    for (uint32_t i = 0; i < access.count; ++i) {
      std::vector<Value*> part;
      for (uint32_t l = i; l < group; l += access.count) part.push_back(rows[first + l]);
      parts.push_back(llvm::concatenateVectors(b_, part));
    }
    parts = turned(b_, parts);
    for (uint32_t i = 0; i < access.count; ++i) columns[i].push_back(parts[i]);
  }
  for (const auto& column : columns) results.push_back(llvm::concatenateVectors(b_, column));
  return results;
}

/// The reverse: every lane's row.
std::vector<llvm::Value*> Emitter::rows_of(const std::vector<Value*>& columns,
                                           const Access& access) {
  const uint32_t group = rows_turned(access);
  std::vector<Value*> rows(lanes_);
  if (group == 0) {
    Value* whole = llvm::concatenateVectors(b_, columns);
    for (uint32_t l = 0; l < lanes_; ++l) {
      rows[l] = b_.CreateShuffleVector(whole, every(l, lanes_, access.count));
    }
    return rows;
  }
  for (uint32_t first = 0; first < lanes_; first += group) {
    std::vector<Value*> parts;
    for (Value* column : columns) {
      parts.push_back(b_.CreateShuffleVector(column, every(first, 1, group)));
    }
    parts = turned(b_, parts);
    for (uint32_t l = 0; l < group; ++l) {
      const uint32_t chunk = l / access.count * access.count;
      rows[first + l] =
          b_.CreateShuffleVector(parts[l % access.count], every(chunk, 1, access.count));
    }
  }
  return rows;
}

namespace {

/// Two shuffles of each register for four columns of 32 bits, which two-source permutations allow.
constexpr unsigned kPermuted = 16;  // elements of a register

std::vector<int> picks_of(const std::function<unsigned(unsigned)>& pick) {
  std::vector<int> picks(kPermuted);
  for (unsigned i = 0; i < kPermuted; ++i) picks[i] = static_cast<int>(pick(i));
  return picks;
}

}  // namespace

/// Rows that lie one behind the other, and can be taken apart so.
bool Emitter::is_permuted(const Address& address, const Access& access) const {
  constexpr int64_t kBytes = 16;
  for (uint32_t l = 0; l < lanes_; ++l) {
    if ((*address.offsets)[l] != kBytes * l) return false;
  }
  return has_avx512() && access.count == 4 && ptx::size_bytes(access.type) == 4 &&
         lanes_ % kPermuted == 0;
}

/// The columns of `whole`, four elements for each lane.
std::vector<llvm::Value*> Emitter::permuted_columns(Value* whole) {
  // Two registers with eight rows give x x x x x x x x y y y y y y y y, then z and w.
  const auto halves = [&](Value* a, Value* c, unsigned column) {
    return b_.CreateShuffleVector(
        a, c, picks_of([&](unsigned i) { return 4 * (i % 8) + column + i / 8; }));
  };
  const auto joined = [&](Value* a, Value* c, unsigned half) {
    return b_.CreateShuffleVector(
        a, c, picks_of([&](unsigned i) { return i % 8 + 8 * half + i / 8 * kPermuted; }));
  };
  std::vector<std::vector<Value*>> columns(4);
  for (unsigned first = 0; first < 4 * lanes_; first += 4 * kPermuted) {
    Value* parts[4];
    for (unsigned i = 0; i < 4; ++i) {
      parts[i] = b_.CreateShuffleVector(whole, every(first + i * kPermuted, 1, kPermuted));
    }
    for (unsigned column : {0u, 2u}) {
      Value* low = halves(parts[0], parts[1], column);
      Value* high = halves(parts[2], parts[3], column);
      for (unsigned half : {0u, 1u}) columns[column + half].push_back(joined(low, high, half));
    }
  }
  std::vector<Value*> results;
  for (const auto& column : columns) results.push_back(llvm::concatenateVectors(b_, column));
  return results;
}

/// The reverse.
llvm::Value* Emitter::permuted_rows(const std::vector<Value*>& columns) {
  const auto pairs = [&](unsigned column, unsigned first) {  // x y x y ... of eight lanes
    return b_.CreateShuffleVector(columns[column], columns[column + 1], picks_of([&](unsigned i) {
                                    return first + i / 2 + i % 2 * lanes_;
                                  }));
  };
  std::vector<Value*> parts;
  for (unsigned first = 0; first < lanes_; first += 8) {
    Value *low = pairs(0, first), *high = pairs(2, first);
    for (unsigned half : {0u, 8u}) {
      parts.push_back(b_.CreateShuffleVector(
          low, high,
          picks_of([&](unsigned i) { return half + i / 4 * 2 + i % 2 + i / 2 % 2 * kPermuted; })));
    }
  }
  return llvm::concatenateVectors(b_, parts);
}

/// Lowest lane first: where lanes write one place, the highest wins.
void Emitter::store_rows(const Access& access, const std::vector<Value*>& values, Value* lanes) {
  std::vector<Value*> columns;
  for (Value* content : values) columns.push_back(splat(content));
  if (elsewhere_ == nullptr) elsewhere_ = builder_.bytes(kRowBytes, "elsewhere");
  lanes = active_rows(lanes, elsewhere_);
  if (access.is_rare || has_many_rows()) {
    store_rows_apart(access, columns, lanes);
  } else {
    store_rows_here(access, columns, lanes);
  }
}

void Emitter::store_rows_here(const Access& access, const std::vector<Value*>& columns,
                              Value* lanes) {
  const std::vector<Value*> rows = rows_of(columns, access);
  const std::vector<Value*> pointers = row_pointers(lanes);
  const llvm::Align align(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes_; ++l) b_.CreateAlignedStore(rows[l], pointers[l], align);
}

/// A kernel with so many takes seconds to compile when each is some 200 instructions.
bool Emitter::has_many_rows() {
  constexpr unsigned kMany = 24;
  if (!row_accesses_) {
    unsigned count = 0;
    for (const Block& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) {
        const auto access = memory_access(kernel_, inst);
        if (access && access->size_bytes > ptx::size_bytes(inst.ptx->type())) ++count;
      }
    }
    row_accesses_ = count;
  }
  return *row_accesses_ > kMany;
}

/// The memory in which columns lie between a function that moves rows, or elements side by side,
/// and its callers.
llvm::Value* Emitter::row_memory() {
  if (row_memory_ == nullptr) row_memory_ = builder_.bytes(kRowBytes * lanes_, "rows");
  return row_memory_;
}

llvm::Value* Emitter::column_place(Value* memory, const Access& access, unsigned index) {
  const uint64_t bytes = lanes_ * ptx::size_bytes(access.type);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, index * bytes);
}

llvm::Align Emitter::column_align(const Access& access) const {
  return llvm::Align(lanes_ * ptx::size_bytes(access.type) % kColumnAlign ? 1 : kColumnAlign);
}

std::vector<llvm::Value*> Emitter::load_columns(Value* memory, const Access& access) {
  auto* column = vector_of(type_of(access.type));
  std::vector<Value*> columns;
  for (unsigned i = 0; i < access.count; ++i) {
    Value* place = column_place(memory, access, i);
    columns.push_back(b_.CreateAlignedLoad(column, place, column_align(access)));
  }
  return columns;
}

void Emitter::store_columns(Value* memory, const Access& access,
                            const std::vector<Value*>& columns) {
  for (unsigned i = 0; i < access.count; ++i) {
    b_.CreateAlignedStore(columns[i], column_place(memory, access, i), column_align(access));
  }
}

/// Calls the function of the module that moves rows of this kind; `body` makes it.
void Emitter::call_row_mover(const char* what, const Access& access, Value* lanes,
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
  b_.CreateCall(function, {lanes, row_memory()});
}

std::vector<llvm::Value*> Emitter::load_rows_apart(const Access& access, Value* lanes) {
  call_row_mover("load_rows_", access, lanes, [&](Value* from, Value* memory) {
    store_columns(memory, access, load_rows_here(access, from));
  });
  return load_columns(row_memory(), access);
}

void Emitter::store_rows_apart(const Access& access, const std::vector<Value*>& columns,
                               Value* lanes) {
  store_columns(row_memory(), access, columns);
  call_row_mover("store_rows_", access, lanes, [&](Value* to, Value* memory) {
    store_rows_here(access, load_columns(memory, access), to);
  });
}

namespace {

/// A load of one element that may be made together with others: nobody else sees when it happens.
bool is_plain_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  return ptx.opcode == Opcode::ld && inst.guard == kNone &&
         ptx.operands[0].kind == Operand::Kind::reg && ptx.operands[1].symbol == ptx::kNone &&
         ptx.operands[1].reg != ptx::kNone && !is_strong_access(ptx);
}

}  // namespace

/// `first` and the loads behind it, up to the next effect, that read its neighbours: by the same
/// base, two or four elements side by side, in the order of their addresses. Else empty.
std::vector<const Inst*> Emitter::row_of_loads(const Inst& first) const {
  if (!is_plain_load(first) || plan_.variant.checked) return {};
  const auto& insts = kernel_.blocks[position_.block].insts;
  const std::less<const Inst*> before;
  if (before(&first, insts.data()) || !before(&first, insts.data() + insts.size())) return {};
  const auto& ptx = *first.ptx;
  const ValueId base = first.read(ptx.operands[1].reg);
  const auto size = static_cast<int64_t>(ptx::size_bytes(ptx.types[ptx.type_count - 1]));
  std::map<int64_t, const Inst*> by_offset;
  const auto begin = static_cast<size_t>(&first - insts.data());
  const size_t end = std::min(insts.size(), begin + kMostLooked);
  for (auto inst = insts.begin() + begin; inst != insts.begin() + end; ++inst) {
    const bool loads = is_plain_load(*inst);
    if (!loads && has_effects(*inst->ptx)) break;
    const bool same = loads && inst->ptx->modifiers == ptx.modifiers &&
                      inst->ptx->types == ptx.types &&
                      inst->read(inst->ptx->operands[1].reg) == base;
    if (same) by_offset.emplace(inst->ptx->operands[1].offset, &*inst);
  }
  const int64_t own = ptx.operands[1].offset;
  int64_t low = own, high = own;
  while (by_offset.count(low - size) != 0) low -= size;
  while (by_offset.count(high + size) != 0) high += size;
  for (const int64_t row : {16 / size, 8 / size}) {
    if (row < 2) continue;
    const int64_t start = low + (own - low) / (row * size) * row * size;
    if (start + (row - 1) * size > high) continue;
    std::vector<const Inst*> members;
    for (int64_t i = 0; i < row; ++i) members.push_back(by_offset[start + i * size]);
    return members;
  }
  return {};
}

/// Loads what `inst` reads, and what others read beside it; null where it has no neighbours.
llvm::Value* Emitter::load_with_neighbours(const Inst& inst, const Address& address,
                                           const Access& access) {
  if (const auto known = loaded_.find(&inst); known != loaded_.end()) {
    Value* content = known->second;
    loaded_.erase(known);
    return content;
  }
  if (address.lanes == nullptr || access.count != 1 || access.is_volatile) return nullptr;
  const std::vector<const Inst*> members = row_of_loads(inst);
  if (members.empty()) return nullptr;
  Access row = access;
  row.count = static_cast<unsigned>(members.size());
  const int64_t back = members[0]->ptx->operands[1].offset - inst.ptx->operands[1].offset;
  Value* lanes = b_.CreateAdd(address.lanes, splat(i64(static_cast<uint64_t>(back))));
  const std::vector<Value*> contents = load_rows(row, lanes);
  Value* own = nullptr;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == &inst) {
      own = contents[i];
    } else {
      loaded_[members[i]] = contents[i];
    }
  }
  return own;
}

}  // namespace km::simt
