// The typed form of a PTX module: the parser builds it, the verifier checks it, the printer prints
// it and the engine compiles it. It is plain data with look-up functions and does not depend on
// LLVM.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace km::ptx {

/// Every type a `.type` suffix or a declaration can name. Values are listed in types.def.
enum class Type : uint8_t {
  none = 0,
#define KM_PTX_TYPE(name, text, size_bits, kind) name,
#include "ptx/types.def"
#undef KM_PTX_TYPE
};

enum class TypeKind : uint8_t { none, bits, unsigned_int, signed_int, floating, predicate, opaque };

TypeKind kind_of(Type type);
uint32_t size_bits(Type type);
inline uint32_t size_bytes(Type type) { return (size_bits(type) + 7) / 8; }
std::string_view text_of(Type type);  // "f32", without the dot
bool is_signed(Type type);
bool is_packed_integer(Type type);  // a pair of 16-bit integers: u16x2, s16x2
bool is_integer(Type type);         // one number: signed, unsigned or bits
bool is_float(Type type);           // f16, bf16, f32, f64, packed and narrow forms

enum class Space : uint8_t {
#define KM_PTX_SPACE(name, text) name,
#define KM_PTX_SPACE_MODIFIER(modifier, space)
#include "ptx/spaces.def"
#undef KM_PTX_SPACE
#undef KM_PTX_SPACE_MODIFIER
};
std::string_view text_of(Space space);

/// A mnemonic's first word: add, cvt, ld ... One value per row of opcodes.def.
enum class Opcode : uint16_t;
std::string_view text_of(Opcode opcode);

/// Every modifier that is not a type: rounding, comparison, `ftz`, `sat`, state spaces, cache
/// hints, scopes ... One value per line of modifiers.def.
enum class Modifier : uint16_t;
std::string_view text_of(Modifier modifier);

/// A special register: %tid.x is {tid, 0}; scalar ones have component 0.
enum class SpecialRegister : uint8_t;
std::string_view text_of(SpecialRegister special);  // "tid", without % and component

using RegisterId = uint32_t;
using SymbolId = uint32_t;  // index into Module::symbols or, with `local_symbol`, Function::symbols
using LabelId = uint32_t;
constexpr uint32_t kNone = UINT32_MAX;

struct Location {
  uint32_t line = 0;    // line of the PTX text, from 1
  uint32_t column = 0;  // column, from 1
};

/// A source position from `.loc`: file index in Module::files, line, column.
struct SourceLine {
  uint32_t file = 0, line = 0, column = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,          // a register; `negated` for !%p and -%r if the form allows it
    immediate,    // `bits` holds the value already converted to the operand's type
    symbol,       // the address of a variable or function, plus `offset` (mov %r, var+4)
    special,      // a special register
    address,      // [reg+offset] or [symbol+offset], never [reg+reg]; [imm] has no base
    vector,       // {a, b, c, d}; `elements` indexes Instruction::operand_pool
    label,        // a branch target
    sink,         // _
    pair,         // d|p of setp, shfl ...; two entries in operand_pool
    list,         // (a, b) of call; entries in operand_pool
    tuple,        // [a, b, {c, d}] of tex, suld, cp.async.bulk.tensor; entries in operand_pool
    target_list,  // `label` indexes Function::target_lists (brx.idx, indirect call)
    prototype,    // `label` indexes Function::prototypes (indirect call)
  };
  Kind kind = Kind::none;
  bool negated = false;
  bool is_float_literal = false;  // written 0f.., 0d.. or with a decimal point
  bool local_symbol = false;      // `symbol` indexes Function::symbols, not Module::symbols
  SpecialRegister special{};
  uint8_t component = 0;    // component of a special register
  uint16_t selector = 0;    // video part select (.b0, .h1, .b3210 ...), see selector.h; 0: none
  RegisterId reg = kNone;   // reg; address with a register base
  SymbolId symbol = kNone;  // symbol; address with a symbol base
  LabelId label = kNone;
  int64_t offset = 0;             // symbol, address
  uint64_t bits = 0;              // immediate; raw bits in the operand's type (f32 in the low 32)
  uint32_t first = 0, count = 0;  // vector, pair, list: slice of Function::operand_pool
};

