#include "waits.h"

namespace km::protocols {
namespace {

std::string space_of(const Word& word) { return word.is_shared ? ".shared" : ".global"; }

/// A generic address of the word.
std::string generic(Text& text, const Word& word) {
  const std::string result = text.wide();
  if (word.is_shared) {
    const std::string wide = text.wide();
    text.add("cvt.u64.u32 " + wide + ", " + word.address + ";");
    text.add("cvta.shared.u64 " + result + ", " + wide + ";");
  } else {
    text.add("cvta.global.u64 " + result + ", " + word.address + ";");
  }
  return result;
}

/// One way to load the word, chosen in front of the loop.
class Poll {
 public:
  Poll(Text& text, Random& random, const Word& word) : is_shared_(word.is_shared) {
    const bool is_generic = random.one_in(4);
    address_ = is_generic ? generic(text, word) : word.address;
    space_ = is_generic ? "" : space_of(word);
    scope_ = is_shared_ && random.one_in(2) ? ".cta" : random.one_in(4) ? ".sys" : ".gpu";
    static const std::vector<std::string> kAny = {
        "ld.volatile~.u32 R, [A];",
        "ld.volatile~.u32 R, [A];",
        "ld.relaxed$~.u32 R, [A];",
        "ld.acquire$~.u32 R, [A];",
        "membar.gl; ld~.u32 R, [A]; // weak",
        "fence.acq_rel$; ld~.u32 R, [A]; // weak",
        "fence.sc$; ld~.u32 R, [A]; // weak",
        "atom~.add.u32 R, [A], 0;",
        "atom~.or.b32 R, [A], 0;",
        "atom~.cas.b32 R, [A], 77777, 77777;",
        "atom~.max.u32 R, [A], 0;",
        "atom.relaxed$~.and.b32 R, [A], 0xffffffff;",
        "atom.acquire$~.min.u32 R, [A], 0xffffffff;",
    };
    static const std::vector<std::string> kGlobal = {
        "ld~.cv.u32 R, [A]; // weak",           "ld~.cg.u32 R, [A]; // weak",
        "ld.mmio.relaxed.sys~.u32 R, [A];",     "call (R), poll, (A);",
        "ld.volatile~.v2.u32 {R, %none}, [A];",
    };
    form_ =
        !is_shared_ && !is_generic && random.one_in(3) ? random.pick(kGlobal) : random.pick(kAny);
  }

  /// Loads the word into `result`.
  void load(Text& text, const std::string& result) const {
    std::string line;
    for (char c : form_) {
      switch (c) {
        case '~':
          line += space_;
          break;
        case '$':
          line += scope_;
          break;
        case 'R':
          line += result;
          break;
        case 'A':
          line += address_;
          break;
        default:
          line += c;
      }
    }
    text.add(line);
  }

 private:
  std::string address_, space_, scope_, form_;
  bool is_shared_ = false;
};

/// "The word has not come yet", by some comparison of what was loaded with the value.
std::string is_early(Text& text, Random& random, const std::string& loaded,
                     const std::string& value) {
  const std::string p = text.predicate();
  switch (random.below(4)) {
    case 0: {
      const std::string left = text.word();
      text.add("sub.s32 " + left + ", " + value + ", " + loaded + ";");
      text.add("setp.gt.s32 " + p + ", " + left + ", 0;");
      break;
    }
    case 1: {
      const std::string a = text.wide(), b = text.wide();
      text.add("cvt.u64.u32 " + a + ", " + loaded + ";");
      text.add("cvt.u64.u32 " + b + ", " + value + ";");
      text.add("setp.gt.u64 " + p + ", " + b + ", " + a + ";");
      break;
    }
    default:
      text.add("setp.lt.u32 " + p + ", " + loaded + ", " + value + ";");
  }
  return p;
}

/// One wait while it is written.
class Wait {
 public:
  Wait(Text& text, Random& random, const Frame& frame, const Word& word, const std::string& value)
      : text_(text),
        random_(random),
        frame_(frame),
        word_(word),
        value_(value),
        poll_(text, random, word) {}

