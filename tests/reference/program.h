// A module made ready to run: operands' types looked up, variables placed, memory mapped.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference/operands.h"

namespace km::reference {

// Where the spaces lie among generic addresses. Shared and local addresses count from 0 within
// their window; every block and every thread sees its own memory there.
inline constexpr uint64_t kGlobalBase = 0x1'0000'0000, kSharedBase = 0x7000'0000'0000,
                          kLocalBase = 0x7100'0000'0000, kParamBase = 0x7200'0000'0000,
                          kFunctionBase = 0x7300'0000'0000, kWindowBytes = 0x1'0000'0000;

/// An instruction with what its operands mean.
struct Step {
  const Instruction* in = nullptr;
  Handler handler = nullptr;  // of a plain computation
  std::array<Type, ptx::kMaxOperands> types{};
};

/// A symbol of a function or module: its address, or its offset in shared memory or in a frame.
struct Place {
  ptx::Space space = ptx::Space::global;
  uint64_t address = 0;
};

struct Code {
  const ptx::Function* function = nullptr;
  std::vector<Step> steps;
  std::vector<Place> places;  // by local symbol
  uint64_t frame_bytes = 0;
  uint64_t param_bytes = 0;  // of an entry
};

class Program {
 public:
  explicit Program(std::shared_ptr<const ptx::Module> module);

  uint64_t map(uint8_t* bytes, uint64_t size_bytes);
  std::vector<uint8_t>* variable(const std::string& name);

  const ptx::Module& module() const { return *module_; }
  const Code* entry(const std::string& name) const;
  /// The code that calls of the function symbol run; null for declarations without a body.
  const Code* callee(const ptx::Symbol& symbol) const;
  const Code* callee_at(uint64_t address) const;

  Place place(const Code& code, const ptx::Operand& operand) const;
  /// The bytes at an address of global, constant memory; null where nothing is mapped.
  uint8_t* find(uint64_t address, uint64_t size_bytes) const;
  uint64_t shared_bytes() const { return shared_bytes_; }

 private:
  struct Region {
    uint8_t* bytes;
    uint64_t size_bytes;
  };

  void place_symbols(const std::vector<ptx::Symbol>& symbols, std::vector<Place>& places,
                     Code* code);
  Place place_symbol(const ptx::Symbol& symbol, Code* code);
  void place_params(Code& code);
  void relocate(const std::vector<ptx::Symbol>& symbols, const std::vector<Place>& places);
  void decode(Code& code);

  std::shared_ptr<const ptx::Module> module_;
  std::vector<Place> places_;  // by module symbol
  std::vector<Code> codes_;    // by function
  std::map<uint64_t, Region> regions_;
  std::map<std::string, std::vector<uint8_t>> variables_;
  uint64_t next_global_ = kGlobalBase, shared_bytes_ = 0;
};

}  // namespace km::reference
