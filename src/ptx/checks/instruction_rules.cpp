#include "ptx/checks/instruction_rules.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "ptx/checks/tensor_rules.h"
#include "ptx/forms.h"
#include "ptx/parser/lexer.h"
#include "ptx/wmma_counts.h"

namespace km::ptx {
namespace {

using Kind = Operand::Kind;

struct Feature {
  std::optional<Opcode> opcode;  // nothing: all
  Modifier modifier;
  uint16_t min_isa, min_sm;
};

namespace named {
constexpr std::optional<Opcode> any;
constexpr Opcode atom = Opcode::atom, red = Opcode::red, bar = Opcode::bar,
                 barrier = Opcode::barrier, mbarrier = Opcode::mbarrier, cvta = Opcode::cvta,
                 isspacep = Opcode::isspacep, cvt = Opcode::cvt;
}  // namespace named

constexpr Feature kFeatures[] = {
#define KM_PTX_FEATURE(opcode, modifier, min_isa, min_sm) \
  {named::opcode, Modifier::modifier, min_isa, min_sm},
#include "ptx/features.def"
#undef KM_PTX_FEATURE
};

const Feature* find_feature(Opcode opcode, Modifier modifier) {
  const Feature* found = nullptr;
  for (const Feature& feature : kFeatures) {
    if (feature.modifier != modifier || (feature.opcode && *feature.opcode != opcode)) continue;
    if (found == nullptr || feature.opcode) found = &feature;
  }
  return found;
}

class Rules {
 public:
  Rules(const Module& module, const Function& function, const Instruction& instruction)
      : module_(module), function_(function), it_(instruction) {}

  std::string check() const {
    std::string problem = check_features();
    if (problem.empty()) problem = check_form();
    return problem.empty() ? check_constants() : problem;
  }

 private:
  /// Rules of what is written.
  std::string check_form() const {
    switch (it_.opcode) {
      case Opcode::shfl:
      case Opcode::vote:
        return check_synchronous();
      case Opcode::ld:
      case Opcode::st:
        return check_access();
      case Opcode::atom:
      case Opcode::red:
        return check_hint_space();
      case Opcode::mad:
        return check_rounding();
      case Opcode::mbarrier:
        return check_mbarrier();
      case Opcode::wmma:
        return check_fragments();
      case Opcode::redux:
        return check_integers();
      case Opcode::mma:
        return check_matrices();
      case Opcode::wgmma:
      case Opcode::cp:
      case Opcode::tensormap:
      case Opcode::multimem:
        return broken_tensor_rule(function_, it_);
      default:
        return check_video();
    }
  }

  /// Ranges of constants.
  std::string check_constants() const {
    constexpr uint64_t kMostByte = 255, kMostEvent = 15, kLine = 128;
    switch (it_.opcode) {
      case Opcode::bar:
      case Opcode::barrier:
        return check_barrier();
      case Opcode::bfe:
        return both(check_range(2, 0, kMostByte), check_range(3, 0, kMostByte));
      case Opcode::bfi:
        return both(check_range(3, 0, kMostByte), check_range(4, 0, kMostByte));
      case Opcode::pmevent:
        return it_.has(Modifier::mask) ? "" : check_range(0, 0, kMostEvent);
      case Opcode::applypriority:
      case Opcode::discard:
      case Opcode::fence:
        return check_constant(1, {kLine});
      case Opcode::cp:
        return check_copy();
      case Opcode::mbarrier:
        return it_.has(Modifier::parity) ? check_range(2, 0, 1) : "";
      case Opcode::alloca:
        return check_alignment();
      case Opcode::setmaxnreg:
        return check_register_count();
      case Opcode::stackrestore:
        return it_.operands[0].kind == Kind::reg ? "" : "'stackrestore' needs a register";
      default:
        return "";
    }
  }

  static std::string both(std::string first, std::string second) {
    return first.empty() ? std::move(second) : std::move(first);
  }