  void alone() {
    switch (random_.below(11)) {
      case 0:
        return at_top();
      case 1:
        return by_flag();
      case 2:
        return by_own_memory();
      case 3:
        return bounded();
      case 4:
        return in_two_loops();
      case 5:
        return by_maximum();
      case 6:
        return by_own_flag();
      case 7:
        return by_function();
      default:
        return at_bottom();
    }
  }

  void as_warp() {
    switch (random_.below(5)) {
      case 0:
        return by_shuffle();
      case 1:
        return by_vote();
      case 2:
        return by_slot("bar.warp.sync 0xffffffff;", "slots", frame_.warp);
      case 3:
        return by_reduction_of_warp();
      default:
        return alone();
    }
  }

  void as_block() {
    switch (random_.below(7)) {
      case 0:
        return by_barrier_reduction();
      case 1:
        return by_slot(barrier(), "slots", "");
      case 2:
        return by_done_flag_of_block();
      case 3:
        return by_block_scratch();
      case 4:
        return one_thread_then_barrier();
      case 5:
        return kept_by_one_thread();
      default:
        return alone();
    }
  }

 private:
  std::string loaded() {
    const std::string result = text_.word();
    poll_.load(text_, result);
    return result;
  }
  std::string early() { return is_early(text_, random_, loaded(), value_); }
  void loop_while(const std::string& predicate, const std::string& top) {
    text_.add("@" + predicate + " bra " + top + ";");
  }
  std::string start_loop() {
    const std::string top = text_.label();
    text_.mark(top);
    return top;
  }
  std::string barrier() {
    if (random_.one_in(3))
      return "bar.sync 1, " + std::to_string((frame_.threads + 31) / 32 * 32) + ";";
    return random_.one_in(3) ? "barrier.sync.aligned 0;" : "bar.sync 0;";
  }
  std::string is_thread(unsigned which) {
    const std::string p = text_.predicate();
    text_.add("setp.eq.u32 " + p + ", " + frame_.thread + ", " + std::to_string(which) + ";");
    return p;
  }

  // ---- By one thread.

  void at_bottom() {
    const std::string top = start_loop();
    if (random_.one_in(6)) text_.add("nanosleep.u32 20;");
    loop_while(early(), top);
  }

  void at_top() {
    const std::string done = text_.label(), top = start_loop();
    text_.add("@!" + early() + " bra " + done + ";");
    text_.add("bra " + top + ";");
    text_.mark(done);
  }

  /// A flag that a branch, a guard or a select sets when the word has come.
  void by_flag() {
    const std::string done = text_.word(), p = text_.predicate();
    text_.add("mov.u32 " + done + ", 0;");
    const std::string top = start_loop(), e = early();
    switch (random_.below(3)) {
      case 0: {
        const std::string past = text_.label();
        text_.add("@" + e + " bra " + past + ";");
        text_.add("mov.u32 " + done + ", 1;");
        text_.mark(past);
        break;
      }
      case 1:
        text_.add("@!" + e + " mov.u32 " + done + ", 1;");
        break;
      default:
        text_.add("selp.u32 " + done + ", " + done + ", 1, " + e + ";");
    }
    text_.add("setp.eq.u32 " + p + ", " + done + ", 0;");
    loop_while(p, top);
  }

  /// What was loaded passes through memory of the thread's own.
  void by_own_memory() {
    const bool is_local = random_.one_in(2);
    const std::string at = is_local
                               ? ".local.u32 X[own+" + std::to_string(4 * random_.below(4)) + "]"
                               : ".global.u32 X[" + frame_.scratch + "]";
    const std::string top = start_loop(), value = loaded(), again = text_.word();
    text_.add("st" + replaced(at, "X", "") + ", " + value + ";");
    text_.add("ld" + replaced(at, "X", again + ", ") + ";");
    loop_while(is_early(text_, random_, again, value_), top);
  }

