// The implementation of inline_calls(): bodies are copied into a kernel at each call or, for
// recursive functions, once with jumps to and from the body.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/transform/inline/call_graph.h"
#include "simt/transform/inline/inlining_plan.h"
#include "simt/transform/live_values.h"

namespace km::simt {

/// One body that is being copied, with the mapping of its numbers to those of the copy.
struct Frame {
  const ptx::Function* source = nullptr;
  uint32_t function = ptx::kNone;  // index in the module
  ptx::RegisterId first_register = 0;
  ptx::LabelId first_label = 0;
  uint32_t first_source_line = 0;
  uint32_t first_target_list = 0;
  std::vector<ptx::SymbolId> symbols;
  bool is_call = false;  // false: the kernel itself
  // The call that the body stands for; null: the kernel itself, or a shared body.
  const ptx::Instruction* site = nullptr;
  ptx::LabelId end = ptx::kNone;  // target of `ret` in a call, if it was needed
  // For recursive functions, whose activations have separate .local variables.
  ptx::RegisterId locals = ptx::kNone;  // their address
  uint64_t locals_bytes = 0;
  std::map<ptx::SymbolId, uint64_t> local_offsets;
};

/// A shared body. Its callers store the number of their return site in a register.
struct SharedBody {
  Frame frame;
  ptx::LabelId entry = ptx::kNone;
  ptx::RegisterId site = ptx::kNone;  // register with the index of the return site
  uint32_t sites = ptx::kNone;        // list of the return sites
  // For recursive functions: the values live across each call, and the call that an instruction is.
  std::vector<LiveValues> live;
  std::vector<uint32_t> call_number;
};

class Inliner {
 public:
  /// `kernel` is its number in the graph's module.
  Inliner(const CallGraph& graph, const InliningPlan& plan, uint32_t kernel)
      : module_(graph.module()),
        kernel_(kernel),
        function_(module_.functions[kernel]),
        graph_(graph),
        plan_(plan) {}

  Result<ptx::Function> run();

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;

  /// A call that is being replaced; its operands are already mapped to the copy, and its guard is
  /// removed.
  struct Call {
    const Frame& caller;
    const Instruction& source;
    Instruction copy;
  };
  /// A part of a variable or argument, and its value while it is moved.
  struct Piece {
    uint64_t offset_bytes = 0, size_bytes = 0;
    Operand value;
  };

  /// A register or a part of a variable, and the location of its saved value during a call.
  struct Kept {
    ptx::RegisterId reg = ptx::kNone;
    ptx::SymbolId variable = ptx::kNone;
    uint64_t offset_bytes = 0, size_bytes = 0;
    uint64_t place_bytes = 0;
  };

  // Defined in inline_calls.cpp: bodies and their instructions.
  Error error(const Instruction& at, const std::string& what) const;
  Status check_size(const Instruction& at);
  void enter(Frame& frame);
  Status copy_body(Frame& frame);
  Status copy_instruction(Frame& frame, const Instruction& source, bool is_last);
  void emit(Instruction instruction) { out_.code.push_back(std::move(instruction)); }
  void emit(const std::string& mnemonic, std::initializer_list<Operand> operands,
            const Instruction& like);
  void place(ptx::LabelId label) {
    out_.labels[label].instruction = static_cast<uint32_t>(out_.code.size());
  }
  Operand map(const Frame& frame, const Operand& operand, const Instruction& at);
  Operand map_local(const Frame& frame, const Operand& operand, const Instruction& at);
  Instruction map(const Frame& frame, const Instruction& instruction);
  void map_space(const Frame& frame, Instruction& instruction) const;
  ptx::RegisterId add_register(ptx::Type type);
  ptx::LabelId add_label(const std::string& name);
  ptx::SymbolId add_param(const ptx::Symbol& like);
  std::string unique(const std::string& name) const;

  // Defined in inline_calls.cpp: calls.
  Status expand_call(const Frame& frame, const Instruction& source);
  Status expand_target(const Call& call, uint32_t function);
  Status expand_pointer(const Call& call);
  Status expand_body(const Call& call, uint32_t function);
  Status expand_external(const Call& call, const ptx::Function& callee);

  // Defined in call_arguments.cpp: arguments and results.
  Status check_lists(const Call& call) const;
  Status check_signature(const Call& call, const ptx::Function& callee) const;
  const std::vector<ptx::SymbolId>& variables_of(uint32_t function);
  void bind_variables(Frame& callee);
  Status bind_params(const Call& call, Frame& callee);
  Status bind_param(const Call& call, const Operand& argument, const ptx::Symbol& param,
                    Frame& callee, ptx::SymbolId& out_symbol);
  void bind_results(const Call& call, Frame& callee);
  void take_results(const Call& call, const Frame& callee);
  std::vector<Piece> pieces_of(ptx::SymbolId variable) const;
  std::vector<Piece> read_variable(const Instruction& like, ptx::SymbolId from);
  Result<std::vector<Piece>> read_argument(const Call& call, const Operand& argument,
                                           const ptx::Symbol& param);
  void write_param(const Call& call, const std::vector<Piece>& pieces, const Frame& callee,
                   ptx::SymbolId variable, ptx::RegisterId reg);
  void copy_variable(const Instruction& like, ptx::SymbolId from, ptx::SymbolId to);
  void move_register(const Instruction& like, const Operand& to, const Operand& from);
  void load(const Instruction& like, const Operand& to, ptx::SymbolId from, uint64_t offset_bytes,
            uint64_t size_bytes);
  void store(const Instruction& like, ptx::SymbolId to, uint64_t offset_bytes, const Operand& from,
             uint64_t size_bytes);

  // Defined in shared_bodies.cpp.
  Result<SharedBody*> shared_body(uint32_t function);
  static void number_calls(SharedBody& body);
  void lay_out_locals(Frame& frame);
  Status emit_shared_bodies();
  Status emit_shared_body(SharedBody& body);
  Result<std::vector<std::vector<Piece>>> read_arguments(const Call& call,
                                                         const ptx::Function& callee);
  void write_params(const Call& call, const std::vector<std::vector<Piece>>& arguments,
                    const Frame& callee);
  Status jump_to_body(const Call& call, uint32_t function);
  std::vector<Kept> values_to_keep(const Call& call) const;
  std::vector<Kept> put_aside(const Call& call);
  void take_back(const Instruction& like, const std::vector<Kept>& kept);
  Operand halves();
  void keep(const Instruction& like, const Kept& kept);
  void restore(const Instruction& like, const Kept& kept);

  const ptx::Module& module_;
  const uint32_t kernel_;
  const ptx::Function& function_;
  const CallGraph& graph_;
  const InliningPlan& plan_;
  ptx::Function out_;
  std::vector<uint8_t> is_own_param_;  // by symbol of the kernel
  std::map<uint32_t, std::vector<ptx::SymbolId>> variables_;
  uint32_t copies_ = 0;  // bodies copied so far, which makes names unique
  std::map<uint32_t, SharedBody> bodies_;
  std::vector<uint32_t> pending_;      // shared bodies that are not copied yet
  ptx::RegisterId kept_ = ptx::kNone;  // address of the values that the latest call has saved
};

}  // namespace km::simt