/// A `call` always has the operands {list of results, callee (symbol or reg), list of arguments};
/// an indirect call has a prototype or target list as the fourth. Lists may be empty.
struct Instruction {
  Opcode opcode{};
  uint16_t form = 0;            // row of instructions.def that matched
  bool guard_negated = false;   // @!%p
  RegisterId guard = kNone;     // predicate register, kNone: always
  std::array<Type, 4> types{};  // types in the order written; unused entries are none
  uint8_t type_count = 0;
  uint8_t operand_count = 0;
  std::array<Operand, 10> operands{};  // destination first, as written
  std::vector<Modifier> modifiers;     // modifiers in the order of the form's syntax
  uint64_t modifier_bits[10] = {};     // the modifiers as a set, for has()
  Location location;
  uint32_t source_line = kNone;  // index into Function::source_lines

  bool has(Modifier modifier) const {
    auto i = static_cast<uint32_t>(modifier);
    return (modifier_bits[i / 64] >> (i % 64)) & 1;
  }
  Type type(unsigned index = 0) const { return types[index]; }
};

struct Register {
  std::string name;  // including the %
  Type type = Type::none;
};

/// An address within initial data: 8 (or 4) bytes at `offset` hold &symbol + addend.
struct Relocation {
  uint64_t offset = 0;
  SymbolId symbol = kNone;
  int64_t addend = 0;
  uint8_t size_bytes = 8;
  bool generic = false;        // written generic(symbol)
  uint64_t mask = UINT64_MAX;  // 0xFF00(symbol): these bits of the address, shifted to bit 0
};

enum class Linkage : uint8_t { internal, visible, external, weak, common };

/// A variable in any state space, a parameter or a function name.
struct Symbol {
  std::string name;
  bool is_function = false;
  uint32_t function = kNone;  // index into Module::functions
  Space space = Space::global;
  Linkage linkage = Linkage::internal;
  Type type = Type::none;    // element type
  uint8_t vector_count = 1;  // .v2, .v4
  bool is_array = false;
  bool unsized = false;  // .extern .shared name[]
  uint64_t element_count = 1;
  uint64_t size_bytes = 0;  // element_count * vector_count * size_bytes(type)
  uint32_t align_bytes = 1;
  bool is_param_pointer = false;  // .param .u64 .ptr ...
  Space pointer_space = Space::generic;
  uint32_t pointer_align_bytes = 0;  // .ptr ... .align n
  RegisterId reg = kNone;            // parameters in .reg space
  bool managed = false;              // .attribute(.managed)
  std::vector<uint64_t> dimensions;  // dimensions of an array, outermost first
  std::vector<uint8_t> data;         // initial bytes; the rest of the variable is zero
  std::vector<Relocation> relocations;
  Location location;
};

/// A label marks the instruction that follows it; code.size() is the end of the body.
struct Label {
  std::string name;
  uint32_t instruction = 0;
};

/// `.branchtargets` and `.calltargets` lists and `.callprototype` declarations, by label.
struct Prototype {
  std::string name;
  std::vector<Symbol> returns, params;
  bool noreturn = false;
};
struct TargetList {
  std::string name;
  std::vector<LabelId> labels;      // .branchtargets
  std::vector<SymbolId> functions;  // .calltargets
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // .extern .func, or a prototype whose body follows elsewhere
  bool noreturn = false;
  Linkage linkage = Linkage::internal;
  std::vector<SymbolId> params;   // into symbols, in order
  std::vector<SymbolId> returns;  // .func (return) ...
  std::vector<Symbol> symbols;    // parameters and variables of all scopes of the body
  std::vector<Register> registers;
  std::vector<Instruction> code;
  std::vector<Operand> operand_pool;
  std::vector<Label> labels;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> target_lists;
  std::vector<SourceLine> source_lines;
  std::array<uint32_t, 3> reqntid{};  // 0: not given
  std::array<uint32_t, 3> maxntid{};
  std::array<uint32_t, 3> reqnctapercluster{};
  uint32_t minnctapersm = 0, maxnreg = 0, maxclusterrank = 0;
  bool explicitcluster = false;
  uint32_t alias_of = kNone;  // .alias: index of the aliased function
  std::vector<std::string> pragmas;
  Location location;
};

struct Module {
  uint32_t version_major = 0, version_minor = 0;
  std::string target;      // "sm_90a"
  uint32_t target_sm = 0;  // 90
  std::vector<std::string> target_options;
  uint32_t address_size_bits = 64;
  std::string name;             // name of the text, for messages: "sobel.ptx"
  std::vector<Symbol> symbols;  // module scope
  std::vector<Function> functions;
  std::map<uint32_t, std::string> files;  // .file
  std::vector<std::string> pragmas;

  const Function* find_function(std::string_view name) const;
  const Symbol* find_symbol(std::string_view name) const;
};

}  // namespace km::ptx

#include "ptx/enums.h"