  /// A flag in memory of the thread's own, set under the word's condition.
  void by_own_flag() {
    const bool is_local = random_.one_in(2);
    const std::string at = is_local ? ".local.u32 X[own]" : ".global.u32 X[" + frame_.scratch + "]";
    const std::string flag = text_.word(), p = text_.predicate(), past = text_.label();
    text_.add("st" + replaced(at, "X", "") + ", 0;");
    const std::string top = start_loop();
    text_.add("@" + early() + " bra " + past + ";");
    text_.add("st" + replaced(at, "X", "") + ", 1;");
    text_.mark(past);
    text_.add("ld" + replaced(at, "X", flag + ", ") + ";");
    text_.add("setp.eq.u32 " + p + ", " + flag + ", 0;");
    loop_while(p, top);
  }

  /// The loop would end by itself after a very long time.
  void bounded() {
    const std::string count = text_.wide(), p = text_.predicate(), done = text_.label();
    const bool by_clock = random_.one_in(3);
    text_.add(by_clock ? "mov.u64 " + count + ", %clock64;" : "mov.u64 " + count + ", 0;");
    const std::string top = start_loop();
    text_.add("@!" + early() + " bra " + done + ";");
    if (by_clock) {
      const std::string now = text_.wide();
      text_.add("mov.u64 " + now + ", %clock64; sub.u64 " + now + ", " + now + ", " + count + ";");
      text_.add("setp.lt.u64 " + p + ", " + now + ", 1000000000000000;");
    } else {
      text_.add("add.u64 " + count + ", " + count + ", 1;");
      text_.add("setp.lt.u64 " + p + ", " + count + ", 1000000000000;");
    }
    loop_while(p, top);
    text_.mark(done);
  }

  void in_two_loops() {
    const std::string tries = text_.word(), p = text_.predicate(), done = text_.label();
    const std::string outer = start_loop();
    text_.add("mov.u32 " + tries + ", 0;");
    const std::string inner = start_loop();
    text_.add("@!" + early() + " bra " + done + ";");
    text_.add("add.u32 " + tries + ", " + tries + ", 1;");
    text_.add("setp.lt.u32 " + p + ", " + tries + ", " + std::to_string(random_.between(2, 9)) +
              ";");
    loop_while(p, inner);
    if (random_.one_in(2)) text_.add("nanosleep.u32 50;");
    text_.add("bra " + outer + ";");
    text_.mark(done);
  }

  void by_maximum() {
    const std::string most = text_.word();
    text_.add("mov.u32 " + most + ", 0;");
    const std::string top = start_loop(), value = loaded();
    text_.add("max.u32 " + most + ", " + most + ", " + value + ";");
    loop_while(is_early(text_, random_, most, value_), top);
  }

  void by_function() {
    if (word_.is_shared) return at_bottom();
    text_.add("call await, (" + generic(text_, word_) + ", " + value_ + ");");
  }

  // ---- By a warp.

  void by_shuffle() {
    const std::string lane = std::to_string(random_.below(32));
    const std::string mine = text_.predicate(), value = text_.word(), all = text_.word();
    text_.add("setp.eq.u32 " + mine + ", " + frame_.lane + ", " + lane + ";");
    const std::string top = start_loop(), past = text_.label();
    text_.add("mov.u32 " + value + ", 0;");
    text_.add("@!" + mine + " bra " + past + ";");
    poll_.load(text_, value);
    text_.mark(past);
    text_.add("shfl.sync.idx.b32 " + all + ", " + value + ", " + lane + ", 31, 0xffffffff;");
    loop_while(is_early(text_, random_, all, value_), top);
  }

