#include "ptx/checks/tensor_rules.h"

#include <cstdio>
#include <initializer_list>

#include "ptx/names.h"
#include "ptx/wmma_counts.h"

namespace km::ptx {

namespace {

using Kind = Operand::Kind;

class TensorRules {
 public:
  TensorRules(const Function& function, const Instruction& instruction)
      : function_(function), it_(instruction) {}

  std::string check() const {
    switch (it_.opcode) {
      case Opcode::wgmma:
        return it_.has(Modifier::mma_async) ? check_product() : check_wait();
      case Opcode::cp:
        return it_.has(Modifier::tensor) ? check_copy() : "";
      case Opcode::tensormap:
        return it_.has(Modifier::replace) ? check_replace() : check_size();
      case Opcode::multimem:
        return check_multicast();
      case Opcode::tcgen05:
        return it_.has(Modifier::mma) ? check_tensor_product() : check_tensor_move();
      default:
        return "";
    }
  }

 private:
  bool has_any(std::initializer_list<Modifier> modifiers) const {
    for (const Modifier modifier : modifiers) {
      if (it_.has(modifier)) return true;
    }
    return false;
  }

  /// Requires a constant operand within [low, high].
  std::string check_constant(unsigned index, int64_t low, int64_t high) const {
    const Operand& operand = it_.operands[index];
    const std::string place = "operand " + std::to_string(index + 1);
    if (operand.kind != Kind::immediate) return place + " must be a constant";
    const auto value = static_cast<int64_t>(static_cast<int32_t>(operand.bits));
    if (value >= low && value <= high) return "";
    return place + " is " + std::to_string(value) + ", expected " + std::to_string(low) + " to " +
           std::to_string(high);
  }

  // ---- wgmma

  std::string check_wait() const {
    return it_.has(Modifier::wait_group) ? check_constant(0, 0, INT32_MAX) : "";
  }

  unsigned columns() const {
    unsigned n = 0;
    for (const Modifier modifier : it_.modifiers) {
      if (std::sscanf(std::string(text_of(modifier)).c_str(), "m64n%u", &n) == 1) return n;
    }
    return n;
  }

  std::string check_product() const {
    const Type a = it_.types[1], b = it_.types[2];
    const bool halves = a == Type::f16 || a == Type::bf16;
    if (halves && a != b) return "both factors must have the same type";
    constexpr unsigned kWide = 16, kOdd = 24, kNarrow = 8;
    const unsigned n = columns();
    const bool is_number = it_.types[0] != Type::s32;
    if (!is_number && n % kWide != 0 && n != kNarrow && n != kOdd) {
      return "products of integers and bits have 8, 24 or a multiple of 16 columns, not " +
             std::to_string(n);
    }
    unsigned next = 3;
    if (it_.has(Modifier::sp)) {
      ++next;
      std::string problem = check_constant(next++, 0, size_bits(a) == 8 ? 0 : 1);
      if (!problem.empty()) return problem;
    }
    return check_scales(next + 1);
  }

  /// Scales must be 1 or -1, and the flags for transposed matrices 0 or 1.
  std::string check_scales(unsigned first) const {
    for (unsigned i = first; i < it_.operand_count; ++i) {
      const bool is_scale = i < first + 2;
      std::string problem = check_constant(i, is_scale ? -1 : 0, 1);
      if (problem.empty() && is_scale && it_.operands[i].bits == 0) {
        problem = "operand " + std::to_string(i + 1) + " is 0, expected 1 or -1";
      }
      if (!problem.empty()) return problem;
    }
    return "";
  }

  // ---- Tensor maps

  unsigned dimensions() const {
    constexpr Modifier kRanks[] = {Modifier::_1d, Modifier::_2d, Modifier::_3d, Modifier::_4d,
                                   Modifier::_5d};
    for (unsigned i = 0; i < std::size(kRanks); ++i) {
      if (it_.has(kRanks[i])) return i + 1;
    }
    return 0;
  }

  static unsigned count_of(const Operand& operand) {
    return operand.kind == Kind::vector ? operand.count : 1;
  }

