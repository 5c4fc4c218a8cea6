// Statements that threads of a warp or block make together.
#include "generator.h"

namespace km::fuzz {

/// Words through shared memory to other threads.
Statement Generator::exchange() {
  Statement statement;
  auto& lines = statement.before;
  const std::string barrier =
      one_of("bar.sync 0;", "barrier.sync 1;", "bar.sync 3;", "barrier.sync.aligned 0;");
  const bool floats = chance(30);
  const char kind = floats ? 'f' : 'r';
  const std::string type = floats ? "f32" : "b32";
  lines.push_back("mov.u32 %x13, exchange;");
  lines.push_back("mad.lo.u32 %x14, %self, 4, %x13;");
  lines.push_back("st.shared." + type + " [%x14], " + reg(kind) + ";");
  lines.push_back(barrier);
  if (exits_) {
    // A place that no thread wrote would hold anything: only the own one is read.
    lines.push_back("ld.shared." + type + " " + reg(kind) + ", [%x14];");
  } else {
    lines.push_back("add.u32 %x12, " + one_of("%self", "%r4", "%r1", "%self") + ", " +
                    one_of("0", "1", "7", "31", "32") + ";");
    lines.push_back("rem.u32 %x12, %x12, %threads;");
    lines.push_back("mad.lo.u32 %x12, %x12, 4, %x13;");
    lines.push_back("ld.shared." + type + " " + reg(kind) + ", [%x12];");
  }
  lines.push_back(barrier);
  return statement;
}

/// The same, where a block's rows become columns.
Statement Generator::transposition() {
  Statement statement;
  const std::string type = one_of("b32", "b32", "f32");
  const char kind = type == "f32" ? 'f' : 'r';
  statement.before = {"mov.u32 %x13, exchange;",
                      "mov.u32 %x12, %ntid.y;",
                      "mov.u32 %x14, %tid.y;",
                      "mov.u32 %c$, %tid.x;",
                      "mad.lo.u32 %x14, %c$, %x12, %x14;",
                      "mov.u32 %c$, %tid.z;",
                      "mul.lo.u32 %c$, %c$, %x12;",
                      "mov.u32 %x12, %ntid.x;",
                      "mad.lo.u32 %x14, %c$, %x12, %x14;",
                      "mad.lo.u32 %x14, %x14, 4, %x13;",
                      "st.shared." + type + " [%x14], " + reg(kind) + ";",
                      "bar.sync 0;",
                      "mad.lo.u32 %x12, %self, 4, %x13;",
                      "ld.shared." + type + " " + reg(kind) + ", [%x12];",
                      "bar.sync 0;"};
  return statement;
}

/// Halves of the block are added to each other until one thread has the total.
Statement Generator::tree() {
  Statement statement;
  const std::string source = reg('r');
  statement.before = {"mov.u32 %x13, exchange;",
                      "mad.lo.u32 %x14, %self, 4, %x13;",
                      "st.shared.b32 [%x14], " + source + ";",
                      "mov.u32 %c$, " + one_of("64", "32", "16") + ";",
                      "LOOP$:",
                      "bar.sync 0;",
                      "setp.ge.u32 %q$, %self, %c$;",
                      "@%q$ bra NEXT$;",
                      "add.u32 %x12, %self, %c$;",
                      "setp.ge.u32 %q$, %x12, %threads;",
                      "@%q$ bra NEXT$;",
                      "mad.lo.u32 %x12, %x12, 4, %x13;",
                      "ld.shared.b32 %x11, [%x12];",
                      "ld.shared.b32 %x10, [%x14];",
                      one_of("add.u32", "xor.b32", "max.s32") + " %x10, %x10, %x11;",
                      "st.shared.b32 [%x14], %x10;",
                      "NEXT$:",
                      "shr.u32 %c$, %c$, 1;",
                      "setp.ne.u32 %q$, %c$, 0;",
                      "@%q$ bra LOOP$;",
                      "bar.sync 0;",
                      "ld.shared.b32 " + reg('r') + ", [" + one_of("exchange", "%x14") + "];",
                      "bar.sync 0;"};
  return statement;
}

/// A loop that loads words of the input, which it moves on by a step that all threads have, and
/// hands them to others.
Statement Generator::moving_tile() {
  Statement statement;
  auto& lines = statement.before;
  const std::string total = reg('r');
  const auto add_element = [&](unsigned percent) {
    if (!chance(percent)) return;
    lines.push_back("ld.global.b32 %x10, [%a$];");
    lines.push_back("xor.b32 " + total + ", " + total + ", %x10;");
  };
  lines = {"mov.u32 %x13, exchange;", "mad.lo.u32 %x14, %self, 4, %x13;", "mov.u32 %x12, %ntid.x;",
           "mul.wide.u32 %y6, %x12, 4;", "mov.u32 %x12, %tid.x;"};
  lines.push_back("mad.wide.u32 %a$, " + one_of("%self", "%self", "%x12", "1") + ", " +
                  one_of("4", "8") + ", %in;");
  lines.push_back("add.s64 %a$, %a$, 1024;");
  lines.push_back("add.u32 %x12, %self, " + one_of("1", "16", "31", "32") + ";");
  lines.push_back("rem.u32 %x12, %x12, %threads;");
  lines.push_back("mad.lo.u32 %x12, %x12, 4, %x13;");
  lines.push_back("mov.u32 %c$, " + one_of("1", "2", "3", "4") + ";");
  lines.push_back("LOOP$:");
  lines.push_back("ld.global.b32 %x10, [%a$];");
  lines.push_back("st.shared.b32 [%x14], %x10;");
  lines.push_back("bar.sync 0;");
  lines.push_back("ld.shared.b32 %x11, [" + std::string(exits_ ? "%x14" : "%x12") + "];");
  lines.push_back("mad.lo.u32 " + total + ", " + total + ", 3, %x11;");
  lines.push_back("bar.sync 0;");
  lines.push_back("add.s64 %a$, " + one_of("%a$, 64;", "%a$, -64;", "%a$, %y6;", "%y6, %a$;"));
  add_element(30);
  lines.push_back("sub.u32 %c$, %c$, 1;");
  lines.push_back("setp.ne.u32 %q$, %c$, 0;");
  lines.push_back("@%q$ bra LOOP$;");
  add_element(20);
  return statement;
}

Statement Generator::barrier_reduction() {
  Statement statement;
  const std::string source = (chance(70) ? "" : "!") + reg('p') + ";";
  switch (below(3)) {
    case 0:
      statement.before.push_back("bar.red.popc.u32 " + reg('r') + ", 2, " + source);
      break;
    case 1:
      statement.before.push_back("bar.red.and.pred " + reg('p') + ", 2, " + source);
      break;
    default:
      statement.before.push_back("barrier.red.or.pred " + reg('p') + ", 4, " + source);
      break;
  }
  return statement;
}

/// Totals of the block, cleared, made and read.
Statement Generator::shared_totals() {
  constexpr const char* kOperations[] = {"add.u32", "max.u32", "or.b32", "xor.b32", "max.s32"};
  Statement statement;
  auto& lines = statement.before;
  const std::string operation = kOperations[below(5)];
  lines.push_back("and.b32 %x13, " + reg('r') + ", 7;");
  lines.push_back("bar.sync 0;");
  lines.push_back("mov.u32 %x12, totals;");
  for (unsigned i = 0; i < 8; ++i) {  // all threads the same: some may have exited
    lines.push_back("st.shared.b32 [%x12+" + std::to_string(4 * i) + "], 0;");
  }
  lines.push_back("bar.sync 0;");
  lines.push_back("mad.lo.u32 %x14, %x13, " + one_of("4", "4", "0") + ", %x12;");
  lines.push_back(guard() + "red.shared." + operation + " [%x14], " + reg('r') + ";");
  lines.push_back("bar.sync 0;");
  lines.push_back("ld.shared.u32 " + reg('r') + ", [%x14];");
  lines.push_back("ld.shared.u32 " + reg('r') + ", [%x12+" + std::to_string(4 * below(8)) + "];");
  lines.push_back("bar.sync 0;");
  return statement;
}

/// Some warps come to one barrier, the others to another of the same number.
Statement Generator::split_barrier(const Place& place) {
  Statement statement;
  statement.before = {"mov.u32 %c$, %warpid;", "and.b32 %c$, %c$, 1;", "setp.eq.u32 %q$, %c$, 0;",
                      "@%q$ bra ELSE$;"};
  const Place inner{false, place.mask, place.depth + 1};
  Statement::Body first{statements(inner, 3), {"bar.sync 0;"}};
  Statement::Body second{statements(inner, 3), {"bra END$;", "ELSE$:"}};
  Statement::Body third{statements(inner, 3), {"bar.sync 0;"}};
  Statement::Body fourth{statements(inner, 3), {"END$:"}};
  statement.bodies = {std::move(first), std::move(second), std::move(third), std::move(fourth)};
  return statement;
}

Statement Generator::warp_operation(const Place& place) {
  const std::string members = ", " + place.mask + ";";
  switch (below(9)) {
    case 0:
      return {{"vote.sync." + one_of("all", "any", "uni") + ".pred " + reg('p') + ", " +
               (chance(70) ? "" : "!") + reg('p') + members},
              {}};
    case 1:
      return {{"vote.sync.ballot.b32 " + reg('r') + ", " + reg('p') + members}, {}};
    case 2:
      return {{"match.any.sync.b32 " + reg('r') + ", " + reg('r') + members}, {}};
    case 3:
      return {{"match.all.sync.b64 " + reg('r') + "|" + reg('p') + ", " + reg('l') + members}, {}};
    case 4:
      if (chance(20) && instructions_.has_newer()) {
        return {{"redux.sync." + one_of("min", "max") + one_of("", ".abs", ".NaN", ".abs.NaN") +
                 ".f32 " + reg('f') + ", " + reg('f') + members},
                {}};
      }
      return {{"redux.sync." +
               one_of("add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32",
                      "or.b32", "xor.b32") +
               " " + reg('r') + ", " + reg('r') + members},
              {}};
    case 5:
      return {{"elect.sync " + reg('r') + "|" + reg('p') + members}, {}};
    case 6:
      return {{"bar.warp.sync " + place.mask + ";"}, {}};
    default:
      return shuffle(place);
  }
}

/// Lanes read from the lowest member, or, where all take part, from any.
Statement Generator::shuffle(const Place& place) {
  const std::string target = reg('r') + (chance(50) ? "|" + reg('p') : "");
  const bool all = place.mask[0] == '0' && !exits_ && !partial_warp_;
  if (all) {
    const std::string amount = chance(50) ? std::to_string(below(32)) : reg('r');
    const std::string control =
        one_of("0x1f", "0", "0x181f", "0x1c1f", "0x1800", "0x100f", "0x71f", reg('r').c_str());
    return {{"shfl.sync." + one_of("up", "down", "bfly", "idx") + ".b32 " + target + ", " +
             reg('r') + ", " + amount + ", " + control + ", " + place.mask + ";"},
            {}};
  }
  return {{"setp.eq.u32 %q$, 0, 0;", "vote.sync.ballot.b32 %x14, %q$, " + place.mask + ";",
           "brev.b32 %x14, %x14;", "clz.b32 %x14, %x14;",
           "shfl.sync.idx.b32 " + target + ", " + reg('r') + ", %x14, 0x1f, " + place.mask + ";"},
          {}};
}

}  // namespace km::fuzz
