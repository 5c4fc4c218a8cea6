#include "protocol.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "random.h"
#include "text.h"
#include "waits.h"

namespace km::protocols {
namespace {

constexpr unsigned kMostAgents = 96;  // of a chain: each link may take a turn of all threads

std::string number(uint64_t value) { return std::to_string(value); }

/// Threads that take part in a piece, one for one: those of the grid, a block or a warp that are
/// numbered 0 to count - 1 within their group.
struct Agents {
  enum class Kind : unsigned { threads, block_threads, warp_lanes, warps, block_warps, blocks };
  Kind kind = Kind::threads;
  unsigned count = 1;       // of a group
  unsigned groups = 1;      // of the grid
  std::string takes_part;   // a predicate; empty: all threads
  std::string rank, group;  // registers
};

/// Writes one kernel.
class Writer {
 public:
  Writer(Random& random, Protocol& protocol, unsigned kernel)
      : random_(random), protocol_(protocol), kernel_(kernel) {
    begin();
  }

  std::string finish() {
    store_checks();
    return ".visible .entry k" + number(kernel_) + "(.param .u64 memory) {\n" + wait_variables() +
           "  .shared .align 8 .b8 board[" + number(std::max(8u, 8 * shared_words_)) + "];\n" +
           text_.registers() + clear_board() + text_.lines() + "  ret;\n}\n";
  }

  /// One piece after the other, all threads in the same order.
  void pieces(unsigned count) {
    for (unsigned i = 0; i < count; ++i) piece();
  }

  /// This kernel's part of a game of two: see ping_pong().
  void against_other_kernel(uint64_t words, unsigned steps, unsigned first_player) {
    const Word mine = global_word(words), theirs = global_word(words + 2);
    const std::string alone = text_.predicate(), past = text_.label();
    text_.add("or.b32 " + scratch_word_ + ", " + thread_ + ", " + block_ + ";");
    text_.add("setp.ne.u32 " + alone + ", " + scratch_word_ + ", 0;");
    text_.add("@" + alone + " bra " + past + ";");
    for (unsigned step = 1; step <= steps; ++step) {
      const std::string value = constant(step);
      if ((step + first_player + kernel_) % 2 == 0) {
        signal(text_, random_, kernel_ == 0 ? mine : theirs, value);
      } else {
        wait_alone(text_, random_, frame_, kernel_ == 0 ? theirs : mine, value);
        check_one({}, "");
      }
    }
    text_.mark(past);
    for (unsigned step = 1; step <= steps; ++step) {
      if ((step + first_player + kernel_) % 2 != 0) ++expected_of(0, 0);
    }
  }

 private:
  // ---- The frame of the kernel.

  void begin() {
    for (std::string* name :
         {&thread_, &block_, &lane_, &warp_, &global_, &checks_, &scratch_word_}) {
      *name = text_.word();
    }
    memory_ = text_.wide();
    text_.add("ld.param.u64 " + memory_ + ", [memory];");
    text_.add("cvta.to.global.u64 " + memory_ + ", " + memory_ + ";");
    text_.add("mov.u32 " + thread_ + ", %tid.x;");
    text_.add("mov.u32 " + block_ + ", %ctaid.x;");
    text_.add("and.b32 " + lane_ + ", " + thread_ + ", 31;");
    text_.add("shr.u32 " + warp_ + ", " + thread_ + ", 5;");
    text_.add("mad.lo.u32 " + global_ + ", " + block_ + ", " + number(threads()) + ", " + thread_ +
              ";");
    text_.add("mov.u32 " + checks_ + ", 0;");
    checks_at_ = take_words(uint64_t{threads()} * blocks());
    std::fill_n(protocol_.expected.begin() + static_cast<ptrdiff_t>(checks_at_),
                threads() * blocks(), 0);
    frame_.lane = lane_;
    frame_.thread = thread_;
    frame_.warp = warp_;
    frame_.threads = threads();
    frame_.scratch = address_of(global_, take_words(2 * threads() * blocks()), 8);
    frame_.block_scratch = address_of(block_, take_words(2 * blocks()), 8);
  }