  std::string check_alignment() const {
    const uint64_t* align = constant(2);
    return align == nullptr || std::has_single_bit(*align) ? ""
                                                           : "an alignment must be a power of two";
  }

  std::string check_register_count() const {
    constexpr uint64_t kLeast = 24, kMost = 256, kUnit = 8;
    std::string problem = check_range(0, kLeast, kMost);
    const uint64_t* count = constant(0);
    if (!problem.empty() || count == nullptr || *count % kUnit == 0) return problem;
    return "a number of registers must be a multiple of 8, found " + std::to_string(*count);
  }

  /// mad.f32 of the first GPUs rounds in a way of its own.
  std::string check_rounding() const {
    constexpr uint32_t kFirstIsa = 32, kFirstTarget = 20;
    const bool rounds = has_any({Modifier::rn, Modifier::rz, Modifier::rm, Modifier::rp});
    if (it_.type() != Type::f32 || rounds || isa() < kFirstIsa ||
        module_.target_sm < kFirstTarget) {
      return "";
    }
    return "'mad.f32' without a rounding ended with PTX 3.1 on sm_20 and later: write 'mad.rn.f32'";
  }

  uint32_t isa() const { return 10 * module_.version_major + module_.version_minor; }

  std::string name() const { return "'" + std::string(text_of(it_.opcode)) + "'"; }

  static std::string words(Modifier modifier) {
    return "'." + std::string(text_of(modifier)) + "'";
  }

  bool has_any(std::initializer_list<Modifier> list) const {
    return std::any_of(list.begin(), list.end(), [&](Modifier m) { return it_.has(m); });
  }

  std::string check_features() const {
    for (const Modifier modifier : it_.modifiers) {
      const Feature* feature = find_feature(it_.opcode, modifier);
      if (feature == nullptr) continue;
      if (isa() < feature->min_isa) {
        return words(modifier) + " on " + name() + " needs '.version " +
               std::to_string(feature->min_isa / 10) + "." + std::to_string(feature->min_isa % 10) +
               "' or later, the module says " + std::to_string(module_.version_major) + "." +
               std::to_string(module_.version_minor);
      }
      if (module_.target_sm < feature->min_sm) {
        return words(modifier) + " on " + name() + " needs '.target sm_" +
               std::to_string(feature->min_sm) + "' or later, the module says " + module_.target;
      }
    }
    return "";
  }

  /// Volta and later have no operations of warps without a mask.
  std::string check_synchronous() const {
    constexpr uint32_t kFirstIsa = 64, kFirstTarget = 70;
    if (it_.has(Modifier::sync) || isa() < kFirstIsa || module_.target_sm < kFirstTarget) return "";
    return name() + " without '.sync' ended with PTX 6.3 on sm_70 and later: write '" +
           std::string(text_of(it_.opcode)) + ".sync' with the mask of the lanes that take part";
  }

  const uint64_t* constant(unsigned index) const {
    const bool there = index < it_.operand_count && it_.operands[index].kind == Kind::immediate;
    return there ? &it_.operands[index].bits : nullptr;
  }

  std::string check_range(unsigned index, uint64_t least, uint64_t most) const {
    const uint64_t* value = constant(index);
    if (value == nullptr || (*value >= least && *value <= most)) return "";
    return "operand " + std::to_string(index + 1) + " of " + name() + " is " +
           std::to_string(static_cast<int64_t>(*value)) + ", expected " + std::to_string(least) +
           " to " + std::to_string(most);
  }

  std::string check_constant(unsigned index, std::initializer_list<uint64_t> allowed) const {
    const uint64_t* value = constant(index);
    if (value == nullptr || std::count(allowed.begin(), allowed.end(), *value) > 0) return "";
    std::string list;
    for (const uint64_t each : allowed) list += (list.empty() ? "" : " or ") + std::to_string(each);
    return "operand " + std::to_string(index + 1) + " of " + name() + " is " +
           std::to_string(static_cast<int64_t>(*value)) + ", expected " + list;
  }