  void by_vote() {
    const std::string p = text_.predicate(), bits = text_.word();
    const std::string top = start_loop(), e = early();
    switch (random_.below(4)) {
      case 0:
        text_.add("vote.sync.any.pred " + p + ", " + e + ", 0xffffffff;");
        break;
      case 1:
        text_.add("vote.sync.all.pred " + p + ", !" + e + ", 0xffffffff;");
        text_.add("not.pred " + p + ", " + p + ";");
        break;
      case 2:
        text_.add("vote.sync.ballot.b32 " + bits + ", " + e + ", 0xffffffff;");
        text_.add("setp.ne.u32 " + p + ", " + bits + ", 0;");
        break;
      default:
        text_.add("selp.u32 " + bits + ", 1, 0, " + e + ";");
        text_.add("match.any.sync.b32 " + bits + ", " + bits + ", 0xffffffff;");
        text_.add("vote.sync.any.pred " + p + ", " + e + ", 0xffffffff;");
    }
    loop_while(p, top);
  }

  void by_reduction_of_warp() {
    const std::string least = text_.word(), top = start_loop(), value = loaded();
    text_.add("redux.sync.min.u32 " + least + ", " + value + ", 0xffffffff;");
    loop_while(is_early(text_, random_, least, value_), top);
  }

  // ---- By a warp or a block.

  /// One thread says in shared memory what it has loaded.
  void by_slot(const std::string& barrier, const std::string& slots, const std::string& index) {
    const std::string at = text_.word(), mine = text_.predicate(), again = text_.word();
    text_.add("mov.u32 " + at + ", " + slots + ";");
    if (!index.empty()) text_.add("mad.lo.u32 " + at + ", " + index + ", 4, " + at + ";");
    text_.add("setp.eq.u32 " + mine + ", " + (index.empty() ? frame_.thread : frame_.lane) +
              ", 0;");
    const std::string top = start_loop(), past = text_.label();
    text_.add(barrier);
    text_.add("@!" + mine + " bra " + past + ";");
    text_.add("st.shared.u32 [" + at + "], " + loaded() + ";");
    text_.mark(past);
    text_.add(barrier);
    text_.add("ld.shared.u32 " + again + ", [" + at + "];");
    loop_while(is_early(text_, random_, again, value_), top);
    text_.add(barrier);
  }

  // ---- By a block.

  void by_barrier_reduction() {
    const std::string p = text_.predicate(), count = text_.word();
    const std::string top = start_loop(), e = early();
    switch (random_.below(3)) {
      case 0:
        text_.add("bar.red.or.pred " + p + ", 0, " + e + ";");
        break;
      case 1:
        text_.add("bar.red.and.pred " + p + ", 0, !" + e + ";");
        text_.add("not.pred " + p + ", " + p + ";");
        break;
      default:
        text_.add("bar.red.popc.u32 " + count + ", 0, " + e + ";");
        text_.add("setp.ne.u32 " + p + ", " + count + ", 0;");
    }
    loop_while(p, top);
  }

  void by_done_flag_of_block() {
    const std::string mine = is_thread(random_.below(frame_.threads));
    const std::string flag = text_.word(), p = text_.predicate(), past = text_.label();
    text_.add("bar.sync 0;");
    text_.add("@" + mine + " st.shared.u32 [slots], 0;");
    text_.add("bar.sync 0;");
    const std::string top = start_loop();
    text_.add("@!" + mine + " bra " + past + ";");
    text_.add("@" + early() + " bra " + past + ";");
    text_.add("st.shared.u32 [slots], 1;");
    text_.mark(past);
    text_.add("bar.sync 0;");
    text_.add("ld.shared.u32 " + flag + ", [slots];");
    // Without a barrier here the flag may be set in the next round before all have read it.
    text_.add(random_.one_in(2) ? "bar.sync 0;" : "// weak");
    text_.add("setp.eq.u32 " + p + ", " + flag + ", 0;");
    loop_while(p, top);
    text_.add("bar.sync 0;");
  }