  std::string clear_board() const {
    if (shared_words_ == 0) return "";
    std::string text = "  .reg .b32 %at, %end;\n  .reg .pred %more;\n";
    text += "  mov.u32 %at, %tid.x;\n  shl.b32 %at, %at, 3;\n  mov.u32 %end, board;\n";
    text += "  add.u32 %at, %at, %end;\n  add.u32 %end, %end, " + number(8 * shared_words_) + ";\n";
    text += "CLEAR:\n  setp.ge.u32 %more, %at, %end;\n  @%more bra CLEARED;\n";
    text += "  st.shared.u64 [%at], 0;\n  add.u32 %at, %at, " + number(8 * threads()) + ";\n";
    return text + "  bra CLEAR;\nCLEARED:\n  bar.sync 0;\n";
  }

  void store_checks() {
    const std::string at = address_of(global_, checks_at_, 4);
    text_.add("st.global.u32 [" + at + "], " + checks_ + ";");
  }

  unsigned threads() const { return protocol_.threads; }
  unsigned blocks() const { return protocol_.blocks; }
  unsigned warps() const { return (threads() + 31) / 32; }

  uint64_t take_words(uint64_t count) {
    const uint64_t first = protocol_.words;
    protocol_.words += (count + 1) / 2 * 2;
    protocol_.expected.resize(protocol_.words, kAny);
    return first;
  }

  std::string constant(uint64_t value) {
    const std::string result = text_.word();
    text_.add("mov.u32 " + result + ", " + number(value) + ";");
    return result;
  }

  /// The address of global word `first` plus `index` (a register) times `stride_bytes`.
  std::string address_of(const std::string& index, uint64_t first, unsigned stride_bytes) {
    const std::string result = text_.wide();
    text_.add("mad.wide.u32 " + result + ", " + index + ", " + number(stride_bytes) + ", " +
              memory_ + ";");
    text_.add("add.u64 " + result + ", " + result + ", " + number(4 * first) + ";");
    return result;
  }

  Word global_word(uint64_t first) { return {address_of(constant(0), first, 4), false}; }

  /// Word `index` (a register) of 8 bytes each, of a list that starts at `first`.
  Word word_of(const std::string& index, uint64_t first, bool is_shared) {
    if (!is_shared) return {address_of(index, first, 8), false};
    const std::string at = text_.word();
    text_.add("mov.u32 " + at + ", board;");
    text_.add("mad.lo.u32 " + at + ", " + index + ", 8, " + at + ";");
    text_.add("add.u32 " + at + ", " + at + ", " + number(8 * first) + ";");
    return {at, true};
  }

  int64_t& expected_of(unsigned block, unsigned thread) {
    return protocol_.expected[checks_at_ + block * threads() + thread];
  }

  /// One more check in each of the agents' threads.
  void expect_of(const Agents& agents, unsigned count) {
    for (unsigned b = 0; b < blocks(); ++b) {
      for (unsigned t = 0; t < threads(); ++t) {
        if (has(agents, t)) expected_of(b, t) += count;
      }
    }
  }

  bool has(const Agents& agents, unsigned thread) const {
    switch (agents.kind) {
      case Agents::Kind::warps:
      case Agents::Kind::block_warps:
        return thread % 32 == 0;
      case Agents::Kind::blocks:
        return thread == chosen_thread_;
      default:
        return true;
    }
  }

  /// Counts a check; of what a word holds against a register, where there is one.
  void check_one(const Word& word, const std::string& wanted) {
    if (wanted.empty()) return text_.add("add.u32 " + checks_ + ", " + checks_ + ", 1;");
    const std::string found = text_.word(), p = text_.predicate();
    text_.add(std::string("ld") + (word.is_shared ? ".shared" : ".global") + ".u32 " + found +
              ", [" + word.address + "];");
    text_.add("setp.eq.u32 " + p + ", " + found + ", " + wanted + ";");
    text_.add("@" + p + " add.u32 " + checks_ + ", " + checks_ + ", 1;");
  }

