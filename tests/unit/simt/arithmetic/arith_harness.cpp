#include "unit/simt/arithmetic/arith_harness.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "ptx/mnemonic.h"
#include "simt/arithmetic/arithmetic.h"
#include "simt/object/target.h"

namespace km::simt::arith {
namespace {

using ptx::Instruction;
using ptx::Type;

constexpr unsigned kLanes = 32;

/// Arrays of 64-bit words per operand; the launch record's `params` points at their addresses.
class Function {
 public:
  Function(const Form& form, const Machine& machine, bool vector)
      : form_(form),
        instruction_(make_instruction(form)),
        module_("arith.ptx", context_),
        b_(context_),
        machine_(machine),
        lanes_(vector ? kLanes : 0) {}

  Result<Object> build() {
    KM_ASSIGN(auto target, make_target_machine(machine_));
    prepare_module(module_, *target);
    add_meta();
    add_entry();
    return emit_object(module_, *target);
  }

 private:
  llvm::Type* shaped(llvm::Type* lane) {
    return lanes_ ? llvm::FixedVectorType::get(lane, lanes_) : lane;
  }

  void add_meta() {
    ObjectMeta meta;
    meta.mode = static_cast<uint32_t>(Mode::run_to_completion);
    llvm::StringRef bytes(reinterpret_cast<const char*>(&meta), sizeof meta);
    auto* data = llvm::ConstantDataArray::getString(context_, bytes, false);
    new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::ExternalLinkage,
                             data, kMetaSymbol);
  }

  llvm::Value* load(llvm::Value* params, llvm::Value* index, unsigned source) {
    Type type = source_type(instruction_, source);
    llvm::Type* lane = llvm_type(context_, type);
    if (auto constant = form_.constants.find(source); constant != form_.constants.end()) {
      auto* bits =
          llvm::ConstantInt::get(context_, llvm::APInt(ptx::size_bits(type), constant->second));
      llvm::Constant* value = llvm::ConstantExpr::getBitCast(bits, lane);
      return lanes_ ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), value)
                    : value;
    }
    llvm::Value* words =
        b_.CreateAlignedLoad(shaped(b_.getInt64Ty()), place(params, index, source), llvm::Align(8));
    auto* bits =
        b_.getIntNTy(lane->isIntegerTy() ? lane->getIntegerBitWidth() : ptx::size_bits(type));
    return b_.CreateBitCast(b_.CreateZExtOrTrunc(words, shaped(bits)), shaped(lane));
  }

  llvm::Value* place(llvm::Value* params, llvm::Value* index, unsigned operand) {
    llvm::Value* slot = b_.CreateConstGEP1_32(b_.getPtrTy(), params, operand);
    return b_.CreateGEP(b_.getInt64Ty(), b_.CreateLoad(b_.getPtrTy(), slot), index);
  }

  void store(llvm::Value* params, llvm::Value* index, unsigned operand, llvm::Value* value) {
    llvm::Type* lane = value->getType()->getScalarType();
    if (!lane->isIntegerTy()) {
      value = b_.CreateBitCast(value, shaped(b_.getIntNTy(lane->getPrimitiveSizeInBits())));
    }
    b_.CreateAlignedStore(b_.CreateZExtOrTrunc(value, shaped(b_.getInt64Ty())),
                          place(params, index, operand), llvm::Align(8));
  }

  void add_entry() {
    llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt64Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, word, word}, false);
    auto* function =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module_);
    auto* entry = llvm::BasicBlock::Create(context_, "entry", function);
    auto* loop = llvm::BasicBlock::Create(context_, "loop", function);
    auto* done = llvm::BasicBlock::Create(context_, "done", function);
    b_.SetInsertPoint(entry);
    llvm::Value* params = b_.CreateLoad(pointer, function->getArg(0));
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* index = b_.CreatePHI(word, 2);
    body(params, index);
    llvm::Value* next = b_.CreateAdd(index, b_.getInt64(lanes_ ? lanes_ : 1));
    index->addIncoming(function->getArg(2), entry);
    index->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpULT(next, function->getArg(3)), loop, done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

  void body(llvm::Value* params, llvm::Value* index) {
    std::vector<llvm::Value*> sources;
    for (unsigned i = 0; i < form_.sources; ++i) sources.push_back(load(params, index, i));
    Arithmetic arithmetic(b_, machine_);
    std::vector<llvm::Value*> results = arithmetic.lower(instruction_, sources);
    for (unsigned i = 0; i < results.size(); ++i)
      store(params, index, form_.sources + i, results[i]);
  }

  const Form& form_;
  Instruction instruction_;
  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  Machine machine_;
  unsigned lanes_;
};

