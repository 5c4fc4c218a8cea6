#include "spirv/words/module_writer.h"

#include <cstring>

namespace km::spirv {

namespace {

constexpr uint32_t kWordCountShift = 16;

}  // namespace

void append(Words& to, spv::Op op, std::span<const uint32_t> operands) {
  to.push_back(static_cast<uint32_t>((operands.size() + 1) << kWordCountShift) | word(op));
  to.insert(to.end(), operands.begin(), operands.end());
}

void append_text(Words& to, std::string_view text) {
  Words words(text.size() / sizeof(uint32_t) + 1);
  std::memcpy(words.data(), text.data(), text.size());
  to.insert(to.end(), words.begin(), words.end());
}

Id ModuleWriter::unique(spv::Op op, std::span<const uint32_t> operands) {
  Words key{word(op)};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [place, is_new] = known_.try_emplace(key, 0);
  if (!is_new) return place->second;
  place->second = new_id();
  Words all{place->second};
  all.insert(all.end(), operands.begin(), operands.end());
  append(declarations_, op, all);
  return place->second;
}

Id ModuleWriter::int_type(uint32_t bits) {
  if (bits == 8) add_capability(spv::Capability::Int8);
  if (bits == 16) add_capability(spv::Capability::Int16);
  if (bits == 64) add_capability(spv::Capability::Int64);
  return unique(spv::Op::OpTypeInt, {bits, 0});
}

Id ModuleWriter::float_type(uint32_t bits) {
  if (bits == 64) add_capability(spv::Capability::Float64);
  return unique(spv::Op::OpTypeFloat, {bits});
}

Id ModuleWriter::function_type(Id result, std::span<const Id> parameters) {
  Words operands{result};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return unique(spv::Op::OpTypeFunction, operands);
}

Id ModuleWriter::array_type(Id element, Id length, uint32_t stride_bytes) {
  const Id type = unique(spv::Op::OpTypeArray, {element, length});
  if (stride_bytes != 0) decorate(type, spv::Decoration::ArrayStride, {stride_bytes});
  return type;
}

Id ModuleWriter::runtime_array_type(Id element, uint32_t stride_bytes) {
  const Id type = unique(spv::Op::OpTypeRuntimeArray, {element});
  decorate(type, spv::Decoration::ArrayStride, {stride_bytes});
  return type;
}

Id ModuleWriter::declare(spv::Op op, Id type, std::span<const uint32_t> operands) {
  const Id id = new_id();
  Words all{type, id};
  all.insert(all.end(), operands.begin(), operands.end());
  append(declarations_, op, all);
  return id;
}

Id ModuleWriter::constant(Id type, std::span<const uint32_t> value) {
  Words key{word(spv::Op::OpConstant), type};
  key.insert(key.end(), value.begin(), value.end());
  const auto [place, is_new] = known_.try_emplace(key, 0);
  if (is_new) place->second = declare(spv::Op::OpConstant, type, value);
  return place->second;
}

Id ModuleWriter::constant_bool(bool value) {
  const spv::Op op = value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse;
  const Id type = bool_type();
  const auto [place, is_new] = known_.try_emplace(Words{word(op), type}, 0);
  if (is_new) place->second = declare(op, type, {});
  return place->second;
}

Id ModuleWriter::composite_constant(Id type, std::span<const Id> parts) {
  Words key{word(spv::Op::OpConstantComposite), type};
  key.insert(key.end(), parts.begin(), parts.end());
  const auto [place, is_new] = known_.try_emplace(key, 0);
  if (is_new) place->second = declare(spv::Op::OpConstantComposite, type, parts);
  return place->second;
}

Id ModuleWriter::spec_constant(uint32_t number, uint32_t value) {
  const Id id = declare(spv::Op::OpSpecConstant, int_type(32), std::span(&value, 1));
  decorate(id, spv::Decoration::SpecId, {number});
  return id;
}

Id ModuleWriter::global_variable(spv::StorageClass storage, Id type) {
  const uint32_t operands[] = {word(storage)};
  const Id id = declare(spv::Op::OpVariable, pointer_type(storage, type), operands);
  interface_.push_back(id);
  return id;
}

Id ModuleWriter::struct_type(std::span<const Id> members, std::span<const uint32_t> offsets_bytes) {
  const Id id = new_id();
  Words all{id};
  all.insert(all.end(), members.begin(), members.end());
  append(declarations_, spv::Op::OpTypeStruct, all);
  for (uint32_t i = 0; i < offsets_bytes.size(); ++i) {
    decorate_member(id, i, spv::Decoration::Offset, {offsets_bytes[i]});
  }
  return id;
}

void ModuleWriter::add_execution_mode(spv::ExecutionMode mode,
                                      std::initializer_list<uint32_t> operands) {
  Words all{word(mode)};
  all.insert(all.end(), operands.begin(), operands.end());
  modes_.push_back(std::move(all));
}

void ModuleWriter::decorate(Id id, spv::Decoration decoration,
                            std::initializer_list<uint32_t> operands) {
  Words all{id, word(decoration)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(decorations_, spv::Op::OpDecorate, all);
}

void ModuleWriter::decorate_member(Id id, uint32_t member, spv::Decoration decoration,
                                   std::initializer_list<uint32_t> operands) {
  Words all{id, member, word(decoration)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(decorations_, spv::Op::OpMemberDecorate, all);
}

Id ModuleWriter::glsl() {
  if (glsl_ == 0) glsl_ = new_id();
  return glsl_;
}

FunctionCode& ModuleWriter::new_function(Id result, std::span<const Id> parameters) {
  FunctionCode& function = functions_.emplace_back();
  function.id = new_id();
  function.result_type = result;
  function.type = function_type(result, parameters);
  for (const Id type : parameters) function.parameters.emplace_back(type, new_id());
  function.first_label = new_id();
  return function;
}

FunctionCode* ModuleWriter::find_function(const std::string& name) {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

Words ModuleWriter::finish(const FunctionCode& entry, uint32_t spirv_version) {
  Words out{spv::MagicNumber, spirv_version, 0, 0, 0};
  for (const uint32_t one : capabilities_) append(out, spv::Op::OpCapability, {one});
  for (const std::string& name : extensions_) {
    Words text;
    append_text(text, name);
    append(out, spv::Op::OpExtension, text);
  }
  if (glsl_ != 0) {
    Words import{glsl_};
    append_text(import, "GLSL.std.450");
    append(out, spv::Op::OpExtInstImport, import);
  }
  const auto addressing = has_logical_addresses_ ? spv::AddressingModel::Logical
                                                 : spv::AddressingModel::PhysicalStorageBuffer64;
  append(out, spv::Op::OpMemoryModel, {word(addressing), word(spv::MemoryModel::GLSL450)});
  Words entry_point{word(spv::ExecutionModel::GLCompute), entry.id};
  append_text(entry_point, "main");
  entry_point.insert(entry_point.end(), interface_.begin(), interface_.end());
  append(out, spv::Op::OpEntryPoint, entry_point);
  for (const Words& mode : modes_) {
    Words all{entry.id};
    all.insert(all.end(), mode.begin(), mode.end());
    append(out, spv::Op::OpExecutionMode, all);
  }
  out.insert(out.end(), decorations_.begin(), decorations_.end());
  out.insert(out.end(), declarations_.begin(), declarations_.end());
  for (const FunctionCode& function : functions_) {
    append(out, spv::Op::OpFunction, {function.result_type, function.id, 0, function.type});
    for (const auto& [type, id] : function.parameters) {
      append(out, spv::Op::OpFunctionParameter, {type, id});
    }
    append(out, spv::Op::OpLabel, {function.first_label});
    out.insert(out.end(), function.variables.begin(), function.variables.end());
    out.insert(out.end(), function.body.begin(), function.body.end());
    append(out, spv::Op::OpFunctionEnd, std::initializer_list<uint32_t>{});
  }
  out[3] = next_;
  return out;
}

}  // namespace km::spirv
