#include "simt/program/program.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/integers.h"
#include "ptx/place.h"
#include "ptx/ptx.h"
#include "simt/analysis/control/convergence.h"
#include "simt/analysis/memory/local_elements.h"
#include "simt/forms/support.h"
#include "simt/kernel/shared_memory.h"
#include "simt/stage_dump.h"
#include "simt/transform/inline/dynamic_stack.h"
#include "simt/transform/inline/flatten.h"
#include "simt/transform/inline/hoist_variables.h"
#include "simt/transform/mark_undefined.h"
#include "simt/transform/regions.h"
#include "simt/transform/split_induction_variables.h"

namespace km::simt {

namespace {

/// An estimate of the registers that a GPU's compiler needs in addition to the kernel's own values:
/// for addresses, and for the steps of divisions and 64-bit products.
constexpr uint32_t kCompilersRegisters = 8;

/// Finds parameters that are pointers: 64-bit values that reach cvta or a [register].
class PointerFinder {
 public:
  explicit PointerFinder(const Kernel& kernel)
      : kernel_(kernel),
        address_(kernel.values.size()),
        is_pointer_(kernel.function->symbols.size()) {
    for (const BasicBlock& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) mark_operands(inst);
    }
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      if (const Phi* phi = kernel_.phi_of(value)) {
        for (ValueId input : phi->inputs) mark(input);
      } else if (const Inst* inst = kernel_.instruction_of(value)) {
        if (inst->writes[0].second == value) follow(*inst);
      }
    }
  }

  bool is_pointer(ptx::SymbolId param) const { return is_pointer_[param] != 0; }

 private:
  void mark(ValueId value) {
    if (address_[value] || kernel_.values[value].block == kNone) return;
    address_[value] = 1;
    open_.push_back(value);
  }

  void mark_operands(const Inst& inst) {
    for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
      const auto& operand = inst.ptx->operands[i];
      if (operand.kind == ptx::Operand::Kind::address && operand.reg != ptx::kNone) {
        mark(inst.read(operand.reg));
      }
    }
    if (inst.ptx->opcode == ptx::Opcode::cvta) mark_source(inst, 1);
  }

  /// Follows an address to the values that it was computed from.
  void follow(const Inst& inst) {
    using ptx::Opcode;
    switch (inst.ptx->opcode) {
      case Opcode::ld: {
        const auto& source = inst.ptx->operands[1];
        if (source.local_symbol && source.symbol != ptx::kNone && source.offset == 0) {
          is_pointer_[source.symbol] = 1;
        }
        return;
      }
      case Opcode::mov:
        return mark_source(inst, 1);
      case Opcode::add:
        mark_term(inst, 2);
        return mark_term(inst, 1);
      case Opcode::sub:
        return mark_term(inst, 1);
      default:
        return;
    }
  }

  void mark_source(const Inst& inst, unsigned index) {
    const auto& source = inst.ptx->operands[index];
    if (source.kind == ptx::Operand::Kind::reg) mark(inst.read(source.reg));
  }

  void mark_term(const Inst& inst, unsigned index) {
    const auto& source = inst.ptx->operands[index];
    if (source.kind == ptx::Operand::Kind::reg && !is_index(inst.read(source.reg))) {
      mark_source(inst, index);
    }
  }

  /// True if the value is computed by arithmetic, so that it is a byte offset and not the pointer
  /// that the offset is added to.
  bool is_index(ValueId value) const {
    using ptx::Opcode;
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr) return false;
    const auto opcode = inst->ptx->opcode;
    return opcode != Opcode::ld && opcode != Opcode::cvta && opcode != Opcode::add &&
           opcode != Opcode::sub && opcode != Opcode::mov;
  }

  const Kernel& kernel_;
  std::vector<uint8_t> address_;     // by value
  std::vector<uint8_t> is_pointer_;  // by symbol of the function
  std::vector<ValueId> open_;        // addresses whose sources are not marked yet
};