std::mt19937_64& generator() {
  static std::mt19937_64 engine(20261121);
  return engine;
}

std::vector<uint64_t> integer_values(unsigned bits) {
  std::vector<uint64_t> values;
  uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (uint64_t v : {0ull,
                     1ull,
                     2ull,
                     3ull,
                     5ull,
                     7ull,
                     8ull,
                     31ull,
                     32ull,
                     33ull,
                     63ull,
                     64ull,
                     0x55ull,
                     0x7full,
                     0x80ull,
                     0xffull,
                     0x100ull,
                     0x1234ull,
                     0x7fffull,
                     0x8000ull,
                     0xffffull,
                     0x10000ull,
                     0x7fffffull,
                     0x1000001ull,
                     0x7fffffffull,
                     0x80000000ull,
                     0x89abcdefull,
                     0xffffffffull,
                     0x100000000ull,
                     0x7fffffffffffffffull,
                     0x8000000000000000ull,
                     0x8000000000000400ull,
                     0x123456789abcdef0ull}) {
    if ((v & mask) == v) {
      values.push_back(v);
      if (v > 1) values.push_back((~v + 1) & mask);
    }
  }
  values.push_back(mask);
  return values;
}

std::vector<uint64_t> with_both_signs(std::vector<uint64_t> values, unsigned bits) {
  std::vector<uint64_t> all = values;
  for (uint64_t v : values) all.push_back(v | uint64_t{1} << (bits - 1));
  return all;
}

/// Numbers of a binary format with `fraction` bits around every limit.
std::vector<uint64_t> real_values(unsigned bits, unsigned fraction) {
  uint64_t one_unit = uint64_t{1} << fraction, most = (uint64_t{1} << (bits - 1 - fraction)) - 1;
  uint64_t bias = most / 2, infinity = most << fraction;
  auto at = [&](uint64_t exponent, uint64_t part) { return exponent * one_unit + part; };
  std::vector<uint64_t> v = {0,
                             1,
                             2,
                             3,
                             one_unit / 2,
                             one_unit - 1,
                             one_unit,
                             one_unit + 1,
                             at(2, 0),
                             at(bias - 1, 0),
                             at(bias - 1, 1),
                             at(bias, 0),
                             at(bias, 1),
                             at(bias - 1, one_unit - 1),
                             at(bias, one_unit / 2),
                             at(bias + 1, 0),
                             at(bias + 1, one_unit / 4),
                             at(bias + fraction, 1),
                             at(bias + fraction + 1, 3),
                             at(bias + 5, 12345 % one_unit),
                             at(most - 1, 0),
                             at(most - 1, one_unit - 2),
                             infinity - 1,
                             infinity,
                             infinity + 1,
                             infinity + one_unit / 2,
                             infinity + one_unit - 1};
  if (bits >= 32) {
    for (uint64_t e : {7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64, 65}) {
      v.push_back(at(bias + e, 0));
      v.push_back(at(bias + e, 0) - 1);
      v.push_back(at(bias + e, one_unit / 2 + 1));
    }
    for (uint64_t e : {10, 14, 15, 24, 25, 26}) v.push_back(at(bias - e, one_unit / 3));
  }
  return with_both_signs(v, bits);
}

unsigned fraction_bits(Type type) {
  switch (type) {
    case Type::f64:
      return 52;
    case Type::f16:
      return 10;
    case Type::bf16:
      return 7;
    default:
      return 23;
  }
}

std::vector<uint64_t> packed(const std::vector<uint64_t>& halves) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < halves.size(); ++i) {
    values.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << 16);
  }
  return values;
}

std::vector<uint64_t> tricky_values(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f64:
    case Type::f16:
    case Type::bf16:
      return real_values(ptx::size_bits(type), fraction_bits(type));
    case Type::f16x2:
      return packed(tricky(Type::f16));
    case Type::bf16x2:
      return packed(tricky(Type::bf16));
    case Type::pred:
      return {0, 1};
    default:
      return integer_values(ptx::size_bits(type));
  }
}

bool is_real(Type type) {
  return type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::bf16;
}

