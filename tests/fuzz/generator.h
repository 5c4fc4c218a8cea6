// Random kernels: well-formed, free of races, with defined results only.
#pragma once

#include <map>

#include "kernel.h"
#include "memory_forms.h"
#include "reference/inputs.h"
#include "reference/variants.h"

namespace km::fuzz {

/// Instructions to choose from, an opcode as likely as another.
class Instructions {
 public:
  /// All but those that the lists of refused ones name.
  explicit Instructions(const std::vector<std::string>& refused_paths);

  const reference::Variant& any(reference::Random& random) const;
  const MemoryForm& any_memory(reference::Random& random) const;
  /// True if the device takes instructions of architectures that others do not include.
  bool has_newer() const { return has_newer_; }

 private:
  bool has_newer_;
  std::vector<reference::Variant> variants_;
  std::vector<std::vector<const reference::Variant*>> by_opcode_;
  std::vector<MemoryForm> memory_;
};

/// The random choices of a generator, which the seed decides: each depends on those before it.
class Draws {
 protected:
  explicit Draws(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t bound) { return random_.below(bound); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class... T>
  std::string one_of(T... texts) {
    const char* const all[] = {texts...};
    return all[below(sizeof...(texts))];
  }

  reference::Random random_;
};

class Generator : private Draws {
 public:
  /// Three of four kernels are of one statement if `mostly_small`, for devices whose drivers take
  /// long to compile.
  Generator(const Instructions& instructions, uint64_t seed, bool mostly_small = false)
      : Draws(seed), instructions_(instructions), mostly_small_(mostly_small) {}

  Kernel kernel(const std::string& name);

 private:
  /// Where a statement stands.
  struct Place {
    bool converged = true;            // all threads of the block that live come here together
    std::string mask = "0xffffffff";  // the lanes of the warp that come here; empty: not known
    unsigned depth = 0;
  };
  using Bodies = std::vector<Statement::Body>;

  std::string reg(char kind);
  std::string guard();
  std::string number();  // a small constant
  void set_by_index(std::vector<std::string>& lines, const std::string& target);
  void set_predicate(std::vector<std::string>& lines, const std::string& target);
  void set_uniform(std::vector<std::string>& lines, const std::string& target, unsigned bound);

  /// How large a kernel is.
  struct Size {
    unsigned most_on_top;  // statements
    unsigned most;         // inner ones included, but for one in each body
    bool stores_all;       // registers, not only those that its statements write
  };
  Size choose_size();
  std::vector<std::string> choose_stored(const Kernel& kernel, const Size& size);

  std::vector<Statement> statements(const Place& place, unsigned most);
  Statement statement(const Place& place);
  Statement simple();
  Statement nested(const Place& place);
  Statement together(const Place& place);

  // simple.cpp
  Statement computation();
  Statement carry_chain();
  Statement load_input();
  void add_place(std::vector<std::string>& lines, unsigned scale);
  Statement element();
  Statement own_element();
  Statement scratch_access();
  Statement local_access();
  Statement packing();
  Statement call();
  Statement reduction();
  Statement mark();
  Statement memory_access();

  // nested.cpp
  std::string own_count();
  void use_count(std::vector<std::string>& lines);
  Statement divergent_if(const Place& place);
  Statement uniform_if(const Place& place);
  Statement uniform_loop(const Place& place);
  Statement divergent_loop(const Place& place);
  Statement strided_loop(const Place& place);
  Statement warp_if(const Place& place);
  Statement leaving_loop(const Place& place);
  Statement breaking_loop(const Place& place);
  Statement searching_loop(const Place& place);
  Statement loops_in_a_row(const Place& place);
  Statement irreducible_loop(const Place& place);
  Statement select(const Place& place);
  Statement early_exit();

  // together.cpp
  Statement exchange();
  Statement transposition();
  Statement tree();
  Statement moving_tile();
  Statement barrier_reduction();
  Statement shared_totals();
  Statement split_barrier(const Place& place);
  Statement warp_operation(const Place& place);
  Statement shuffle(const Place& place);

  // kept.cpp
  /// A word of memory: the space in its instruction, and the operand.
  struct Word {
    std::string space, at;
  };
  Word shared_word(std::vector<std::string>& lines, const std::string& index,
                   const std::string& low, const std::string& wide);
  void set_other(std::vector<std::string>& lines, const std::string& target);
  void set_by_data(std::vector<std::string>& lines, const std::string& target);
  void overwrite_own(std::vector<std::string>& lines);
  Statement kept_choice();
  Statement choice_chain();
  Statement row();
  Statement rounds(const Place& place);

  const Instructions& instructions_;
  const bool mostly_small_;
  bool exits_ = false;         // some threads may exit early
  bool partial_warp_ = false;  // the last warp lacks lanes
  unsigned masks_ = 0;         // registers for masks of lanes so far
  unsigned room_ = 0;          // for statements
};

}  // namespace km::fuzz
