#include "simt/forms/image_form.h"

#include <algorithm>
#include <utility>

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

bool set_geometry(const Instruction& instruction, ImageForm* form) {
  struct Geometry {
    Modifier modifier;
    uint8_t dimensions;
    bool is_layered, is_cube;
  };
  constexpr Geometry kGeometries[] = {
      {Modifier::_1d, 1, false, false}, {Modifier::_2d, 2, false, false},
      {Modifier::_3d, 3, false, false}, {Modifier::a1d, 1, true, false},
      {Modifier::a2d, 2, true, false},  {Modifier::cube, 2, false, true},
      {Modifier::acube, 2, true, true}};
  for (const Geometry& each : kGeometries) {
    if (!instruction.has(each.modifier)) continue;
    form->dimensions = each.dimensions;
    form->is_layered = each.is_layered;
    form->is_cube = each.is_cube;
    return true;
  }
  return false;  // multi-sample images, which cannot be created here
}

/// Reads the operands after level and gradients: offsets, and the reference value of a comparison.
bool set_rest(const Instruction& instruction, unsigned first, ImageForm* form) {
  for (unsigned i = first; i < instruction.operand_count; ++i) {
    const bool is_vector = instruction.operands[i].kind == Operand::Kind::vector;
    const bool compares = !is_vector && form->dimensions == 2;
    if (compares || form->has_offsets) return false;
    form->has_offsets = true;
  }
  return true;
}

/// With a separate sampler the tuple has three elements.
bool has_plain_place(const Instruction& instruction, unsigned index) {
  return instruction.operands[index].kind == Operand::Kind::tuple &&
         instruction.operands[index].count == 2;
}

std::optional<ImageForm> fetch_form(const Instruction& instruction) {
  ImageForm form;
  form.operation = ImageOperation::fetch;
  if (!has_plain_place(instruction, 1) || !set_geometry(instruction, &form)) return std::nullopt;
  unsigned rest = 2;
  if (instruction.opcode == Opcode::tld4) {
    form.operation = ImageOperation::gather;
    form.component = instruction.has(Modifier::r)   ? 0
                     : instruction.has(Modifier::g) ? 1
                     : instruction.has(Modifier::b) ? 2
                                                    : 3;
  } else {
    form.integer_coordinates = instruction.type(1) == Type::s32;
    form.halves = instruction.type(0) == Type::f16;
    form.packed_halves = instruction.type(0) == Type::f16x2;
  }
  if (instruction.has(Modifier::level)) {
    form.level = LevelChoice::given;
    rest = 3;
  } else if (instruction.has(Modifier::grad)) {
    form.level = LevelChoice::gradients;
    rest = 4;
  }
  if (!set_rest(instruction, rest, &form)) return std::nullopt;
  return form;
}

std::optional<ImageForm> surface_form(const Instruction& instruction, unsigned place) {
  ImageForm form;
  if (!has_plain_place(instruction, place) || !set_geometry(instruction, &form)) {
    return std::nullopt;
  }
  const Type type = instruction.type(0);
  form.element_bytes = static_cast<uint8_t>(ptx::size_bytes(type));
  form.elements = instruction.has(Modifier::v4) ? 4 : instruction.has(Modifier::v2) ? 2 : 1;
  form.is_formatted = instruction.has(Modifier::p);
  form.is_signed = ptx::is_signed(type);
  form.bounds = instruction.has(Modifier::clamp)  ? ImageBounds::clamp
                : instruction.has(Modifier::zero) ? ImageBounds::zero
                                                  : ImageBounds::trap;
  return form;
}

std::optional<ImageForm> reduction_form(const Instruction& instruction) {
  std::optional<ImageForm> form = surface_form(instruction, 0);
  if (!form) return form;
  form->operation = ImageOperation::reduce;
  form->reduction = instruction.has(Modifier::add)    ? ImageReduction::add
                    : instruction.has(Modifier::min)  ? ImageReduction::min
                    : instruction.has(Modifier::max)  ? ImageReduction::max
                    : instruction.has(Modifier::and_) ? ImageReduction::and_
                                                      : ImageReduction::or_;
  return form;
}

std::optional<ImageForm> query_form(const Instruction& instruction) {
  constexpr std::pair<Modifier, ImageQuery> kQueries[] = {
      {Modifier::width, ImageQuery::width},
      {Modifier::height, ImageQuery::height},
      {Modifier::depth, ImageQuery::depth},
      {Modifier::channel_data_type, ImageQuery::channel_type},
      {Modifier::channel_order, ImageQuery::channel_order},
      {Modifier::normalized_coords, ImageQuery::normalized},
      {Modifier::array_size, ImageQuery::array_size},
      {Modifier::num_mipmap_levels, ImageQuery::level_count},
      {Modifier::num_samples, ImageQuery::samples},
      {Modifier::force_unnormalized_coords, ImageQuery::unnormalized},
      {Modifier::filter_mode, ImageQuery::filter},
      {Modifier::addr_mode_0, ImageQuery::address_0},
      {Modifier::addr_mode_1, ImageQuery::address_1},
      {Modifier::addr_mode_2, ImageQuery::address_2},
      {Modifier::memory_layout, ImageQuery::memory_layout},
  };
  ImageForm form;
  form.operation = ImageOperation::query;
  if (instruction.has(Modifier::level)) form.level = LevelChoice::given;
  for (const auto& [modifier, query] : kQueries) {
    if (!instruction.has(modifier)) continue;
    form.query = query;
    return form;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ImageForm> image_form(const Instruction& instruction) {
  std::optional<ImageForm> form;
  switch (instruction.opcode) {
    case Opcode::tex:
    case Opcode::tld4:
      return fetch_form(instruction);
    case Opcode::suld:
      form = surface_form(instruction, 1);
      if (form) form->operation = ImageOperation::load;
      return form;
    case Opcode::sust:
      form = surface_form(instruction, 0);
      if (form) form->operation = ImageOperation::store;
      return form;
    case Opcode::sured:
      return reduction_form(instruction);
    case Opcode::txq:
    case Opcode::suq:
      return query_form(instruction);
    case Opcode::istypep:
      if (instruction.type(0) == Type::samplerref) return form;
      form.emplace();
      form->operation = ImageOperation::is_kind;
      form->wants_surface = instruction.type(0) == Type::surfref;
      return form;
    default:
      return form;
  }
}

unsigned image_operand(const Instruction& instruction) {
  return instruction.opcode == Opcode::sust || instruction.opcode == Opcode::sured ? 0 : 1;
}

}  // namespace km::simt::arithmetic
