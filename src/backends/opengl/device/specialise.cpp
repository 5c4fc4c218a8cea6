#include "backends/opengl/device/specialise.h"

#include <spirv/unified1/spirv.hpp11>

#include "spirv/spirv.h"

namespace km::opengl {
namespace {

constexpr size_t kHeaderWords = 5;

/// A Specialisation copies a module, instruction by instruction.
class Specialisation {
 public:
  explicit Specialisation(const std::map<uint32_t, uint32_t>& values) : values_(values) {}

  std::vector<uint32_t> run(std::span<const uint32_t> module) {
    out_.assign(module.begin(), module.begin() + kHeaderWords);
    for (size_t at = kHeaderWords; at < module.size();) {
      const size_t count = module[at] >> 16;
      if (count == 0 || count > module.size() - at) break;
      take(module.subspan(at, count));
      at += count;
    }
    return std::move(out_);
  }

 private:
  static uint32_t number(auto value) { return static_cast<uint32_t>(value); }

  uint32_t value_of(uint32_t constant, uint32_t fallback) const {
    const auto found = values_.find(constant);
    return found == values_.end() ? fallback : found->second;
  }

  void add(spv::Op op, std::initializer_list<uint32_t> operands) {
    out_.push_back(number((operands.size() + 1) << 16) | number(op));
    out_.insert(out_.end(), operands);
  }

  /// Decorations of constants go, and of the size of blocks, which the execution mode says.
  void take_decoration(std::span<const uint32_t> words) {
    if (words[2] == number(spv::Decoration::SpecId)) {
      numbers_[words[1]] = words[3];
      return;
    }
    const bool is_size = words[2] == number(spv::Decoration::BuiltIn) &&
                         words[3] == number(spv::BuiltIn::WorkgroupSize);
    if (!is_size) copy(words);
  }

  void take_mode(std::span<const uint32_t> words) {
    if (words[2] != number(spv::ExecutionMode::LocalSize)) return copy(words);
    add(spv::Op::OpExecutionMode,
        {words[1], words[2], value_of(spirv::kBlockX, words[3]), value_of(spirv::kBlockY, words[4]),
         value_of(spirv::kBlockZ, words[5])});
  }

  void define(uint32_t type, uint32_t id, uint32_t value) {
    constants_[id] = value;
    add(spv::Op::OpConstant, {type, id, value});
  }

  /// Sums and products of sizes; the modules of src/spirv have no others.
  void take_operation(std::span<const uint32_t> words) {
    const uint32_t a = constants_[words[4]], c = constants_[words[5]];
    define(words[1], words[2], words[3] == number(spv::Op::OpIMul) ? a * c : a + c);
  }

  void take(std::span<const uint32_t> words) {
    switch (static_cast<spv::Op>(words[0] & 0xffff)) {
      case spv::Op::OpDecorate:
        return take_decoration(words);
      case spv::Op::OpExecutionMode:
        return take_mode(words);
      case spv::Op::OpSpecConstant:
        return define(words[1], words[2], value_of(numbers_[words[2]], words[3]));
      case spv::Op::OpSpecConstantComposite:
        return;  // the size of blocks
      case spv::Op::OpSpecConstantOp:
        return take_operation(words);
      case spv::Op::OpConstant:
        constants_[words[2]] = words[3];
        return copy(words);
      default:
        return copy(words);
    }
  }

  void copy(std::span<const uint32_t> words) {
    out_.insert(out_.end(), words.begin(), words.end());
  }

  const std::map<uint32_t, uint32_t>& values_;
  std::map<uint32_t, uint32_t> numbers_, constants_;  // by identifier
  std::vector<uint32_t> out_;
};

}  // namespace

std::vector<uint32_t> specialise(std::span<const uint32_t> module,
                                 const std::map<uint32_t, uint32_t>& values) {
  return Specialisation(values).run(module);
}

}  // namespace km::opengl
