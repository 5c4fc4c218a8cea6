// Builds the words of a SPIR-V module: identifiers, types and constants (each once), decorations
// and functions. It knows the layout of modules and nothing about kernels.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

namespace km::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

/// Appends one instruction.
void append(Words& to, spv::Op op, std::span<const uint32_t> operands);
inline void append(Words& to, spv::Op op, std::initializer_list<uint32_t> operands) {
  append(to, op, std::span<const uint32_t>(operands.begin(), operands.size()));
}
/// Appends the words of a literal string, which ends with a zero byte.
void append_text(Words& to, std::string_view text);
template <class Enum>
constexpr uint32_t word(Enum value) {
  return static_cast<uint32_t>(value);
}

/// One function while its code is made. Variables stand in front of all other instructions.
struct FunctionCode {
  Id id = 0, type = 0, result_type = 0;
  std::vector<std::pair<Id, Id>> parameters;  // type and identifier
  Words variables, body;
  Id first_label = 0;
};

class ModuleWriter {
 public:
  Id new_id() { return next_++; }

  // ---- Types, constants and global variables: equal ones have one identifier.
  Id void_type() { return unique(spv::Op::OpTypeVoid, {}); }
  Id bool_type() { return unique(spv::Op::OpTypeBool, {}); }
  /// An unsigned integer; adds the capability that its width needs.
  Id int_type(uint32_t bits);
  Id float_type(uint32_t bits);
  Id vector_type(Id element, uint32_t count) {
    return unique(spv::Op::OpTypeVector, {element, count});
  }
  Id pointer_type(spv::StorageClass storage, Id to) {
    return unique(spv::Op::OpTypePointer, {word(storage), to});
  }
  Id function_type(Id result, std::span<const Id> parameters);
  /// An array with a stride for memory that has a layout; 0: none.
  Id array_type(Id element, Id length, uint32_t stride_bytes);
  /// An array to the end of its buffer.
  Id runtime_array_type(Id element, uint32_t stride_bytes);
  Id constant(Id type, std::span<const uint32_t> value);
  Id constant_bool(bool value);
  Id composite_constant(Id type, std::span<const Id> parts);
  Id u32(uint32_t value) { return constant(int_type(32), std::span(&value, 1)); }
  Id spec_constant(uint32_t number, uint32_t value);
  Id global_variable(spv::StorageClass storage, Id type);
  /// A structure with members at these offsets.
  Id struct_type(std::span<const Id> members, std::span<const uint32_t> offsets_bytes);
  /// A declaration that is never shared.
  Id declare(spv::Op op, Id type, std::span<const uint32_t> operands);

  // ---- What stands in front of them.
  void add_capability(spv::Capability capability) { capabilities_.insert(word(capability)); }
  void add_extension(std::string_view name) { extensions_.emplace(name); }
  void add_execution_mode(spv::ExecutionMode mode, std::initializer_list<uint32_t> operands);
  void decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> operands = {});
  void decorate_member(Id id, uint32_t member, spv::Decoration decoration,
                       std::initializer_list<uint32_t> operands = {});
  /// Pointers are not numbers: the module has no buffer addresses.
  void use_logical_addresses() { has_logical_addresses_ = true; }
  Id glsl();  // the extended instructions of GLSL.std.450

  // ---- Functions.
  FunctionCode& new_function(Id result, std::span<const Id> parameters);
  /// A function under a name of the generator; null: there is none yet.
  FunctionCode* find_function(const std::string& name);
  void name_function(const std::string& name, FunctionCode& function) { named_[name] = &function; }

  /// All words, with `entry` as the entry point "main" of a compute shader.
  Words finish(const FunctionCode& entry, uint32_t spirv_version);

 private:
  Id unique(spv::Op op, std::initializer_list<uint32_t> operands) {
    return unique(op, std::span<const uint32_t>(operands.begin(), operands.size()));
  }
  /// A type, which has its identifier first.
  Id unique(spv::Op op, std::span<const uint32_t> operands);

  Id next_ = 1;
  Id glsl_ = 0;
  bool has_logical_addresses_ = false;
  std::set<uint32_t> capabilities_;
  std::set<std::string, std::less<>> extensions_;
  std::vector<Words> modes_;  // the operands after the entry point
  Words decorations_, declarations_;
  std::vector<Id> interface_;
  std::map<Words, Id> known_;
  std::deque<FunctionCode> functions_;
  std::map<std::string, FunctionCode*> named_;
};

}  // namespace km::spirv