  // ---- Who takes part.

  Agents pick_agents(unsigned most) {
    for (;;) {
      Agents agents = agents_of(static_cast<Agents::Kind>(random_.below(6)));
      if (agents.count <= most) return agents;
    }
  }

  Agents agents_of(Agents::Kind kind) {
    using Kind = Agents::Kind;
    Agents agents;
    agents.kind = kind;
    const std::string zero = constant(0);
    switch (kind) {
      case Kind::threads:
        agents.count = threads() * blocks();
        agents.rank = global_;
        agents.group = zero;
        return agents;
      case Kind::block_threads:
        agents.count = threads();
        agents.groups = blocks();
        agents.rank = thread_;
        agents.group = block_;
        return agents;
      case Kind::warp_lanes:
        if (threads() % 32 != 0) return agents_of(Kind::block_threads);
        agents.count = 32;
        agents.groups = blocks() * warps();
        agents.rank = lane_;
        agents.group = global_warp();
        return agents;
      case Kind::warps:
        agents.count = blocks() * warps();
        agents.rank = global_warp();
        agents.group = zero;
        agents.takes_part = is(lane_, 0);
        return agents;
      case Kind::block_warps:
        agents.count = warps();
        agents.groups = blocks();
        agents.rank = warp_;
        agents.group = block_;
        agents.takes_part = is(lane_, 0);
        return agents;
      case Kind::blocks:
        agents.count = blocks();
        agents.rank = block_;
        agents.group = zero;
        chosen_thread_ = random_.below(threads());
        agents.takes_part = is(thread_, chosen_thread_);
        return agents;
    }
    return agents;
  }

  std::string global_warp() {
    const std::string result = text_.word();
    text_.add("mad.lo.u32 " + result + ", " + block_ + ", " + number(warps()) + ", " + warp_ + ";");
    return result;
  }

  std::string is(const std::string& word, unsigned value) {
    const std::string p = text_.predicate();
    text_.add("setp.eq.u32 " + p + ", " + word + ", " + number(value) + ";");
    return p;
  }

  bool may_share(const Agents& agents) const {
    return agents.kind == Agents::Kind::block_threads || agents.kind == Agents::Kind::block_warps ||
           agents.kind == Agents::Kind::warp_lanes;
  }

  /// A list of `count` words for each group of agents; in shared memory, of the block's groups.
  struct List {
    uint64_t first = 0;
    bool is_shared = false;
    unsigned count = 0;
    std::string group;  // a register: which of the lists
  };

  List make_list(const Agents& agents, unsigned count) {
    List list;
    list.count = count;
    list.is_shared = may_share(agents) && random_.one_in(2);
    list.group = agents.group;
    if (!list.is_shared) {
      list.first = take_words(2 * uint64_t{count} * agents.groups);
      return list;
    }
    list.first = shared_words_;
    const bool per_warp = agents.kind == Agents::Kind::warp_lanes;
    list.group = per_warp ? warp_ : constant(0);
    shared_words_ += count * (per_warp ? warps() : 1);
    return list;
  }

  Word entry(const List& list, const std::string& index) {
    const std::string place = text_.word();
    text_.add("mad.lo.u32 " + place + ", " + list.group + ", " + number(list.count) + ", " + index +
              ";");
    return word_of(place, list.first, list.is_shared);
  }

  // ---- Pieces.

  void piece() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return chain();
      case 2:
        return spin_lock();
      case 3:
        return ticket_lock();
      case 4:
        return barrier();
      case 5:
        return all_set_all_wait();
      case 6:
        return work_queue();
      case 7:
        return ping_pong();
      case 8:
        return warps_wait_together();
      default:
        return blocks_wait_together();
    }
  }