/// NaNs of f32 and f64 are canonical only where they escape; any NaN will do here.
uint64_t comparable(Type type, uint64_t bits) {
  if (type == Type::f32 && (bits & 0x7fffffff) > 0x7f800000) return 0x7fffffff;
  if (type == Type::f64 && (bits & ~(uint64_t{1} << 63)) > 0x7ff0000000000000) return ~uint64_t{0};
  return bits;
}

std::string describe(std::span<const uint64_t> row) {
  std::string text;
  char word[24];
  for (uint64_t value : row) {
    std::snprintf(word, sizeof word, " %llx", static_cast<unsigned long long>(value));
    text += word;
  }
  return text;
}

void append_combinations(std::vector<Row>& rows, const Instruction& instruction, unsigned sources) {
  constexpr size_t kMost = 40000;
  size_t total = 1;
  for (unsigned i = 0; i < sources; ++i) total *= tricky(source_type(instruction, i)).size();
  size_t stride = total / kMost + 1;
  if (stride > 1) stride |= 1;
  for (size_t n = 0; n < total; n += stride) {
    Row row;
    size_t rest = n;
    for (unsigned i = 0; i < sources; ++i) {
      const auto& values = tricky(source_type(instruction, i));
      row.push_back(values[rest % values.size()]);
      rest /= values.size();
    }
    rows.push_back(row);
  }
}

}  // namespace

Instruction make_instruction(const Form& form) {
  ptx::Mnemonic mnemonic = ptx::read_mnemonic(form.mnemonic);
  EXPECT_TRUE(mnemonic.error.empty()) << form.mnemonic << ": " << mnemonic.error;
  for (const auto& candidate : mnemonic.candidates) {
    Instruction in;
    in.opcode = mnemonic.opcode;
    in.form = candidate.form;
    in.types = mnemonic.types;
    in.type_count = mnemonic.type_count;
    in.modifiers = candidate.modifiers;
    std::copy(mnemonic.modifier_bits.begin(), mnemonic.modifier_bits.end(), in.modifier_bits);
    in.operand_count = static_cast<uint8_t>(form.sources + 1);
    for (unsigned i = 0; i <= form.sources; ++i) in.operands[i].kind = ptx::Operand::Kind::reg;
    if (form.pair) in.operands[0].kind = ptx::Operand::Kind::pair;
    const ptx::Form& row = ptx::all_forms()[candidate.form];
    if (ptx::assign_operands(row, in)) return in;
  }
  ADD_FAILURE() << "no form of " << form.mnemonic << " with " << form.sources << " sources";
  return {};
}

Type source_type(const Instruction& instruction, unsigned source) {
  return Arithmetic::operand_type(instruction, source + 1);
}

const std::vector<uint64_t>& tricky(Type type) {
  static std::map<Type, std::vector<uint64_t>> known;
  auto found = known.find(type);
  if (found == known.end()) found = known.emplace(type, tricky_values(type)).first;
  return found->second;
}

uint64_t random_value(Type type) {
  auto& random = generator();
  unsigned bits = ptx::size_bits(type);
  uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  uint64_t word = random();
  switch (random() % 4) {
    case 0:
      return word & mask;
    case 1: {  // few bits, or near one
      if (!is_real(type)) return (word >> (random() % 64)) & mask;
      unsigned fraction = fraction_bits(type);
      uint64_t bias = ((uint64_t{1} << (bits - 2 - fraction)) - 1) << fraction;
      uint64_t spread = (random() % 41) << fraction, half = uint64_t{20} << fraction;
      uint64_t sign = (word >> 63) << (bits - 1);
      uint64_t part = word & ((uint64_t{1} << fraction) - 1);
      if (bias < half) return word & mask;
      return sign | (bias - half + spread + part);
    }
    case 2:
      return (word & (word >> 8) & random()) & mask;
    default: {
      const auto& values = tricky(type);
      return (values[word % values.size()] + (random() % 5) - 2) & mask;
    }
  }
}

std::vector<Row> inputs_for(const Instruction& instruction, unsigned random_count) {
  unsigned sources = instruction.operand_count - 1u;
  std::vector<Row> rows;
  append_combinations(rows, instruction, sources);
  for (unsigned n = 0; n < random_count; ++n) {
    Row row;
    for (unsigned i = 0; i < sources; ++i) row.push_back(random_value(source_type(instruction, i)));
    rows.push_back(row);
  }
  while (rows.size() % kLanes) rows.push_back(rows.front());
  return rows;
}