  std::string check_barrier() const {
    constexpr uint64_t kMostBarrier = 15, kWarp = 32;
    if (has_any({Modifier::warp, Modifier::cluster})) return "";
    const bool reduces = it_.has(Modifier::red);  // the last operand is a predicate
    const unsigned first = reduces ? 1 : 0;
    std::string problem = check_range(first, 0, kMostBarrier);
    const bool counts = it_.operand_count > first + (reduces ? 2u : 1u);
    const uint64_t* threads = counts ? constant(first + 1) : nullptr;
    if (!problem.empty() || threads == nullptr || *threads % kWarp == 0) return problem;
    return std::to_string(static_cast<int64_t>(*threads)) +
           " threads at a barrier: the number must be a multiple of 32";
  }

  bool has_hint() const {
    return has_any({Modifier::L1_evict_normal, Modifier::L1_evict_unchanged,
                    Modifier::L1_evict_first, Modifier::L1_evict_last, Modifier::L1_no_allocate,
                    Modifier::L2_cache_hint, Modifier::L2_64B, Modifier::L2_128B,
                    Modifier::L2_256B});
  }

  /// Hints for caches are for global memory.
  std::string check_hint_space() const {
    const Space space = space_of(it_);
    if (!has_hint() || space == Space::global || space == Space::generic) return "";
    return "hints for caches are for global memory, not for ." + std::string(text_of(space));
  }

  std::string check_access() const {
    if (it_.opcode == Opcode::st && space_of(it_) == Space::param) {
      const Operand& to = it_.operands[0];
      const auto& params = function_.params;
      if (to.local_symbol && std::count(params.begin(), params.end(), to.symbol) > 0) {
        return "parameter " + quote(function_.symbols[to.symbol].name) + " cannot be written";
      }
    }
    if (has_any({Modifier::L2_evict_normal, Modifier::L2_evict_first, Modifier::L2_evict_last})) {
      return "'.L2::evict_first' and the like need vectors of 256 bits";
    }
    const bool has_operator = has_any({Modifier::ca, Modifier::cg, Modifier::cs, Modifier::lu,
                                       Modifier::cv, Modifier::wb, Modifier::wt});
    const bool evicts =
        has_any({Modifier::L1_evict_normal, Modifier::L1_evict_unchanged, Modifier::L1_evict_first,
                 Modifier::L1_evict_last, Modifier::L1_no_allocate});
    if (has_operator && evicts)
      return "a cache operator and an eviction priority exclude each other";
    return check_hint_space();
  }

  std::string check_copy() const {
    if (it_.has(Modifier::bulk)) return check_bulk_size();
    if (!it_.has(Modifier::async) || it_.has(Modifier::mbarrier)) return "";
    if (!has_any({Modifier::ca, Modifier::cg})) return "";
    std::string problem =
        it_.has(Modifier::cg) ? check_constant(2, {16}) : check_constant(2, {4, 8, 16});
    const uint64_t* size = constant(2);
    if (!problem.empty() || size == nullptr) return problem;
    const bool hinted = it_.has(Modifier::L2_cache_hint);
    return it_.operand_count > (hinted ? 4u : 3u) ? check_range(3, 0, *size) : "";
  }

  /// Bulk copies move lines of 16 bytes.
  std::string check_bulk_size() const {
    constexpr uint64_t kLine = 16;
    if (has_any({Modifier::tensor, Modifier::wait_group, Modifier::commit_group})) return "";
    const unsigned index = it_.has(Modifier::prefetch) ? 1 : 2;
    const uint64_t* size = constant(index);
    if (size == nullptr || *size % kLine == 0) return "";
    return "a bulk copy of " + std::to_string(*size) + " bytes: the size must be a multiple of 16";
  }

  std::string check_mbarrier() const {
    const bool ordered = has_any({Modifier::acquire, Modifier::release, Modifier::relaxed});
    const bool scoped = has_any({Modifier::cta, Modifier::cluster});
    if (ordered != scoped) {
      return "an order such as '.release' and a scope such as '.cta' need each other on 'mbarrier'";
    }
    const bool arrives = has_any({Modifier::arrive, Modifier::arrive_drop});
    const bool remote = arrives && it_.has(Modifier::shared_cluster);
    if (remote && it_.operands[0].kind != Kind::sink) {
      return "an arrival in another block's shared memory has no result: write '_'";
    }
    return "";
  }