  /// Jumps past what `body` writes unless the thread takes part; and writes it `rounds` times in a
  /// loop, with the number of the round, from 1, in a register.
  template <typename Body>
  void for_agents(const Agents& agents, unsigned rounds, Body body) {
    const std::string past = text_.label();
    if (!agents.takes_part.empty()) text_.add("@!" + agents.takes_part + " bra " + past + ";");
    if (rounds == 1) {
      body(constant(1));
    } else {
      const std::string round = constant(1), top = text_.label(), p = text_.predicate();
      text_.mark(top);
      body(round);
      text_.add("add.u32 " + round + ", " + round + ", 1;");
      text_.add("setp.le.u32 " + p + ", " + round + ", " + number(rounds) + ";");
      text_.add("@" + p + " bra " + top + ";");
    }
    text_.mark(past);
  }

  /// Each waits for the one before, in some order of all; the first does not wait.
  void chain() {
    const Agents agents = pick_agents(kMostAgents);
    const List flags = make_list(agents, agents.count), values = make_list(agents, agents.count);
    const unsigned n = agents.count, step = step_of_order(n);
    const unsigned rounds = random_.between(1, 2);
    for_agents(agents, rounds, [&](const std::string& round) {
      const std::string before = text_.word(), first = is(agents.rank, 0), go = text_.label();
      text_.add("add.u32 " + before + ", " + agents.rank + ", " + number(n - step) + ";");
      text_.add("rem.u32 " + before + ", " + before + ", " + number(n) + ";");
      text_.add("@" + first + " bra " + go + ";");
      const Word flag = entry(flags, before), value = entry(values, before);
      wait_alone(text_, random_, frame_, flag, round);
      check_one(value, sum_of(round, before));
      text_.mark(go);
      const Word mine = entry(values, agents.rank);
      text_.add(std::string("st") + (mine.is_shared ? ".shared" : ".global") + ".u32 [" +
                mine.address + "], " + sum_of(round, agents.rank) + ";");
      signal(text_, random_, entry(flags, agents.rank), round);
      if (rounds > 1) wait_for_last(agents, flags, round, n - step);
    });
    expect_of(agents, rounds);
    // Whoever is first in its group has checked nothing.
    for (unsigned b = 0; b < blocks(); ++b) {
      for (unsigned t = 0; t < threads(); ++t) {
        if (has(agents, t) && rank_of(agents, b, t) == 0) expected_of(b, t) -= rounds;
      }
    }
  }

  /// No one begins the next round, and overwrites a value, before the last has seen this one's.
  void wait_for_last(const Agents&, const List& flags, const std::string& round, unsigned last) {
    wait_alone(text_, random_, frame_, entry(flags, constant(last)), round);
  }

  /// A distance that leads from 0 to all numbers below `n`, one after the other.
  unsigned step_of_order(unsigned n) {
    if (n <= 2) return 1;
    for (;;) {
      const unsigned step = random_.one_in(3)   ? 1
                            : random_.one_in(2) ? n - 1
                                                : random_.between(1, n - 1);
      if (std::gcd(step, n) == 1) return step;
    }
  }

  std::string sum_of(const std::string& a, const std::string& b) {
    const std::string result = text_.word();
    text_.add("mad.lo.u32 " + result + ", " + a + ", 1000, " + b + ";");
    return result;
  }

  unsigned rank_of(const Agents& agents, unsigned block, unsigned thread) const {
    switch (agents.kind) {
      case Agents::Kind::threads:
        return block * threads() + thread;
      case Agents::Kind::block_threads:
        return thread;
      case Agents::Kind::warp_lanes:
        return thread % 32;
      case Agents::Kind::warps:
        return block * warps() + thread / 32;
      case Agents::Kind::block_warps:
        return thread / 32;
      case Agents::Kind::blocks:
        return block;
    }
    return 0;
  }