std::vector<Param> params_of(const Kernel& kernel, uint64_t* out_bytes) {
  const PointerFinder finder(kernel);
  std::vector<Param> params;
  uint64_t end = 0;
  for (ptx::SymbolId id : kernel.function->params) {
    const auto& symbol = kernel.function->symbols[id];
    Param param;
    param.type = ptx::param_type(symbol);
    param.size_bytes = symbol.size_bytes;
    param.align_bytes = std::max(1u, symbol.align_bytes);
    param.offset_bytes = round_up(end, param.align_bytes);
    end = param.offset_bytes + param.size_bytes;
    if (param.size_bytes != 8 || symbol.is_array) {
      param.kind = KM_PARAM_KIND_VALUE;
    } else if (symbol.is_param_pointer || finder.is_pointer(id)) {
      param.kind = KM_PARAM_KIND_POINTER;
    }
    params.push_back(param);
  }
  *out_bytes = end;
  return params;
}

uint32_t max_threads_of(const ptx::Function& function) {
  uint64_t threads = 1;
  const auto& limit = function.reqntid[0] ? function.reqntid : function.maxntid;
  if (limit[0] == 0) return 1024;
  for (uint32_t size : limit) threads *= std::max(1u, size);
  return static_cast<uint32_t>(std::min<uint64_t>(threads, 1024));
}

bool is_storage(const ptx::Symbol& symbol) {
  return !symbol.is_function &&
         (symbol.space == ptx::Space::global || symbol.space == ptx::Space::constant);
}

/// Each vector register of a long kernel that the machine lacks is stored and loaded again, and
/// takes LLVM longer than one that it has (bench/experiments/lanes-per-packet.md). Short code has
/// the registers for several vectors side by side, and fewer packets to run.
uint32_t most_lanes(const Kernel& kernel, const Machine& machine) {
  size_t instructions = 0;
  for (const BasicBlock& block : kernel.blocks) instructions += block.insts.size() + 1;
  if (machine.has_many_registers()) return instructions > 1500 ? 16 : 32;
  if (instructions <= 64) return machine.most_short_lanes();
  const bool fits = instructions <= 400 && max_live_registers(kernel) < 24;
  return fits ? machine.most_short_lanes() / 2 : 8;
}

bool tells_lanes(const ptx::Operand& operand) {
  using Special = ptx::SpecialRegister;
  if (operand.kind != ptx::Operand::Kind::special) return false;
  return operand.special == Special::laneid || operand.special == Special::warpid ||
         (operand.special >= Special::lanemask_eq && operand.special <= Special::lanemask_gt);
}

bool needs_warps(const ptx::Instruction& instruction) {
  if (is_warp_operation(instruction)) return true;
  // Old CUDA code exchanges data between the lanes of a warp through volatile shared memory.
  if (instruction.has(ptx::Modifier::volatile_) && !instruction.has(ptx::Modifier::global)) {
    return true;
  }
  const auto* operands = &instruction.operands[0];
  return std::any_of(operands, operands + instruction.operand_count, tells_lanes);
}

/// True if the lanes of a warp cooperate or use their lane numbers.
bool needs_warps(const Kernel& kernel) {
  return std::any_of(kernel.blocks.begin(), kernel.blocks.end(), [](const BasicBlock& block) {
    return std::any_of(block.insts.begin(), block.insts.end(),
                       [](const Inst& inst) { return needs_warps(*inst.ptx); });
  });
}

/// The number of threads per segment, if an exchange within the warp stays within known segments,
/// otherwise the warp size.
uint32_t segment_of(const Shapes& shapes, const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.opcode != ptx::Opcode::shfl || !is_warp_sync(ptx)) return kWarpLanes;
  const auto members = shapes.constant(inst, ptx.operands[4]);
  const auto segments = shapes.constant(inst, ptx.operands[3]);
  if (!segments || !members || static_cast<uint32_t>(*members) != UINT32_MAX) return kWarpLanes;
  // The fixed bits of a lane's number.
  const auto fixed_bits = static_cast<uint32_t>(*segments >> 8);
  return uint32_t{1} << std::bit_width(~fixed_bits & 31);
}

}  // namespace

