// Values that live over barriers while the memory they came from is overwritten: choices between
// loads, chains of them, and loops whose parts barriers divide.
#include "generator.h"

namespace km::fuzz {

/// A word of `exchange` at the index in `index`, named in one of the ways that there are, which a
/// compiler must know to be the same memory. `low` and `wide` are registers for the address.
Generator::Word Generator::shared_word(std::vector<std::string>& lines, const std::string& index,
                                       const std::string& low, const std::string& wide) {
  if (chance(60)) {
    lines.push_back("mov.u32 " + low + ", exchange;");
    lines.push_back("mad.lo.u32 " + low + ", " + index + ", 4, " + low + ";");
    return {"shared.", "[" + low + "]"};
  }
  const bool generic = chance(60);
  lines.push_back("mov.u64 " + wide + ", exchange;");
  if (generic) lines.push_back("cvta.shared.u64 " + wide + ", " + wide + ";");
  lines.push_back("mad.wide.u32 " + wide + ", " + index + ", 4, " + wide + ";");
  return {generic ? "" : "shared.", "[" + wide + "]"};
}

/// Another thread's index; the own one where the other may have exited without a word.
void Generator::set_other(std::vector<std::string>& lines, const std::string& target) {
  if (exits_) {
    lines.push_back("mov.u32 " + target + ", %self;");
    return;
  }
  lines.push_back("add.u32 " + target + ", %self, " + one_of("1", "7", "31", "32", "64") + ";");
  lines.push_back("rem.u32 " + target + ", " + target + ", %threads;");
}

/// After a barrier each thread's word gets another content, through a name of its own.
void Generator::overwrite_own(std::vector<std::string>& lines) {
  const std::string barrier = one_of("bar.sync 0;", "barrier.sync 0;");
  lines.push_back(barrier);
  const Word again = shared_word(lines, "%self", "%x13", "%y4");
  lines.push_back("st." + again.space + "b32 " + again.at + ", " + one_of("0", "%r1", "%lane") +
                  ";");
  lines.push_back(barrier);
}

/// A thread chooses one of two words of shared memory, which are overwritten afterwards.
Statement Generator::kept_choice() {
  Statement statement;
  auto& lines = statement.before;
  const char kind = chance(70) ? 'r' : 'f';
  const std::string type = kind == 'r' ? "b32 " : "f32 ", target = reg(kind);
  set_other(lines, "%x12");
  const Word own = shared_word(lines, "%self", "%x14", "%y3");
  const Word other = shared_word(lines, "%x12", "%x7", "%y6");
  lines.push_back("st." + own.space + type + own.at + ", " + reg(kind) + ";");
  lines.push_back("bar.sync 0;");
  set_by_data(lines, "%q$");
  const std::string load_own = "ld." + own.space + type + target + ", " + own.at + ";";
  const std::string load_other = "ld." + other.space + type + target + ", " + other.at + ";";
  switch (below(4)) {
    case 0:
      lines.insert(lines.end(), {"@%q$ " + load_own, "@!%q$ " + load_other});
      break;
    case 1:
      lines.insert(lines.end(), {load_own, "@%q$ " + load_other});
      break;
    default:
      lines.insert(lines.end(), {"@%q$ bra OTHER$;", load_own, "bra CHOSEN$;",
                                 "OTHER$:", load_other, "CHOSEN$:"});
  }
  overwrite_own(lines);
  return statement;
}

/// A condition of the thread's own data, in which no register is written that the loads need.
void Generator::set_by_data(std::vector<std::string>& lines, const std::string& target) {
  lines.push_back("and.b32 %x15, " + one_of("%self", "%lane", "%r2", "%r4", "%r5") + ", " +
                  one_of("1", "2", "3", "7", "16") + ";");
  lines.push_back("setp." + one_of("eq", "ne", "lt", "gt") + ".u32 " + target + ", %x15, " +
                  one_of("0", "1", "2") + ";");
}

/// Two runs of words are merged for some steps, as sorts do: each step keeps the smaller front and
/// loads the one behind it.
Statement Generator::choice_chain() {
  if (exits_) return kept_choice();
  Statement statement;
  auto& lines = statement.before;
  const Word own = shared_word(lines, "%self", "%x14", "%y3");
  lines.push_back("st." + own.space + "b32 " + own.at + ", " + reg('r') + ";");
  lines.push_back("bar.sync 0;");
  lines.push_back("mov.u32 %x8, %self;");
  set_other(lines, "%x9");
  const auto load = [&](const std::string& target, const std::string& index) {
    const Word word = shared_word(lines, index, "%x7", "%y6");
    lines.push_back("ld." + word.space + "b32 " + target + ", " + word.at + ";");
  };
  const auto load_next = [&](const std::string& target, const std::string& index) {
    lines.push_back("add.u32 " + index + ", " + index + ", 1;");
    lines.push_back("rem.u32 " + index + ", " + index + ", %threads;");
    load(target, index);
  };
  load("%x10", "%x8");
  load("%x11", "%x9");
  const uint64_t steps = 1 + below(4);
  for (uint64_t i = 0; i < steps; ++i) {
    const std::string step = "$_" + std::to_string(i);
    lines.push_back("setp.lt.s32 %q$, %x10, %x11;");
    lines.push_back("selp.b32 " + reg('r') + ", %x10, %x11, %q$;");
    lines.push_back("@%q$ bra LEFT" + step + ";");
    load_next("%x11", "%x9");
    lines.push_back("bra NEXT" + step + ";");
    lines.push_back("LEFT" + step + ":");
    load_next("%x10", "%x8");
    lines.push_back("NEXT" + step + ":");
  }
  overwrite_own(lines);
  return statement;
}

/// Accesses to neighbouring words of the thread's own memory, by one base or another name of it:
/// loads that could be made together, but for the stores and atomics between them.
Statement Generator::row() {
  Statement statement;
  auto& lines = statement.before;
  const bool shared = chance(40);
  if (shared) {
    // Beyond the words of own_element(), at an index that looks like any.
    lines = {"mov.u32 %x13, mine;",
             "shr.u32 %x14, " + reg('r') + ", 31;",
             "shr.u32 %x14, %x14, 1;",
             "add.u32 %x14, %x14, %self;",
             "mad.lo.u32 %x14, %x14, 16, %x13;",
             "add.u32 %x14, %x14, 512;",
             "add.u32 %x12, %x14, 4;"};
    lines.push_back("st.shared.v4.b32 [%x14], {" + reg('r') + ", " + reg('r') + ", " + reg('r') +
                    ", " + reg('r') + "};");
  } else {
    lines.push_back("and.b32 %x14, " + reg('r') + ", 3;");
    lines.push_back("mad.wide.u32 %y3, %x14, 16, %out;");
    lines.push_back("add.s64 %y6, %y3, 4;");
  }
  const std::string space = shared ? "shared." : one_of("global.", "global.", "");
  const auto place = [&] {
    const auto word = static_cast<int>(below(4)) * 4;
    const bool by_other = chance(25);
    const int base = shared ? 0 : static_cast<int>(kScratchOffset);
    const std::string name = shared ? (by_other ? "%x12" : "%x14") : (by_other ? "%y6" : "%y3");
    return "[" + name + "+" + std::to_string(base + word - (by_other ? 4 : 0)) + "]";
  };
  for (uint64_t steps = 4 + below(5); steps > 0; --steps) {
    if (chance(60)) {
      lines.push_back("ld." + space + "b32 " + reg('r') + ", " + place() + ";");
    } else if (chance(75)) {
      lines.push_back("st." + space + "b32 " + place() + ", " + reg('r') + ";");
    } else {
      lines.push_back("atom." + space + one_of("add.u32 ", "xor.b32 ", "max.s32 ") + reg('r') +
                      ", " + place() + ", " + reg('r') + ";");
    }
  }
  return statement;
}

/// A loop that all threads go round as often, in parts between barriers, and a barrier behind it:
/// values of one part are read in others and after the loop.
Statement Generator::rounds(const Place& place) {
  Statement statement;
  statement.before = {"mov.u32 %c$, " + one_of("1", "2", "3") + ";", "LOOP$:"};
  const Place inner{place.converged, place.mask, place.depth + 1};
  for (uint64_t parts = 2 + below(3); parts > 0; --parts) {
    statement.bodies.push_back({statements(inner, 3), {}});
    auto& after = statement.bodies.back().after;
    if (parts > 1) after.push_back("bar.sync 0;");
    if (parts > 1 && chance(30)) {
      after.push_back("bar.red.popc.u32 " + reg('r') + ", 0, " + reg('p') + ";");
    }
    // Whole warps leave, or lanes of each.
    if (parts == 2 && exits_ && chance(60)) {
      after.push_back(one_of("shr.u32 %x15, %self, 5;", "and.b32 %x15, %self, 7;"));
      after.insert(after.end(), {"setp.eq.u32 %q$, %x15, %c$;", "@%q$ exit;"});
    }
  }
  auto& end = statement.bodies.back().after;
  end = {"sub.s32 %c$, %c$, 1;", "setp.gt.s32 %q$, %c$, 0;", "@%q$ bra LOOP$;"};
  if (chance(80)) end.push_back("bar.sync 0;");
  return statement;
}

}  // namespace km::fuzz