  std::string check_copy() const {
    if (has_any({Modifier::tile_gather4, Modifier::tile_scatter4, Modifier::im2col_w,
                 Modifier::im2col_w_128})) {
      return "";  // only on newer devices
    }
    const unsigned rank = dimensions();
    const bool stores = it_.has(Modifier::bulk_group);
    if (has_any({Modifier::im2col, Modifier::im2col_no_offs}) && rank < 3) {
      return "'.im2col' needs 3 to 5 dimensions";
    }
    if (stores && it_.has(Modifier::im2col)) return "stores take '.im2col_no_offs'";
    const bool loads = !stores && !it_.has(Modifier::prefetch);
    if (loads && it_.has(Modifier::multicast_cluster) && !it_.has(Modifier::shared_cluster)) {
      return "'.multicast::cluster' needs '.shared::cluster'";
    }
    const Operand& tuple = it_.operands[loads ? 1 : 0];
    const unsigned given = count_of(function_.operand_pool[tuple.first + 1]);
    if (given != rank) return wrong_count("coordinates", given, rank);
    if (stores || !it_.has(Modifier::im2col)) return "";
    return check_offsets(loads ? 3 : 1, rank - 2);
  }

  std::string check_offsets(unsigned index, unsigned expected) const {
    const bool there =
        index < it_.operand_count && (it_.operands[index].kind == Kind::vector || expected == 1);
    const unsigned given = there ? count_of(it_.operands[index]) : 0;
    return given == expected ? "" : wrong_count("im2col offsets", given, expected);
  }

  static std::string wrong_count(const char* what, unsigned given, unsigned expected) {
    return std::to_string(given) + " " + what + ", expected " + std::to_string(expected);
  }

  std::string check_replace() const {
    const bool wide = has_any({Modifier::global_address, Modifier::global_stride});
    if ((size_bits(it_.type()) == 64) != wide) {
      return wide ? "addresses and strides have type '.b64'" : "this field has type '.b32'";
    }
    constexpr int64_t kTypes = 15, kLayouts = 2, kSwizzles = 4, kFills = 1, kDimensions = 4;
    if (it_.has(Modifier::elemtype)) return check_constant(1, 0, kTypes);
    if (it_.has(Modifier::interleave_layout)) return check_constant(1, 0, kLayouts);
    if (it_.has(Modifier::swizzle_mode)) return check_constant(1, 0, kSwizzles);
    if (it_.has(Modifier::fill_mode)) return check_constant(1, 0, kFills);
    return it_.operand_count > 2 ? check_constant(1, 0, kDimensions) : "";
  }

  std::string check_size() const {
    constexpr int64_t kMapBytes = 128;
    return check_constant(2, kMapBytes, kMapBytes);
  }

  // ---- tcgen05

  std::string check_tensor_move() const {
    constexpr unsigned kMostRegisters = 128;
    if (has_any({Modifier::alloc, Modifier::dealloc})) return check_columns();
    const unsigned wanted = tensor_count(it_);
    if (wanted == 0) return "";
    if (wanted > kMostRegisters) return "this shape is not repeated so often";
    if (it_.has(Modifier::red) && wanted == 1) return "reductions need '.x2' or more";
    const Operand& vector = it_.operands[it_.has(Modifier::ld) ? 0 : it_.operand_count - 1];
    if (vector.kind != Kind::vector) return "the registers must be a vector in braces";
    const unsigned given = count_of(vector);
    return given == wanted ? "" : wrong_count("registers", given, wanted);
  }

  std::string check_columns() const {
    const Operand& columns = it_.operands[1];
    if (columns.kind != Kind::immediate) return "";
    const uint64_t count = columns.bits & UINT32_MAX;
    const bool good = count >= 32 && count <= 512 && (count & (count - 1)) == 0;
    return good ? "" : "columns come in powers of two from 32 to 512, not " + std::to_string(count);
  }