uint32_t threads_together(const Kernel& kernel, const Shapes& shapes) {
  uint32_t most = 1;
  for (const BasicBlock& block : kernel.blocks) {
    for (const Inst& inst : block.insts) {
      if (needs_warps(*inst.ptx)) most = std::max(most, segment_of(shapes, inst));
    }
  }
  return most;
}

uint32_t choose_lanes(const Kernel& kernel, const Variant& variant) {
  if (needs_warps(kernel) || variant.runs_in_step()) return kWarpLanes;
  const auto& block = variant.block;
  const uint64_t rows = uint64_t{block[1]} * block[2];
  // A block of one warp is one packet, so that no values are kept across barriers.
  if (rows == 1 && block[0] != 0 && block[0] <= kWarpLanes) return kWarpLanes;
  uint32_t lanes = most_lanes(kernel, variant.machine);
  if (rows <= 1 || block[0] % 8 != 0) return lanes;
  while (block[0] % lanes != 0) lanes /= 2;
  return lanes;
}

Status ProgramImpl::collect_variables() {
  variable_of_symbol_.assign(module_->symbols.size(), kNone);
  for (uint32_t id = 0; id < module_->symbols.size(); ++id) {
    const auto& symbol = module_->symbols[id];
    if (symbol.space == ptx::Space::constant) constant_bytes_ += symbol.size_bytes;
    if (!is_storage(symbol)) continue;
    Variable variable;
    variable.name = symbol.name;
    variable.is_constant = symbol.space == ptx::Space::constant;
    const bool is_image = ptx::kind_of(symbol.type) == ptx::TypeKind::opaque;
    variable.is_visible = id < visible_symbols_ || is_image;  // found by name, like in CUDA
    variable.size_bytes = symbol.size_bytes;
    variable.align_bytes = std::max(1u, symbol.align_bytes);
    variable.element_size_bytes = std::max(1u, ptx::size_bytes(symbol.type));
    variable.data = symbol.data;
    variable_of_symbol_[id] = static_cast<uint32_t>(variables_.size());
    variables_.push_back(std::move(variable));
  }
  return collect_addresses();
}

Status ProgramImpl::collect_addresses() {
  for (uint32_t id = 0; id < module_->symbols.size(); ++id) {
    if (variable_of_symbol_[id] == kNone) continue;
    Variable& variable = variables_[variable_of_symbol_[id]];
    for (const auto& relocation : module_->symbols[id].relocations) {
      const ptx::Symbol& named = module_->symbols[relocation.symbol];
      const uint32_t target = variable_of_symbol_[relocation.symbol];
      // A function's address is a number that is part of the data already.
      if (named.is_function) continue;
      if (target == kNone) {
        return make_error(KM_ERROR_UNSUPPORTED_PTX,
                          "%s: the initial value of '%s' holds the address of '%s', which is "
                          "not a function or a variable in .global or .const space",
                          ptx::text_place(module_->name, module_->symbols[id].location).c_str(),
                          variable.name.c_str(), named.name.c_str());
      }
      variable.addresses.push_back(
          {relocation.offset, target, relocation.addend, relocation.size_bytes, relocation.mask});
    }
  }
  return {};
}

Result<AnalysedKernel> ProgramImpl::build(const InliningCosts& costs, uint32_t index,
                                          uint64_t stack_bytes) const {
  AnalysedKernel analysed;
  analysed.source = index;
  KM_ASSIGN(analysed.function, flatten(costs, index, stack_bytes));
  KM_TRY(check_supported(*module_, *analysed.function));
  KM_ASSIGN(analysed.kernel, build_kernel(*module_, *analysed.function));
  analysed.layout = analysed.side_by_side = lay_out(*module_, *analysed.function);
  if (analysed.layout.local_bytes != 0) {
    analysed.side_by_side.local_element_bytes = local_element_bytes(analysed.kernel);
  }
  return analysed;
}

bool ProgramImpl::may_be_undefined(uint32_t kernel) const {
  return kernels_[kernel].layout.local_bytes != 0 || may_read_undefined(kernels_[kernel].kernel);
}