  void by_block_scratch() {
    const std::string mine = is_thread(0), again = text_.word(),
                      at = "[" + frame_.block_scratch + "]";
    const std::string top = start_loop(), past = text_.label();
    text_.add("bar.sync 0;");
    text_.add("@!" + mine + " bra " + past + ";");
    text_.add("st.global.u32 " + at + ", " + loaded() + ";");
    text_.mark(past);
    text_.add("bar.sync 0;");
    text_.add("ld.global.u32 " + again + ", " + at + ";");
    loop_while(is_early(text_, random_, again, value_), top);
    text_.add("bar.sync 0;");
  }

  void one_thread_then_barrier() {
    const std::string mine = is_thread(random_.below(frame_.threads)), past = text_.label();
    text_.add("@!" + mine + " bra " + past + ";");
    alone();
    text_.mark(past);
    text_.add("bar.sync 0;");
  }

  /// One thread keeps what it saw in a register; the others ask it by a barrier.
  void kept_by_one_thread() {
    const std::string mine = is_thread(0), seen = text_.word(), p = text_.predicate();
    const std::string q = text_.predicate();
    text_.add("mov.u32 " + seen + ", 0;");
    text_.add("@!" + mine + " mov.u32 " + seen + ", " + value_ + ";");
    const std::string top = start_loop(), past = text_.label(), done = text_.label();
    text_.add("setp.ge.u32 " + p + ", " + seen + ", " + value_ + ";");
    text_.add("bar.red.and.pred " + q + ", 0, " + p + ";");
    text_.add("@" + q + " bra " + done + ";");
    text_.add("@!" + mine + " bra " + past + ";");
    poll_.load(text_, seen);
    text_.mark(past);
    text_.add("bra " + top + ";");
    text_.mark(done);
  }

  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  }

  Text& text_;
  Random& random_;
  const Frame& frame_;
  const Word& word_;
  const std::string& value_;
  Poll poll_;
};

}  // namespace

void wait_alone(Text& text, Random& random, const Frame& frame, const Word& word,
                const std::string& value) {
  Wait(text, random, frame, word, value).alone();
  fence(text, random);
}

void wait_as_warp(Text& text, Random& random, const Frame& frame, const Word& word,
                  const std::string& value) {
  Wait(text, random, frame, word, value).as_warp();
  fence(text, random);
}

void wait_as_block(Text& text, Random& random, const Frame& frame, const Word& word,
                   const std::string& value) {
  Wait(text, random, frame, word, value).as_block();
  fence(text, random);
}

void signal(Text& text, Random& random, const Word& word, const std::string& value) {
  fence(text, random);
  static const std::vector<std::string> kForms = {
      "st.volatile~.u32 [A], V;",    "st.relaxed.gpu~.u32 [A], V;",
      "st.release.gpu~.u32 [A], V;", "red~.max.u32 [A], V;",
      "atom~.exch.b32 N, [A], V;",   "st~.u32 [A], V; membar.gl; // weak",
  };
  std::string line;
  for (char c : random.pick(kForms)) {
    if (c == '~') line += space_of(word);
    if (c == 'A') line += word.address;
    if (c == 'V') line += value;
    if (c == 'N') line += text.word();
    if (c != '~' && c != 'A' && c != 'V' && c != 'N') line += c;
  }
  text.add(line);
}

void fence(Text& text, Random& random) {
  switch (random.below(3)) {
    case 0:
      return text.add("fence.acq_rel.gpu;");
    case 1:
      return text.add("fence.sc.gpu;");
    default:
      return text.add("membar.gl;");
  }
}

std::string wait_functions() {
  return R"(.func (.reg .b32 value) poll (.reg .b64 address) {
  ld.volatile.u32 value, [address];
  ret;
}
.func await (.reg .b64 address, .reg .b32 value) {
  .reg .b32 seen;
  .reg .pred early;
AGAIN:
  ld.volatile.u32 seen, [address];
  setp.lt.u32 early, seen, value;
  @early bra AGAIN;
  ret;
}
)";
}

std::string wait_variables() {
  return "  .reg .b32 %none;\n  .local .align 4 .b8 own[16];\n  .shared .align 4 .b8 slots[128];\n";
}

}  // namespace km::protocols
