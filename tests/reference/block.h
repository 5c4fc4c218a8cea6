// One block in execution.
#pragma once

#include <string>

#include "reference/machine.h"
#include "reference/thread.h"

namespace km::reference {

/// What a launch's blocks share.
struct Grid {
  const Program& program;
  const Code& code;
  const Launch& launch;
  std::vector<uint8_t> params;
  uint64_t steps = 0;
};

class Block {
 public:
  Block(Grid& grid, std::array<uint32_t, 3> index);

  /// Lets every thread run for a while. False where none could.
  bool advance();
  bool is_done() const { return live_ == 0; }
  const std::string& fault() const { return fault_; }

 private:
  using Bytes = std::vector<uint8_t>;

  // execute.cpp
  bool run_thread(Thread& thread);
  void step(Thread& thread);
  void execute(Thread& thread, const Step& step);
  void compute(Thread& thread, const Step& step);
  void move(Thread& thread, const Step& step);
  bool passes_guard(Thread& thread, const Instruction& in);
  void fail(const Thread& thread, const std::string& what);

  // block.cpp
  Bits read(Thread& thread, const ptx::Operand& operand, Type type);
  Bits read_special(const Thread& thread, const ptx::Operand& operand) const;
  void write(Thread& thread, const ptx::Operand& operand, Type type, Bits value);
  void write_pair(Thread& thread, const ptx::Operand& operand, Type type, Bits value, bool second);
  const ptx::Operand& element(Thread& thread, const ptx::Operand& list, uint32_t index);

  // access.cpp
  uint64_t symbol_address(Thread& thread, const ptx::Operand& operand, bool generic);
  uint64_t address_of(Thread& thread, ptx::Space space, const ptx::Operand& operand);
  uint8_t* find(Thread& thread, uint64_t address, uint64_t size_bytes, uint64_t align_bytes);
  void load(Thread& thread, const Step& step);
  void store(Thread& thread, const Step& step);
  void convert_address(Thread& thread, const Step& step);
  void test_space(Thread& thread, const Step& step);
  void copy_async(Thread& thread, const Step& step);

  // atomic.cpp
  void atomic(Thread& thread, const Step& step);

  // control.cpp
  void call(Thread& thread, const Step& step);
  void enter(Thread& thread, const Code& code, const Instruction* call);
  std::vector<Bytes> argument_bytes(Thread& thread, const Instruction& call,
                                    const ptx::Function& callee);
  void leave(Thread& thread);
  void exit(Thread& thread);
  void branch(Thread& thread, ptx::LabelId label);
  /// Runs an instruction of the family `control`.
  void transfer(Thread& thread, const Step& step);
  void branch_indexed(Thread& thread, const Step& step);
  uint8_t* frame_bytes(Thread& thread, const Frame& frame, ptx::SymbolId symbol);

  // barrier.cpp
  void arrive(Thread& thread, const Step& step);
  void try_complete(uint32_t id);

  // warp.cpp
  void join(Thread& thread, const Step& step);
  void try_warp_operation(Thread& thread);
  bool resolve_stragglers();
  void finish_warp_operation(const std::vector<Thread*>& group);
  void shuffle(const std::vector<Thread*>& group);
  void vote(const std::vector<Thread*>& group);
  void match(const std::vector<Thread*>& group);
  void reduce(const std::vector<Thread*>& group);
  void elect(const std::vector<Thread*>& group);

  Grid& grid_;
  std::array<uint32_t, 3> index_;
  std::vector<Thread> threads_;
  std::vector<uint8_t> shared_;
  uint64_t own_shared_bytes_ = 0, reserved_offset_ = 0;  // nothing lies between the two
  std::array<Barrier, 16> barriers_;
  uint32_t live_ = 0;
  std::string fault_;
};

}  // namespace km::reference