Result<AnalysedKernel> ProgramImpl::rebuild(uint32_t kernel, uint64_t stack_bytes,
                                            bool is_marked) const {
  const CallGraph calls(*module_);
  const InliningCosts costs(calls);
  KM_ASSIGN(AnalysedKernel analysed, build(costs, kernels_[kernel].source, stack_bytes));
  if (is_marked) {
    mark_undefined(*analysed.function, analysed.kernel, analysed.layout.local_bytes != 0);
    KM_ASSIGN(analysed.kernel, build_kernel(*module_, *analysed.function));
  }
  split_induction_variables(analysed.kernel, *analysed.function);
  return analysed;
}

Status ProgramImpl::add_kernel(const InliningCosts& costs, uint32_t index) {
  const ptx::Function& function = module_->functions[index];
  KM_ASSIGN(AnalysedKernel analysed, build(costs, index, kThreadStackBytes));

  KernelInfo info;
  info.name = function.name;
  info.required_block = function.reqntid;
  info.max_threads = max_threads_of(function);
  info.cluster = function.reqnctapercluster;
  info.meets_cluster = meets_cluster(*analysed.function);
  // The shape for which most branches are uniform: a kernel that is unsupported with it is
  // unsupported with all others.
  ShapeOptions options;
  options.block = {info.max_threads, 1, 1};
  if (function.reqntid[0] != 0) options.block = function.reqntid;
  for (auto& size : options.block) size = std::max(1u, size);
  options.local_stride_bytes = analysed.layout.local_stride_bytes();
  options.independent_threads = analysed.kernel.irreducible != nullptr;
  const auto classification = classify(analysed.kernel, analyse_shapes(analysed.kernel, options));
  info.mode = classification.mode;
  info.mode_reason = classification.reason;
  info.params = params_of(analysed.kernel, &info.param_bytes);
  info.shared_static_bytes = analysed.layout.shared_static_bytes;
  info.reads_shared_size = reads_shared_size(*analysed.function);
  info.reserves_shared = reserves_shared(*analysed.function);
  info.local_bytes = analysed.layout.local_bytes;
  info.has_stack = has_stack(*analysed.function);
  info.constant_bytes = constant_bytes_;
  info.registers = max_live_registers(analysed.kernel) + kCompilersRegisters;
  if (function.maxnreg != 0) info.registers = std::min(info.registers, function.maxnreg);
  info.ptx_version = module_->version_major * 10 + module_->version_minor;
  info.target = module_->target_sm;
  infos_.push_back(std::move(info));
  split_induction_variables(analysed.kernel, *analysed.function);
  if (dump_enabled("ir")) dump_stage("ir", function.name, dump(analysed.kernel));
  kernels_.push_back(std::move(analysed));
  return {};
}

void ProgramImpl::add_refused(const ptx::Function& function, const Error& error) {
  KernelInfo info;
  info.name = function.name;
  info.refusal = error.message;
  infos_.push_back(std::move(info));
  kernels_.emplace_back();
}

/// A kernel that is not supported does not make the module's others fail.
Status ProgramImpl::analyse(const Interruption* interruption) {
  KM_TRY(collect_variables());
  std::optional<Error> first;
  size_t refused = 0;
  const CallGraph calls(*module_);
  const InliningCosts costs(calls);
  for (uint32_t index = 0; index < module_->functions.size(); ++index) {
    const ptx::Function& function = module_->functions[index];
    if (!function.is_entry || function.is_declaration) continue;
    KM_TRY(check(interruption));
    const Status status = add_kernel(costs, index);
    if (status) continue;
    if (status.error().status != KM_ERROR_UNSUPPORTED_PTX) return status.error();
    if (!first) first = status.error();
    add_refused(function, status.error());
    ++refused;
  }
  if (first && refused == kernels_.size()) return *first;
  return {};
}

Result<std::shared_ptr<const Program>> Program::load(std::shared_ptr<const ptx::Module> module,
                                                     const Interruption* interruption) {
  const size_t visible_symbols = module->symbols.size();
  module = hoist_variables(std::move(module));
  if (dump_enabled("ptx")) dump_stage("ptx", module->name, ptx::print(*module));
  auto program = std::make_shared<ProgramImpl>(std::move(module), visible_symbols);
  KM_TRY(program->analyse(interruption));
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace km::simt