  void add_one(const Word& word) {
    const std::string value = text_.word(), space = word.is_shared ? ".shared" : ".global";
    text_.add("ld.volatile" + space + ".u32 " + value + ", [" + word.address + "];");
    text_.add("add.u32 " + value + ", " + value + ", 1;");
    text_.add("st.volatile" + space + ".u32 [" + word.address + "], " + value + ";");
  }

  /// After all have been in: the counter under the lock has every addition.
  void check_counter(const Agents& agents, const Word& arrived, const Word& counter,
                     unsigned total) {
    const std::string n = constant(agents.count), space = arrived.is_shared ? ".shared" : ".global";
    fence(text_, random_);
    text_.add("red" + space + ".add.u32 [" + arrived.address + "], 1;");
    wait_alone(text_, random_, frame_, arrived, n);
    check_one(counter, constant(total));
  }

  void spin_lock() {
    const Agents agents = pick_agents(kMostAgents);
    const List list = make_list(agents, 3);
    const unsigned rounds = random_.between(1, 3);
    const Word lock = entry(list, constant(0)), counter = entry(list, constant(1));
    for_agents(agents, rounds, [&](const std::string&) { locked_addition(lock, counter); });
    for_agents(agents, 1, [&](const std::string&) {
      check_counter(agents, entry(list, constant(2)), counter, rounds * agents.count);
    });
    expect_of(agents, 1);
  }

  void locked_addition(const Word& lock, const Word& counter) {
    const std::string space = lock.is_shared ? ".shared" : ".global";
    const std::string was = text_.word(), p = text_.predicate(), top = text_.label();
    const std::string at = "[" + lock.address + "]";
    const std::vector<std::string> tries = {
        "atom" + space + ".cas.b32 " + was + ", " + at + ", 0, 1;",
        "atom" + space + ".exch.b32 " + was + ", " + at + ", 1;",
        "atom.acquire.gpu" + space + ".cas.b32 " + was + ", " + at + ", 0, 1;",
        "atom" + space + ".or.b32 " + was + ", " + at + ", 1;"};
    const std::string try_it = random_.pick(tries);
    const std::string release = random_.one_in(2)
                                    ? "atom" + space + ".exch.b32 " + was + ", " + at + ", 0;"
                                    : "st.volatile" + space + ".u32 " + at + ", 0;";
    if (random_.one_in(2)) {  // the section behind the loop
      text_.mark(top);
      text_.add(try_it);
      text_.add("setp.ne.u32 " + p + ", " + was + ", 0;");
      text_.add("@" + p + " bra " + top + ";");
      fence(text_, random_);
      add_one(counter);
      fence(text_, random_);
      text_.add(release);
      return;
    }
    const std::string done = constant(0), past = text_.label();  // the section in the loop
    text_.mark(top);
    text_.add(try_it);
    text_.add("setp.ne.u32 " + p + ", " + was + ", 0;");
    text_.add("@" + p + " bra " + past + ";");
    fence(text_, random_);
    add_one(counter);
    fence(text_, random_);
    text_.add("mov.u32 " + done + ", 1;");
    text_.add(release);
    text_.mark(past);
    text_.add("setp.eq.u32 " + p + ", " + done + ", 0;");
    text_.add("@" + p + " bra " + top + ";");
  }

  void ticket_lock() {
    const Agents agents = pick_agents(kMostAgents);
    const List list = make_list(agents, 4);
    const unsigned rounds = random_.between(1, 2);
    const Word tickets = entry(list, constant(0)), serving = entry(list, constant(1));
    const Word counter = entry(list, constant(2));
    const std::string space = tickets.is_shared ? ".shared" : ".global";
    for_agents(agents, rounds, [&](const std::string&) {
      const std::string mine = text_.word(), next = text_.word();
      text_.add("atom" + space + ".add.u32 " + mine + ", [" + tickets.address + "], 1;");
      wait_alone(text_, random_, frame_, serving, mine);
      add_one(counter);
      text_.add("add.u32 " + next + ", " + mine + ", 1;");
      signal(text_, random_, serving, next);
    });
    for_agents(agents, 1, [&](const std::string&) {
      check_counter(agents, entry(list, constant(3)), counter, rounds * agents.count);
    });
    expect_of(agents, 1);
  }