  std::string check_tensor_product() const {
    if (it_.has(Modifier::ashift) &&
        has_any({Modifier::collector_a_fill, Modifier::collector_a_use})) {
      return "'.ashift' has neither '.collector::a::fill' nor '.collector::a::use'";
    }
    constexpr int64_t kMostScale = 15;
    const unsigned last = it_.operand_count - 1;
    if (it_.operands[last].kind == Kind::immediate && !it_.has(Modifier::ws)) {
      return check_constant(last, 0, kMostScale);
    }
    return it_.has(Modifier::block_scale) ? check_scale_vector() : "";
  }

  std::string check_scale_vector() const {
    const bool is_bytes = it_.has(Modifier::kind_mxf8f6f4), is_mxf4 = it_.has(Modifier::kind_mxf4);
    const bool of_16 = has_any({Modifier::scale_vec_4X, Modifier::block16});
    const bool any =
        of_16 || has_any({Modifier::scale_vec_1X, Modifier::scale_vec_2X, Modifier::block32});
    if (of_16 && (is_bytes || is_mxf4)) return "this kind has a scale for 32 elements";
    if (it_.has(Modifier::scale_vec_1X) && !is_bytes) return "this kind has no '.scale_vec::1X'";
    if (it_.has(Modifier::scale_vec_2X) && is_bytes) return "this kind has no '.scale_vec::2X'";
    const bool needs_one = !is_bytes && !is_mxf4;
    return needs_one && !any ? "this kind needs '.block16' or another size of blocks" : "";
  }

  // ---- multimem

  std::string check_multicast() const {
    if (it_.has(Modifier::bulk)) return "";
    const bool ordered = has_any({Modifier::relaxed, Modifier::acquire, Modifier::release});
    const bool scoped = has_any({Modifier::cta, Modifier::cluster, Modifier::gpu, Modifier::sys});
    if (scoped && !ordered && !it_.has(Modifier::weak)) {
      return "a scope such as '.gpu' needs an order such as '.relaxed'";
    }
    if (ordered && !scoped) return "an order such as '.relaxed' needs a scope such as '.gpu'";
    if (it_.has(Modifier::weak) && scoped) return "'.weak' has no scope";
    std::string problem = check_vector();
    return problem.empty() && !it_.has(Modifier::st) ? check_operation() : problem;
  }

  std::string check_vector() const {
    const bool any = has_any({Modifier::v2, Modifier::v4, Modifier::v8});
    switch (it_.type()) {
      case Type::f16:
      case Type::bf16:
        return any ? "" : "single halves are none of multimem: use a vector";
      case Type::f16x2:
      case Type::bf16x2:
      case Type::f32:
        return it_.has(Modifier::v8) ? "vectors of this type have 2 or 4 elements" : "";
      case Type::f64:
        return any ? "this type has no vectors" : "";
      default:
        return "";
    }
  }

  std::string check_operation() const {
    const Type type = it_.type();
    const bool adds = it_.has(Modifier::add),
               bits = has_any({Modifier::and_, Modifier::or_, Modifier::xor_});
    const bool halves =
        type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
    if (has_any({Modifier::acc_f32, Modifier::acc_f16})) {
      if (!adds) return "'.acc::f32' and '.acc::f16' need '.add'";
      if (type == Type::f32 || type == Type::f64) return "'.acc::f32' is for shorter types";
    }
    const bool is_bits = type == Type::b32 || type == Type::b64;
    if (is_bits != bits) return "'.and', '.or' and '.xor' are for bits, and bits for them";
    if (adds) return type == Type::s64 ? "'.add' has no type '.s64'" : "";
    if (type == Type::f32 || type == Type::f64) return "floats are only added";
    const bool scalar = !has_any({Modifier::v2, Modifier::v4, Modifier::v8});
    if (halves && scalar && it_.has(Modifier::red)) return "pairs of halves are only added";
    return "";
  }

  const Function& function_;
  const Instruction& it_;
};

}  // namespace

std::string broken_tensor_rule(const Function& function, const Instruction& instruction) {
  return TensorRules(function, instruction).check();
}

}  // namespace km::ptx
