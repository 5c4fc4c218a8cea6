#include "memory_check.h"

#include <cstdio>
#include <fstream>
#include <set>

#include "compare.h"
#include "generator.h"
#include "shrink.h"

namespace km::fuzz {
namespace {

constexpr unsigned kFormsPerKernel = 8, kKernelsPerModule = 32, kShrinkTries = 200;

std::vector<std::string> all_registers(char kind, unsigned count) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) names.push_back(std::string("%") + kind + std::to_string(i));
  return names;
}

Kernel empty_kernel(unsigned index) {
  Kernel kernel;
  kernel.name = "k" + std::to_string(index);
  kernel.grid = {2, 1, 1};
  kernel.block = {index % 2 ? 40u : 64u, 1, 1};
  kernel.uniforms = {3, 0x12345678};
  kernel.input_seed = index;
  for (const auto& [kind, count] :
       {std::pair{'r', kWords}, {'l', kLongs}, {'h', kHalves}, {'f', kFloats}, {'d', kDoubles}}) {
    const auto names = all_registers(kind, count);
    kernel.stored.insert(kernel.stored.end(), names.begin(), names.end());
  }
  return kernel;
}

Statement statement_of(const MemoryForm& form, reference::Random& random) {
  return memory_statement(form, random, [&](char kind) {
    const unsigned count = kind == 'l' ? kLongs : kind == 'd' ? kDoubles : kWords;
    return std::string("%") + kind + std::to_string(random.below(count));
  });
}

std::set<std::string> read_lines(const char* path) {
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.insert(line);
  }
  return lines;
}

class Check {
 public:
  explicit Check(uint64_t seed) : random_(seed) {}

  void add(const MemoryForm& form) {
    Kernel alone = empty_kernel(0);
    alone.statements = {statement_of(form, random_)};
    if (!refusal(alone).empty()) {
      refused_.push_back(&form);
      return;
    }
    loaded_.insert(form.form);
    ++compared_;
    if (kernels_.empty() || kernels_.back().statements.size() == kFormsPerKernel) {
      if (kernels_.size() == kKernelsPerModule) flush();
      kernels_.push_back(empty_kernel(static_cast<unsigned>(kernels_.size())));
    }
    kernels_.back().statements.push_back(alone.statements[0]);
  }

  void flush() {
    const std::vector<Outcome> outcomes = compare(kernels_);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (outcomes[i].kind != Outcome::Kind::equal) show(kernels_[i], outcomes[i].kind);
    }
    kernels_.clear();
  }

  void write_refused() const {
    std::set<std::string> lines;
    for (const MemoryForm* form : refused_) {
      lines.insert(loaded_.count(form->form) ? form->mnemonic : form->form);
    }
    std::ofstream file(KM_REFUSED_MEMORY_FORMS);
    file << "# Memory forms that the engine does not load; must match exactly.\n"
            "# km_fuzz --memory-forms --write-refused writes it.\n";
    for (const std::string& line : lines) file << line << "\n";
  }

  void compare_refused(const std::vector<const MemoryForm*>& tried) {
    const std::set<std::string> listed = read_lines(KM_REFUSED_MEMORY_FORMS);
    const std::set<const MemoryForm*> refused(refused_.begin(), refused_.end());
    for (const MemoryForm* form : tried) {
      const bool expected = listed.count(form->form) || listed.count(form->mnemonic);
      if (expected == (refused.count(form) != 0)) continue;
      ++failures_;
      std::printf("%s: %s\n", expected ? "listed as refused, but it loads" : "refused, not listed",
                  form->mnemonic.c_str());
    }
  }

  uint64_t report() const {
    std::printf("%llu memory forms compared, %zu refused, %llu failures\n",
                static_cast<unsigned long long>(compared_), refused_.size(),
                static_cast<unsigned long long>(failures_));
    return failures_;
  }

 private:
  void show(const Kernel& kernel, Outcome::Kind kind) {
    ++failures_;
    const auto still_wrong = [&](const Kernel& smaller) {
      return compare_one(smaller).kind == kind;
    };
    const Kernel small = shrink(kernel, still_wrong, kShrinkTries);
    std::printf("%s:\n", compare_one(small).what.c_str());
    for (const Statement& statement : small.statements) {
      for (const std::string& line : statement.before) std::printf("  %s\n", line.c_str());
    }
  }

  reference::Random random_;
  std::vector<Kernel> kernels_;
  std::vector<const MemoryForm*> refused_;
  std::set<std::string> loaded_;
  uint64_t compared_ = 0, failures_ = 0;
};

}  // namespace

uint64_t check_memory_forms(uint64_t every, uint64_t seed, bool write) {
  const std::vector<MemoryForm> all = memory_forms(kMemorySamples, kMemorySeed);
  std::vector<const MemoryForm*> tried;
  Check check(seed);
  for (size_t i = 0; i < all.size(); ++i) {
    if ((i + seed) % every != 0) continue;
    tried.push_back(&all[i]);
    check.add(all[i]);
  }
  check.flush();
  if (write) {
    check.write_refused();
  } else {
    check.compare_refused(tried);
  }
  return check.report();
}

}  // namespace km::fuzz