  void barrier() {
    const Agents agents = pick_agents(2 * kMostAgents);
    const List list = make_list(agents, 1);
    const Word arrived = entry(list, constant(0));
    const std::string space = arrived.is_shared ? ".shared" : ".global";
    const unsigned rounds = random_.between(1, 3);
    for_agents(agents, rounds, [&](const std::string& round) {
      const std::string goal = text_.word(), before = text_.word();
      text_.add("mul.lo.u32 " + goal + ", " + round + ", " + number(agents.count) + ";");
      fence(text_, random_);
      text_.add(random_.one_in(2)
                    ? "red" + space + ".add.u32 [" + arrived.address + "], 1;"
                    : "atom" + space + ".add.u32 " + before + ", [" + arrived.address + "], 1;");
      wait_alone(text_, random_, frame_, arrived, goal);
      check_one({}, "");
    });
    expect_of(agents, rounds);
  }

  void all_set_all_wait() {
    const Agents agents = pick_agents(2 * kMostAgents);
    const List flags = make_list(agents, agents.count);
    const unsigned rounds = random_.between(1, 3), step = random_.below(agents.count);
    for_agents(agents, rounds, [&](const std::string& round) {
      const std::string other = text_.word();
      signal(text_, random_, entry(flags, agents.rank), round);
      text_.add("add.u32 " + other + ", " + agents.rank + ", " + number(step) + ";");
      text_.add("rem.u32 " + other + ", " + other + ", " + number(agents.count) + ";");
      wait_alone(text_, random_, frame_, entry(flags, other), round);
      check_one({}, "");
    });
    expect_of(agents, rounds);
  }

  /// Tickets are taken until there are none; each needs the one before to be done.
  void work_queue() {
    const Agents agents = pick_agents(kMostAgents);
    const unsigned items = random_.between(1, 40);
    const List queue = make_list(agents, 2), done = make_list(agents, items + 1);
    const Word next = entry(queue, constant(0)), arrived = entry(queue, constant(1));
    const std::string space = next.is_shared ? ".shared" : ".global";
    for_agents(agents, 1, [&](const std::string& one) {
      const std::string top = text_.label(), out = text_.label(), item = text_.word();
      const std::string p = text_.predicate(), past = text_.label(), before = text_.word();
      text_.mark(top);
      text_.add("atom" + space + ".add.u32 " + item + ", [" + next.address + "], 1;");
      text_.add("setp.ge.u32 " + p + ", " + item + ", " + number(items) + ";");
      text_.add("@" + p + " bra " + out + ";");
      text_.add("setp.eq.u32 " + p + ", " + item + ", 0;");
      text_.add("@" + p + " bra " + past + ";");
      text_.add("sub.u32 " + before + ", " + item + ", 1;");
      wait_alone(text_, random_, frame_, entry(done, before), one);
      text_.mark(past);
      signal(text_, random_, entry(done, item), one);
      text_.add("bra " + top + ";");
      text_.mark(out);
      wait_alone(text_, random_, frame_, entry(done, constant(items - 1)), one);
      check_one({}, "");
      text_.add("red" + space + ".add.u32 [" + arrived.address + "], 1;");
    });
    expect_of(agents, 1);
  }

