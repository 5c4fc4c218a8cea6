#include "backends/cpu/module/kernel_facts.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/device/entries.h"

namespace km::cpu {
namespace {

class Writer {
 public:
  template <class Number>
    requires std::is_trivially_copyable_v<Number>
  bool operator()(const Number& value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    data_.insert(data_.end(), bytes, bytes + sizeof value);
    return true;
  }
  bool operator()(const std::string& text) {
    (*this)(static_cast<uint64_t>(text.size()));
    data_.insert(data_.end(), text.begin(), text.end());
    return true;
  }
  template <class Element>
  bool operator()(const std::vector<Element>& list) {
    (*this)(static_cast<uint64_t>(list.size()));
    for (const Element& each : list) (*this)(each);
    return true;
  }
  std::vector<uint8_t> take() { return std::move(data_); }

 private:
  std::vector<uint8_t> data_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : left_(data) {}
  template <class Number>
    requires std::is_trivially_copyable_v<Number>
  bool operator()(Number& value) {
    if (left_.size() < sizeof value) return false;
    memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return true;
  }
  bool operator()(std::string& text) {
    uint64_t size = 0;
    if (!(*this)(size) || size > left_.size()) return false;
    text.assign(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return true;
  }
  template <class Element>
  bool operator()(std::vector<Element>& list) {
    uint64_t count = 0;
    if (!(*this)(count) || count > left_.size()) return false;
    list.resize(count);
    return std::all_of(list.begin(), list.end(), [this](Element& each) { return (*this)(each); });
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::span<const uint8_t> left_;
};

/// Passes all that is kept to `keep`, in one order for writing and reading; false at the first
/// failure.
template <class Facts, class Keep>
bool for_each_fact(Facts& facts, Keep& keep) {
  auto& info = facts.info;
  return keep(info.name) && keep(info.mode) && keep(info.params) && keep(info.param_bytes) &&
         keep(info.shared_static_bytes) && keep(info.local_bytes) && keep(info.has_stack) &&
         keep(info.reads_shared_size) && keep(info.reserves_shared) && keep(info.constant_bytes) &&
         keep(info.registers) && keep(info.max_threads) && keep(info.required_block) &&
         keep(info.cluster) && keep(info.meets_cluster) && keep(info.ptx_version) &&
         keep(info.target) && keep(facts.has_explicit_cluster) && keep(facts.max_cluster_blocks) &&
         keep(facts.variables) && keep(facts.text_hash);
}

}  // namespace

KernelFacts KernelFacts::of(const KernelProgram& kernel) {
  KernelFacts facts;
  facts.info = kernel.program->kernels()[kernel.kernel];
  facts.text_hash = kernel.text_hash;
  const std::vector<ptx::Function>& functions = kernel.program->module().functions;
  const auto source =
      std::find_if(functions.begin(), functions.end(),
                   [&](const ptx::Function& one) { return one.name == facts.info.name; });
  facts.has_explicit_cluster = source->explicitcluster;
  facts.max_cluster_blocks = source->maxclusterrank;
  for (const simt::Variable& variable : kernel.program->variables()) {
    facts.variables.push_back(variable.name);
  }
  return facts;
}

bool KernelFacts::can_be_kept() const {
  const auto is_hoisted = [](const std::string& name) { return name.find(':') != name.npos; };
  return info.refusal.empty() && std::none_of(variables.begin(), variables.end(), is_hoisted);
}

std::vector<uint8_t> KernelFacts::write() const {
  Writer writer;
  for_each_fact(*this, writer);
  return writer.take();
}

std::optional<KernelFacts> KernelFacts::read(std::span<const uint8_t> data) {
  KernelFacts facts;
  Reader reader(data);
  if (!for_each_fact(facts, reader) || !reader.at_end()) return std::nullopt;
  return facts;
}

std::string KernelFacts::key(std::string_view kernel, const Hash128& text_hash) {
  return std::string("kernel facts\n") + code_id() + '\n' + std::string(kernel) + '\n' +
         text_hash.text();
}

}  // namespace km::cpu
