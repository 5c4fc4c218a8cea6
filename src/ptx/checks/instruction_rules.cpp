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
  std::optional<Opcode> opcode;  // nothing: all opcodes
  Modifier modifier;
  uint16_t min_isa, min_sm;
};

namespace named {
constexpr std::optional<Opcode> any;
constexpr Opcode atom = Opcode::atom, red = Opcode::red, bar = Opcode::bar,
                 barrier = Opcode::barrier, mbarrier = Opcode::mbarrier, cvta = Opcode::cvta,
                 isspacep = Opcode::isspacep, mma = Opcode::mma, wmma = Opcode::wmma,
                 multimem = Opcode::multimem, suq = Opcode::suq, txq = Opcode::txq;
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
  /// Checks the combination of modifiers.
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
      case Opcode::cvt:
        return both(check_bytes(), check_random_bits());
      case Opcode::tex:
      case Opcode::tld4:
      case Opcode::txq:
      case Opcode::suld:
      case Opcode::sust:
      case Opcode::suq:
        return check_image();
      case Opcode::sured:
        return both(check_image(), check_texel_operation());
      case Opcode::mbarrier:
        return check_mbarrier();
      case Opcode::wmma:
        return check_fragments();
      case Opcode::redux:
        return check_integers();
      case Opcode::mma:
        return check_matrices();
      case Opcode::cp:
        return both(check_reduction(), broken_tensor_rule(function_, it_));
      case Opcode::wgmma:
      case Opcode::tensormap:
      case Opcode::multimem:
        return broken_tensor_rule(function_, it_);
      case Opcode::tcgen05:
        return both(check_tensor_target(), broken_tensor_rule(function_, it_));
      default:
        return check_video();
    }
  }

  /// Checks what `f` targets, and one device, lack of tcgen05.
  std::string check_tensor_target() const {
    constexpr uint32_t kWithoutIntegers = 103, kBlocksIsa = 88, kNvIsa = 87;
    if (has_any({Modifier::block16, Modifier::block32}) && isa() < kBlocksIsa) {
      return needs_version("a size of blocks, as '.block32',", kBlocksIsa);
    }
    if (it_.has(Modifier::kind_mxf4nvf4) && isa() < kNvIsa) {
      return needs_version("'.kind::mxf4nvf4'", kNvIsa);
    }
    const bool is_device = module_.target.ends_with('a');
    const auto needs_device = [&](const char* what, const char* targets) {
      return std::string(what) + " needs '.target " + targets + "', the module says " +
             module_.target;
    };
    if (it_.has(Modifier::kind_i8) && (!is_device || module_.target_sm == kWithoutIntegers)) {
      return needs_device("'.kind::i8'", "sm_100a' or '.target sm_110a");
    }
    if (is_device) return "";
    if (has_any({Modifier::scale_vec_1X, Modifier::scale_vec_2X, Modifier::scale_vec_4X})) {
      return needs_device("'.scale_vec'", "sm_100a");
    }
    if (it_.has(Modifier::sp) && has_any({Modifier::kind_mxf4, Modifier::kind_mxf4nvf4})) {
      return needs_device("this kind of sparse product", "sm_100a");
    }
    return "";
  }

  /// Checks the ranges of constants.
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
      case Opcode::st:
        return it_.has(Modifier::bulk) ? both(check_fill_size(), check_constant(2, {0})) : "";
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

  /// Only sm_1x has mad.f32 without a rounding modifier, which truncates the product; it is refused
  /// since PTX 3.2 for sm_20 and later.
  std::string check_rounding() const {
    constexpr uint32_t kFirstIsa = 32, kFirstTarget = 20;
    const bool rounds = has_any({Modifier::rn, Modifier::rz, Modifier::rm, Modifier::rp});
    if (it_.type() != Type::f32 || rounds || isa() < kFirstIsa ||
        module_.target_sm < kFirstTarget) {
      return "";
    }
    return "'mad.f32' without a rounding ended with PTX 3.1 on sm_20 and later: write 'mad.rn.f32'";
  }

  /// 8-bit floats exist on sm_89 since PTX 8.1 and on sm_90 since PTX 7.8.
  std::string check_bytes() const {
    constexpr uint32_t kFirstIsa = 81, kFirstTarget = 90;
    const auto is_byte_pair = [](Type type) {
      return type == Type::e4m3x2 || type == Type::e5m2x2;
    };
    const bool any = is_byte_pair(it_.types[0]) || is_byte_pair(it_.types[1]);
    if (!any || isa() >= kFirstIsa || module_.target_sm >= kFirstTarget) return "";
    return needs_version("this form of 'cvt'", kFirstIsa) + ", or '.target sm_90'";
  }

  /// Random bits come from a register of type .b32 and from nothing else.
  std::string check_random_bits() const {
    if (!it_.has(Modifier::rs)) return "";
    const Operand& bits = it_.operands[it_.operand_count - 1u];
    const bool fits = bits.kind == Kind::reg && function_.registers[bits.reg].type == Type::b32;
    return fits ? "" : "the random bits of 'cvt.rs' need a register of type .b32";
  }

  /// Checks textures and surfaces in registers, and the predicate that tells whether a texel is
  /// resident.
  std::string check_image() const {
    constexpr uint32_t kIndirectIsa = 31, kResidentIsa = 71, kResidentTarget = 60;
    const Operand& first = it_.operands[0];
    if (first.kind == Kind::pair && isa() < kResidentIsa) {
      return needs_version("a predicate beside the texel", kResidentIsa);
    }
    if (first.kind == Kind::pair && module_.target_sm < kResidentTarget) {
      return "a predicate beside the texel needs '.target sm_60' or later, the module says " +
             module_.target;
    }
    if (isa() >= kIndirectIsa) return "";
    for (unsigned i = 0; i < it_.operand_count; ++i) {
      const Operand& operand = it_.operands[i];
      const bool in_register = operand.kind == Kind::address
                                   ? operand.symbol == kNone
                                   : operand.kind == Kind::tuple &&
                                         function_.operand_pool[operand.first].kind == Kind::reg;
      if (in_register) return needs_version("a texture or surface in a register", kIndirectIsa);
    }
    return "";
  }

  /// Formatted texels are 32-bit words; for 64 bits there is the sum and, since PTX 8.1, minimum
  /// and maximum.
  std::string check_texel_operation() const {
    constexpr uint32_t kWideIsa = 81, kWideTarget = 50;
    const Type type = it_.type();
    const bool bits = has_any({Modifier::and_, Modifier::or_});
    bool good = type == Type::u32 || type == Type::s32;
    if (it_.has(Modifier::p) || bits) {
      good = type == Type::b32;
    } else if (it_.has(Modifier::add)) {
      good = good || type == Type::u64;
    } else if (type == Type::u64 || type == Type::s64) {
      if (isa() < kWideIsa) return needs_version("this form of 'sured'", kWideIsa);
      good = module_.target_sm >= kWideTarget;
    }
    return good ? "" : "'." + std::string(text_of(type)) + "' is not a type of this operation";
  }

  /// The operation of a bulk copy restricts its type, and more so in shared memory.
  std::string check_reduction() const {
    if (!it_.has(Modifier::reduce) || it_.has(Modifier::tensor)) return "";
    const Type type = it_.type();
    const auto any = [&](std::initializer_list<Type> list) {
      return std::find(list.begin(), list.end(), type) != list.end();
    };
    const bool shared = it_.has(Modifier::shared_cluster);
    bool good = any({Type::u32, Type::s32});  // min, max
    if (has_any({Modifier::and_, Modifier::or_, Modifier::xor_})) {
      good = type == Type::b32 || (type == Type::b64 && !shared);
    } else if (has_any({Modifier::inc, Modifier::dec})) {
      good = type == Type::u32;
    } else if (it_.has(Modifier::add)) {
      good = good || type == Type::u64 || (!shared && any({Type::f32, Type::f64})) ||
             (it_.has(Modifier::noftz) && any({Type::f16, Type::bf16}));
    } else if (!shared) {
      good = good || any({Type::u64, Type::s64, Type::f16, Type::bf16});
    }
    return good ? "" : "'." + std::string(text_of(type)) + "' is not a type of this operation";
  }

  std::string needs_version(const std::string& what, uint32_t version) const {
    return what + " needs '.version " + std::to_string(version / 10) + "." +
           std::to_string(version % 10) + "' or later, the module says " +
           std::to_string(module_.version_major) + "." + std::to_string(module_.version_minor);
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
        return needs_version(words(modifier) + " on " + name(), feature->min_isa);
      }
      if (module_.target_sm < feature->min_sm) {
        return words(modifier) + " on " + name() + " needs '.target sm_" +
               std::to_string(feature->min_sm) + "' or later, the module says " + module_.target;
      }
    }
    constexpr uint32_t kWideSystemIsa = 84;
    const Type type = it_.type_count != 0 ? it_.types[it_.type_count - 1] : Type::none;
    if (type == Type::b128 && it_.has(Modifier::sys) && isa() < kWideSystemIsa) {
      return needs_version("'.b128' with '.sys'", kWideSystemIsa);
    }
    return "";
  }

  /// sm_70 and later have no warp operations without a member mask.
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

  /// Cache hints apply to global memory only.
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
    if (it_.has(Modifier::bulk)) return "";
    const uint32_t wide = it_.has(Modifier::v8) ? 32 : it_.has(Modifier::v4) ? 64 : 0;
    const bool evicts_lines =
        has_any({Modifier::L2_evict_normal, Modifier::L2_evict_first, Modifier::L2_evict_last});
    if (evicts_lines && size_bits(it_.type()) != wide) {
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

  /// The size of what `st.bulk` fills is a multiple of 8 bytes.
  std::string check_fill_size() const {
    constexpr uint64_t kUnit = 8;
    const uint64_t* size = constant(1);
    if (size == nullptr || *size % kUnit == 0) return "";
    return "'st.bulk' of " + std::to_string(*size) + " bytes: the size must be a multiple of 8";
  }

  /// The size of a bulk copy is a multiple of 16 bytes.
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
    // The number of pending arrivals has 20 bits in the barrier object.
    if (it_.has(Modifier::init)) return check_range(1, 1, (1 << 20) - 1);
    const bool counts = arrives && !it_.has(Modifier::expect_tx);
    return counts ? check_range(2, 1, INT32_MAX) : "";
  }

  /// A video instruction with a second operation, or with a part of a register as its result, needs
  /// a third source; it cannot have both.
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

  /// Masks are integers, and so are the numbers of integer operations.
  std::string check_integers() const {
    const unsigned first = is_float(it_.type()) ? it_.operand_count - 1u : 0;
    for (unsigned i = first; i < it_.operand_count; ++i) {
      const Operand& operand = it_.operands[i];
      if (operand.kind != Kind::reg || is_integer(function_.registers[operand.reg].type)) continue;
      return name() + " needs registers of integers";
    }
    return "";
  }

  /// Both factors of an f16 product have one type; the selector of sparse products names the lanes
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

  /// `.aligned` is required since PTX 6.3 and unknown before. `.satfinite` of floating-point sums
  /// was removed in PTX 6.5; both integer factors must have one type.
  std::string check_product() const {
    constexpr uint32_t kAlignedIsa = 63, kNoSatIsa = 65;
    const bool aligned = it_.has(Modifier::aligned);
    if (aligned && isa() < kAlignedIsa) return needs_version("'.aligned' on 'wmma'", kAlignedIsa);
    if (!aligned && isa() >= kAlignedIsa) return "'wmma' needs '.aligned' since PTX 6.3";
    if (!it_.has(Modifier::mma)) return "";
    if (it_.type_count == 2 && it_.has(Modifier::satfinite) && isa() >= kNoSatIsa) {
      return "'.satfinite' of floats on 'wmma' ended with PTX 6.4";
    }
    const bool alike = it_.type_count == 2 || it_.types[1] == it_.types[2];
    return alike ? "" : "both factors must have the same type";
  }

  /// Checks the types that a fragment of the shape can have in memory.
  std::string check_fragment_type() const {
    if (it_.has(Modifier::mma)) return "";
    const Type type = it_.type();
    const bool factor = has_any({Modifier::a, Modifier::b});
    const auto any = [&](std::initializer_list<Type> list) {
      return std::find(list.begin(), list.end(), type) != list.end();
    };
    bool good = true;
    if (has_any({Modifier::m16n16k16, Modifier::m8n32k16, Modifier::m32n8k16})) {
      good = factor ? any({Type::f16, Type::bf16, Type::s8, Type::u8})
                    : any({Type::f16, Type::f32, Type::s32});
      const bool bytes = any({Type::s8, Type::u8, Type::s32});
      const uint32_t isa_needed = bytes ? 63 : type == Type::bf16 ? 70 : 0;
      const uint32_t target_needed = bytes ? 72 : type == Type::bf16 ? 80 : 0;
      if (isa() < isa_needed) return needs_version("this type on 'wmma'", isa_needed);
      if (good && module_.target_sm < target_needed) {
        return "this type on 'wmma' needs '.target sm_" + std::to_string(target_needed) +
               "' or later, the module says " + module_.target;
      }
    } else if (it_.has(Modifier::m16n16k8)) {
      good = factor ? type == Type::tf32 : type == Type::f32;
    } else if (it_.has(Modifier::m8n8k32)) {
      good = factor ? any({Type::s4, Type::u4}) : type == Type::s32;
    } else if (it_.has(Modifier::m8n8k128)) {
      good = factor ? type == Type::b1 : type == Type::s32;
    }
    return good ? "" : "this shape of 'wmma' has no fragments of this type";
  }

  std::string check_fragments() const {
    const std::string problem = both(check_product(), check_fragment_type());
    if (!problem.empty()) return problem;
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