  /// Two halves of the threads, each thread with one of the other half, take turns.
  void ping_pong() {
    const unsigned steps = random_.between(2, 6);
    std::string side = text_.predicate(), pair = text_.word();
    const unsigned pairing = random_.below(threads() >= 64 ? 4 : threads() >= 2 ? 3 : 1);
    write_side(pairing, side, pair);
    const uint64_t words = take_words(4 * uint64_t{threads()} * (blocks() + 1));
    const Word mine = word_of(pair, words, false);
    const Word theirs = word_of(pair, words + 2 * uint64_t{threads()} * (blocks() + 1), false);
    const std::string other = text_.label(), meet = text_.label();
    text_.add("@!" + has_other(pairing) + " bra " + meet + ";");
    text_.add("@" + side + " bra " + other + ";");
    half(steps, 0, mine, theirs);
    text_.add("bra " + meet + ";");
    text_.mark(other);
    half(steps, 1, mine, theirs);
    text_.mark(meet);
    for (unsigned b = 0; b < blocks(); ++b) {
      for (unsigned t = 0; t < threads(); ++t) {
        const int s = side_of(pairing, b, t);
        if (s < 0) continue;
        for (unsigned step = 1; step <= steps; ++step) {
          if ((step + static_cast<unsigned>(s)) % 2 == 0) ++expected_of(b, t);  // it waits
        }
      }
    }
  }

  /// Whose turn: odd steps are the first half's to signal, even ones the second's.
  void half(unsigned steps, unsigned side, const Word& first, const Word& second) {
    for (unsigned step = 1; step <= steps; ++step) {
      const std::string value = constant(step);
      const bool signals = (step + side) % 2 == 1;
      const Word& word = step % 2 == 1 ? first : second;
      if (signals) {
        signal(text_, random_, word, value);
      } else {
        wait_alone(text_, random_, frame_, word, value);
        check_one({}, "");
      }
    }
  }

  /// 0: blocks, 1: neighbouring lanes, 2: halves of the threads, 3: neighbouring warps. -1: the
  /// thread has no other.
  int side_of(unsigned pairing, unsigned block, unsigned thread) const {
    switch (pairing) {
      case 0:
        return block == blocks() - 1 && block % 2 == 0 ? -1 : static_cast<int>(block % 2);
      case 1:
        return thread == threads() - 1 && thread % 2 == 0 ? -1 : static_cast<int>(thread % 2);
      case 2:
        return thread >= threads() / 2 * 2 ? -1 : static_cast<int>(thread / (threads() / 2));
      default:
        return thread / 64 >= threads() / 64 ? -1 : static_cast<int>(thread / 32 % 2);
    }
  }

  /// A predicate: the thread has another.
  std::string has_other(unsigned pairing) {
    const std::string p = text_.predicate();
    const unsigned blocks_in_pairs = blocks() / 2 * 2;
    const unsigned threads_in_pairs = pairing == 3 ? threads() / 64 * 64 : threads() / 2 * 2;
    text_.add("setp.lt.u32 " + p + ", " + (pairing == 0 ? block_ : thread_) + ", " +
              number(pairing == 0 ? blocks_in_pairs : threads_in_pairs) + ";");
    return p;
  }

  void write_side(unsigned pairing, const std::string& side, const std::string& pair) {
    const std::string bit = text_.word();
    switch (pairing) {
      case 0:
        text_.add("and.b32 " + bit + ", " + block_ + ", 1;");
        text_.add("shr.u32 " + pair + ", " + block_ + ", 1;");
        text_.add("mad.lo.u32 " + pair + ", " + pair + ", " + number(threads()) + ", " + thread_ +
                  ";");
        break;
      case 1:
        text_.add("and.b32 " + bit + ", " + thread_ + ", 1;");
        text_.add("shr.u32 " + pair + ", " + thread_ + ", 1;");
        break;
      case 2:
        text_.add("setp.ge.u32 " + side + ", " + thread_ + ", " + number(threads() / 2) + ";");
        text_.add("selp.u32 " + bit + ", 1, 0, " + side + ";");
        text_.add("mul.lo.u32 " + pair + ", " + bit + ", " + number(threads() / 2) + ";");
        text_.add("sub.u32 " + pair + ", " + thread_ + ", " + pair + ";");
        break;
      default:
        text_.add("and.b32 " + bit + ", " + warp_ + ", 1;");
        text_.add("shr.u32 " + pair + ", " + warp_ + ", 1;");
        text_.add("mad.lo.u32 " + pair + ", " + pair + ", 32, " + lane_ + ";");
    }
    if (pairing != 0) {
      text_.add("mad.lo.u32 " + pair + ", " + block_ + ", " + number(threads()) + ", " + pair +
                ";");
    }
    text_.add("setp.ne.u32 " + side + ", " + bit + ", 0;");
  }