  /// The second operation of a video instruction and its third source need each other; a part of
  /// the result has no second operation.
  std::string check_video() const {
    switch (it_.opcode) {
      case Opcode::vadd:
      case Opcode::vsub:
      case Opcode::vabsdiff:
      case Opcode::vmin:
      case Opcode::vmax:
      case Opcode::vshl:
      case Opcode::vshr:
      case Opcode::vset:
        break;
      case Opcode::vmad:
        return check_vmad();
      default:
        return "";
    }
    constexpr unsigned kWithThird = 4;
    const bool second = has_any({Modifier::add, Modifier::min, Modifier::max});
    const Operand& result = it_.operands[0];
    const bool inserts = result.kind == Kind::reg && result.selector != 0;
    if (second && inserts) {
      return name() + " has either '.add', '.min' or '.max', or a selected part of its result";
    }
    const bool third = it_.operand_count == kWithThird;
    if (third || !(second || inserts)) return "";
    return name() +
           " needs a third source with '.add', '.min', '.max' or a selected part of its "
           "result";
  }

  /// A negative product, a negative third source and '.po' exclude each other.
  std::string check_vmad() const {
    const bool product = it_.operands[1].negated != it_.operands[2].negated;
    const bool third = it_.operands[3].negated;
    if (it_.has(Modifier::po) && (product || third)) return name() + " has either '.po' or a minus";
    if (product && third) {
      return name() + " has a minus either at one factor or at the third source";
    }
    return "";
  }

  std::string check_integers() const {
    for (unsigned i = 0; i < it_.operand_count; ++i) {
      const Operand& operand = it_.operands[i];
      if (operand.kind != Kind::reg || is_integer(function_.registers[operand.reg].type)) continue;
      if (!is_float(it_.type())) return name() + " needs registers of integers";
    }
    return "";
  }

  /// Both factors of a product of halves have one type; the selector of sparse ones names lanes
  /// that hold metadata.
  std::string check_matrices() const {
    const Type a = it_.types[1], b = it_.types[2];
    const bool halves = a == Type::f16 || a == Type::bf16;
    if (it_.type_count > 2 && halves && a != b) return "both factors must have the same type";
    if (!has_any({Modifier::sp, Modifier::sp_ordered_metadata})) return "";
    constexpr unsigned kSelector = 5;
    const bool bytes = size_bits(a) == 8, nibbles = size_bits(a) == 4;
    const bool whole =
        (bytes && it_.has(Modifier::m16n8k64)) || (nibbles && it_.has(Modifier::m16n8k128));
    const bool pair = (size_bits(a) == 16 && it_.has(Modifier::m16n8k32)) ||
                      (a == Type::tf32 && it_.has(Modifier::m16n8k16)) ||
                      (bytes && it_.has(Modifier::m16n8k32)) ||
                      (nibbles && it_.has(Modifier::m16n8k64));
    return check_range(kSelector, 0, whole ? 0 : pair ? 1 : 3);
  }

  std::string check_fragments() const {
    for (unsigned i = 0; i < it_.operand_count; ++i) {
      const uint32_t wanted = wmma_count(it_, i);
      if (wanted == 0) continue;
      const Operand& operand = it_.operands[i];
      if (operand.kind == Kind::vector && operand.count == wanted) continue;
      return "operand " + std::to_string(i + 1) + " of 'wmma' must be a vector of " +
             std::to_string(wanted);
    }
    return "";
  }

  const Module& module_;
  const Function& function_;
  const Instruction& it_;
};

}  // namespace

std::string broken_rule(const Module& module, const Function& function,
                        const Instruction& instruction) {
  return Rules(module, function, instruction).check();
}

}  // namespace km::ptx