namespace {

struct Place {
  Machine machine;
  bool vector;
};

std::vector<Place> all_places() {
  std::vector<Place> places;
  for (const Machine& machine : Machine::all()) {
    if (!machine.runs_here()) continue;
    places.push_back({machine, false});
    places.push_back({machine, true});
  }
  return places;
}

std::vector<Row> run(const Form& form, const std::vector<Row>& rows, const Place& place) {
  Result<Object> object = Function(form, place.machine, place.vector).build();
  if (!object) {
    ADD_FAILURE() << form.mnemonic << ": " << object.error().message;
    return {};
  }
  Result<std::unique_ptr<Code>> code = Code::load(*object);
  if (!code) {
    ADD_FAILURE() << form.mnemonic << ": " << code.error().message;
    return {};
  }
  unsigned results = form.pair ? 2 : 1;
  std::vector<std::vector<uint64_t>> columns(form.sources + results);
  for (auto& column : columns) column.resize(rows.size());
  for (size_t n = 0; n < rows.size(); ++n) {
    for (unsigned i = 0; i < form.sources; ++i) columns[i][n] = rows[n][i];
  }
  std::vector<uint64_t*> params;
  for (auto& column : columns) params.push_back(column.data());
  LaunchRecord record{};
  record.params = reinterpret_cast<const uint8_t*>(params.data());
  (*code)->grid_entry()(&record, nullptr, 0, rows.size());
  std::vector<Row> out(rows.size(), Row(results));
  for (size_t n = 0; n < rows.size(); ++n) {
    for (unsigned i = 0; i < results; ++i) out[n][i] = columns[form.sources + i][n];
  }
  return out;
}

/// Compares in one place; gives up after a few differences.
void check(const Form& form, const std::vector<Row>& rows, const std::vector<Row>& expected,
           const Place& place) {
  Instruction instruction = make_instruction(form);
  std::vector<Type> types = {Arithmetic::operand_type(instruction, 0)};
  if (form.pair) types.push_back(Arithmetic::operand_type(instruction, 0, 1));
  std::vector<Row> got = run(form, rows, place);
  ASSERT_EQ(got.size(), rows.size());
  unsigned failures = 0;
  for (size_t n = 0; n < rows.size() && failures < 5; ++n) {
    for (unsigned i = 0; i < types.size(); ++i) {
      if (comparable(types[i], got[n][i]) == comparable(types[i], expected[n][i])) continue;
      ++failures;
      ADD_FAILURE() << form.mnemonic << describe(rows[n])
                    << (place.vector ? " vector " : " scalar ") << place.machine.name() << ": got"
                    << describe(got[n]) << ", expected" << describe(expected[n]);
      break;
    }
  }
}

void check_in(const std::vector<Place>& places, const Form& form, const Reference& reference,
              const std::vector<Row>& rows) {
  ASSERT_FALSE(rows.empty()) << form.mnemonic;
  ASSERT_TRUE(lowers_arithmetic(make_instruction(form))) << form.mnemonic;
  std::vector<Row> expected;
  for (const Row& row : rows) expected.push_back(reference(row));
  for (const Place& place : places) {
    check(form, rows, expected, place);
    if (::testing::Test::HasFailure()) return;
  }
}

std::vector<Place> next_place() {
  static size_t turn = 0;
  const std::vector<Place> places = all_places();
  return {places[turn++ % places.size()]};
}

/// The form's constants in place of what the tables gave.
std::vector<Row> rows_for(const Form& form, unsigned random_count) {
  const Instruction instruction = make_instruction(form);
  if (instruction.operand_count == 0) return {};  // which is a failure already
  std::vector<Row> rows = inputs_for(instruction, random_count);
  for (Row& row : rows) {
    for (auto [index, value] : form.constants) row[index] = value;
  }
  return rows;
}

}  // namespace

void expect_same(const Form& form, const Reference& reference, const std::vector<Row>& rows) {
  check_in(all_places(), form, reference, rows);
}

void expect_same(const Form& form, const Reference& reference, unsigned random_count) {
  check_in(all_places(), form, reference, rows_for(form, random_count));
}

void expect_same_in_turn(const Form& form, const Reference& reference,
                         const std::vector<Row>& rows) {
  check_in(next_place(), form, reference, rows);
}

void expect_same_in_turn(const Form& form, const Reference& reference, unsigned random_count) {
  check_in(next_place(), form, reference, rows_for(form, random_count));
}

}  // namespace km::simt::arith