  void warps_wait_together() {
    if (threads() % 32 != 0) return barrier();
    const Agents agents =
        agents_of(random_.one_in(2) ? Agents::Kind::warps : Agents::Kind::block_warps);
    wait_together(agents, [&](const Word& word, const std::string& goal) {
      wait_as_warp(text_, random_, frame_, word, goal);
    });
  }

  void blocks_wait_together() {
    const Agents agents = agents_of(Agents::Kind::blocks);
    wait_together(agents, [&](const Word& word, const std::string& goal) {
      wait_as_block(text_, random_, frame_, word, goal);
    });
  }

  /// One thread of each warp or block counts it, then all its threads wait for all.
  template <typename WaitForIt>
  void wait_together(const Agents& agents, WaitForIt wait) {
    const List list = make_list(agents, 1);
    const Word arrived = entry(list, constant(0));
    const std::string space = arrived.is_shared ? ".shared" : ".global";
    const unsigned rounds = random_.between(1, 3);
    Agents all = agents;
    all.kind = Agents::Kind::threads;
    all.takes_part = "";
    for_agents(all, rounds, [&](const std::string& round) {
      const std::string goal = text_.word(), past = text_.label();
      text_.add("mul.lo.u32 " + goal + ", " + round + ", " + number(agents.count) + ";");
      fence(text_, random_);
      text_.add("@!" + agents.takes_part + " bra " + past + ";");
      text_.add("red" + space + ".add.u32 [" + arrived.address + "], 1;");
      text_.mark(past);
      wait(arrived, goal);
      check_one({}, "");
    });
    expect_of(all, rounds);
  }

  Random& random_;
  Protocol& protocol_;
  const unsigned kernel_;
  Text text_;
  Frame frame_;
  std::string thread_, block_, lane_, warp_, global_, checks_, scratch_word_, memory_;
  uint64_t checks_at_ = 0;
  unsigned shared_words_ = 0, chosen_thread_ = 0;
};

}  // namespace

Protocol make_protocol(uint64_t seed) {
  Random random(seed);
  Protocol protocol;
  const std::vector<unsigned> sizes = {1, 2, 5, 31, 32, 32, 33, 64, 64, 96, 128};
  protocol.threads = random.pick(sizes);
  protocol.blocks = random.one_in(3) ? 1 : random.between(2, random.one_in(4) ? 40 : 6);
  std::string kernels;
  if (random.one_in(8)) {
    protocol.kernels = 2;
    const uint64_t words = 0;
    protocol.words = 4;
    protocol.expected.resize(4, kAny);
    const unsigned steps = random.between(2, 8), first = random.below(2);
    for (unsigned k = 0; k < 2; ++k) {
      Writer writer(random, protocol, k);
      writer.pieces(random.below(2));
      writer.against_other_kernel(words, steps, first);
      writer.pieces(random.below(2));
      kernels += writer.finish();
    }
  } else {
    Writer writer(random, protocol, 0);
    writer.pieces(random.between(1, 3));
    kernels = writer.finish();
  }
  protocol.ptx = ".version 8.3\n.target sm_80\n.address_size 64\n" + wait_functions() + kernels;
  return protocol;
}

}  // namespace km::protocols
