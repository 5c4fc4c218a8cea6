#include "ptx/parser/instruction/form_chooser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/target.h"

namespace km::ptx {

Operand immediate_operand(const Constant& constant) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.bits = constant.bits;
  operand.offset = static_cast<int64_t>(constant.kind);
  operand.is_float_literal = constant.is_float();
  return operand;
}

Status FormChooser::convert_call_list(const Instruction& call, unsigned operand,
                                      const WrittenInstruction& written) {
  const Operand& list = call.operands[operand];
  for (uint32_t i = 0; i < list.count; ++i) {
    Operand& element = context_.element(list, i);
    if (element.kind != Operand::Kind::immediate) continue;
    Type type = argument_type(context_.module(), context_.function(), call, operand == 0, i);
    KM_TRY(convert(element, type, operand, written));
  }
  return {};
}

Status FormChooser::choose(Instruction& instruction, const Mnemonic& mnemonic,
                           const WrittenInstruction& written) {
  instruction.types = mnemonic.types;
  instruction.type_count = mnemonic.type_count;
  std::copy(mnemonic.modifier_bits.begin(), mnemonic.modifier_bits.end(),
            instruction.modifier_bits);
  std::optional<OperandProblem> problem;
  for (const Mnemonic::Candidate& candidate : mnemonic.candidates) {
    instruction.form = candidate.form;
    instruction.modifiers = candidate.modifiers;
    auto assignment = assign_operands(all_forms()[candidate.form], instruction);
    if (!assignment) continue;
    auto found =
        find_operand_problem(context_.module(), context_.function(), instruction, *assignment);
    if (!found) return check_and_convert(instruction, *assignment, written);
    if (!problem || found->operand >= problem->operand) problem = std::move(found);
  }
  if (problem) return tokens_.error_at(written.operand_tokens[problem->operand], problem->message);
  return no_form_error(instruction, mnemonic, written);
}

Error FormChooser::no_form_error(const Instruction& instruction, const Mnemonic& mnemonic,
                                 const WrittenInstruction& written) const {
  const Form& form = all_forms()[mnemonic.candidates.front().form];
  if (form.any_modifiers) {
    const std::string name = quote(text_of(mnemonic.opcode)), &target = context_.module().target;
    if (!form.targets.has(find_target(target).value_or(Target{}))) {
      return tokens_.error_at(
          written.mnemonic_token,
          name + " needs '.target " + text_of(form.targets) + "', the module says " + target);
    }
    Error error =
        tokens_.error_at(written.mnemonic_token, name + " is not supported by this version");
    error.status = KM_ERROR_UNSUPPORTED_PTX;
    return error;
  }
  std::string counts;
  for (const Mnemonic::Candidate& candidate : mnemonic.candidates) {
    std::string count = operand_count_text(all_forms()[candidate.form], instruction);
    if (counts.find(count) == std::string::npos) counts += (counts.empty() ? "" : " or ") + count;
  }
  return tokens_.error_at(written.mnemonic_token, quote(written.mnemonic_token.text) + " takes " +
                                                      counts + " operands, found " +
                                                      std::to_string(instruction.operand_count));
}

Status FormChooser::check_and_convert(Instruction& instruction, const Assignment& assignment,
                                      const WrittenInstruction& written) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    const OperandSpec& spec = *assignment[i];
    if (written.notes[i].is_sum && spec.written) {
      return tokens_.error_at(written.operand_tokens[i], "a result needs a register, not a sum");
    }
    if (operand.kind == Operand::Kind::immediate) {
      KM_TRY(convert(operand, operand_type(spec, instruction), i, written));
    }
    if (operand.kind != Operand::Kind::vector) continue;
    Type type = operand_type(spec, instruction, operand.count);
    for (uint32_t k = 0; k < operand.count; ++k) {
      Operand& element = context_.element(operand, k);
      if (element.kind == Operand::Kind::immediate) {
        KM_TRY(convert(element, type, i, written));
      }
    }
  }
  return {};
}

Status FormChooser::convert(Operand& operand, Type type, unsigned index,
                            const WrittenInstruction& written) {
  const Token& at = written.operand_tokens[index];
  Constant constant{static_cast<Constant::Kind>(operand.offset), operand.bits};
  bool fraction = written.mnemonic_token.text.starts_with("createpolicy");
  if (fraction && type == Type::f32 && !constant.is_float()) {
    constant = *apply("*", constant, *read_real("1.0"));
  }
  const bool single = constant.kind == Constant::Kind::f32;
  const bool wrong_width = constant.is_float() && kind_of(type) == TypeKind::bits &&
                           type != (single ? Type::b32 : Type::b64);
  if (wrong_width) {
    return tokens_.error_at(at, "a floating-point constant of " +
                                    std::string(single ? "32" : "64") + " bits where ." +
                                    std::string(text_of(type)) + " is expected");
  }
  auto bits = bits_as(constant, type);
  if (!bits) {
    std::string name = "." + std::string(text_of(type));
    return tokens_.error_at(
        at, constant.is_float()
                ? "a floating-point constant where an integer (" + name + ") is expected"
                : "an integer constant where a floating-point value (" + name +
                      ") is expected: write 1.0, 0f3F800000 or 0d3FF0000000000000");
  }
  operand.bits = *bits;
  operand.offset = 0;
  return {};
}

}  // namespace km::ptx
