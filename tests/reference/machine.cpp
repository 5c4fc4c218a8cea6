#include "reference/machine.h"

#include <cstring>
#include <deque>

#include "reference/block.h"

namespace km::reference {
namespace {

/// Turns of a block before the next one has its own, so that blocks may wait for each other.
constexpr unsigned kTurns = 4;

/// The arguments as the kernel's parameters lie in memory.
Result<std::vector<uint8_t>> lay_out(const Code& code, const std::vector<uint64_t>& arguments) {
  const ptx::Function& function = *code.function;
  if (arguments.size() != function.params.size()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "'%s' takes %zu arguments, not %zu",
                      function.name.c_str(), function.params.size(), arguments.size());
  }
  std::vector<uint8_t> bytes(code.param_bytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ptx::SymbolId id = function.params[i];
    const uint64_t size = std::min<uint64_t>(function.symbols[id].size_bytes, sizeof(uint64_t));
    std::memcpy(&bytes[code.places[id].address - kParamBase], &arguments[i], size);
  }
  return bytes;
}

Status run_blocks(Grid& grid) {
  const auto& size = grid.launch.grid;
  std::deque<std::unique_ptr<Block>> live;
  for (uint32_t z = 0; z < size[2]; ++z) {
    for (uint32_t y = 0; y < size[1]; ++y) {
      for (uint32_t x = 0; x < size[0]; ++x) {
        live.push_back(std::make_unique<Block>(grid, std::array<uint32_t, 3>{x, y, z}));
      }
    }
  }
  size_t idle = 0;  // blocks in a row that could not go on
  while (!live.empty()) {
    std::unique_ptr<Block> block = std::move(live.front());
    live.pop_front();
    bool any = false;
    for (unsigned turn = 0; turn < kTurns && !block->is_done(); ++turn) {
      if (!block->advance()) break;
      any = true;
      if (!block->fault().empty())
        return make_error(KM_ERROR_LAUNCH_FAILED, "%s", block->fault().c_str());
    }
    if (block->is_done()) {
      idle = 0;
      continue;
    }
    live.push_back(std::move(block));
    idle = any ? 0 : idle + 1;
    if (idle == live.size()) return make_error(KM_ERROR_LAUNCH_FAILED, "all threads wait");
  }
  return {};
}

}  // namespace

Machine::Machine(std::shared_ptr<const ptx::Module> module)
    : program_(std::make_unique<Program>(std::move(module))) {}

Machine::~Machine() = default;

uint64_t Machine::map(uint8_t* bytes, uint64_t size_bytes) {
  return program_->map(bytes, size_bytes);
}

std::vector<uint8_t>* Machine::variable(const std::string& name) {
  return program_->variable(name);
}

Status Machine::run(const Launch& launch) {
  const Code* code = program_->entry(launch.kernel);
  if (code == nullptr) {
    return make_error(KM_ERROR_NOT_FOUND, "no kernel '%s'", launch.kernel.c_str());
  }
  KM_ASSIGN(std::vector<uint8_t> params, lay_out(*code, launch.arguments));
  Grid grid{*program_, *code, launch, std::move(params), 0};
  return run_blocks(grid);
}

}  // namespace km::reference
