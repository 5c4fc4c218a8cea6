// Statements of one thread by itself.
#include <cctype>

#include "generator.h"

namespace km::fuzz {

/// Any instruction of the table, its registers chosen anew.
Statement Generator::computation() {
  const std::string& text = instructions_.any(random_).text;
  std::string line = guard();
  std::map<std::string, std::string> chosen;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      line += text[i++];
      continue;
    }
    size_t end = i + 2;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    std::string& name = chosen[text.substr(i, end - i)];
    if (name.empty()) name = reg(text[i + 1]);
    line += name;
    i = end;
  }
  return {{line}, {}};
}

/// A sum, difference or product of 64 or 96 bits in words, or of 128 in longs.
Statement Generator::carry_chain() {
  const bool longs = chance(30);
  const char kind = longs ? 'l' : 'r';
  const std::string type = longs ? one_of("u64", "s64") : one_of("u32", "s32");
  Statement statement;
  const auto line = [&](const std::string& mnemonic, unsigned sources) {
    std::string text = mnemonic + "." + type + " " + reg(kind);
    for (unsigned i = 0; i < sources; ++i) text += ", " + reg(kind);
    statement.before.push_back(text + ";");
  };
  // Sums and differences share the flag.
  const auto reader = [&](bool adds) { return adds != chance(10) ? "addc" : "subc"; };
  const bool adds = chance(50);
  switch (below(3)) {
    case 0:
    case 1:
      line(adds ? "add.cc" : "sub.cc", 2);
      if (chance(50)) line(std::string(reader(adds)) + ".cc", 2);
      line(reader(adds), 2);
      break;
    default:
      line("mad.lo.cc", 3);
      line("madc.hi.cc", 3);
      if (chance(50)) line("madc.lo.cc", 3);
      line("addc", 2);
      break;
  }
  return statement;
}

/// From the input at an index that is the thread's, anyone's, or the same for all; or a table.
Statement Generator::load_input() {
  Statement statement;
  auto& lines = statement.before;
  const std::string space = one_of("global", "global.nc", "global.ca", "global.L1::no_allocate");
  if (chance(15)) {
    lines.push_back("and.b32 %x14, " + reg('r') + ", 7;");
    lines.push_back("mov.u64 %y3, table;");
    lines.push_back("mad.wide.u32 %y3, %x14, 4, %y3;");
    lines.push_back(guard() + "ld.const.u32 " + reg('r') + ", [%y3];");
    return statement;
  }
  const std::string index = one_of("%global", "%self", "%r0", "%r4", "%r3", "%x9", "%lane");
  lines.push_back("and.b32 %x14, " + index + ", 255;");
  lines.push_back("mad.wide.u32 %y3, %x14, " + one_of("16", "8", "0", "16") + ", %in;");
  const std::string offset = "[%y3+" + std::to_string(8 * below(2)) + "];";
  switch (below(8)) {
    case 0:
      lines.push_back("ld." + space + ".v2.u32 {" + reg('r') + ", " + reg('r') + "}, " + offset);
      break;
    case 1:
      lines.push_back(guard() + "ld." + space + ".f64 " + reg('d') + ", " + offset);
      break;
    case 2:
      lines.push_back(guard() + "ld." + space + ".s8 " + reg('r') + ", [%y3+3];");
      break;
    case 3:
      lines.push_back(guard() + "ld." + space + ".u16 " + reg('h') + ", [%y3+6];");
      break;
    case 4:
      lines.push_back(guard() + "ld." + space + ".s16 " + reg('r') + ", [%y3+2];");
      break;
    case 5:
      lines.push_back("ld." + space + ".v2.b64 {" + reg('l') + ", " + reg('d') + "}, [%in+32];");
      break;
    case 6:
      lines.push_back(guard() + "ld." + space + ".f32 " + reg('f') + ", [%y3+4];");
      break;
    default:
      lines.push_back(guard() + "ld." + space + ".b64 " + reg('l') + ", " + offset);
      break;
  }
  return statement;
}

/// %y3 = %y4 + %x14 * scale, in the ways that compilers have for it. Signed indices may be
/// negative, unsigned ones beyond half of their range.
void Generator::add_place(std::vector<std::string>& lines, unsigned scale) {
  std::string type = one_of("s32", "u32");
  const uint64_t half = (uint64_t{1} << 31) * scale;
  if (chance(25)) {
    type = "s32";
    lines.push_back("sub.u32 %x14, %x14, 77;");
    lines.push_back("add.s64 %y4, %y4, " + std::to_string(77 * scale) + ";");
  } else if (chance(25)) {
    type = "u32";
    lines.push_back("add.u32 %x14, %x14, 0x80000000;");
    lines.push_back("sub.s64 %y4, %y4, " + std::to_string(half) + ";");
  }
  const std::string factor = std::to_string(scale);
  switch (below(3)) {
    case 0:
      lines.push_back("mad.wide." + type + " %y3, %x14, " + factor + ", %y4;");
      return;
    case 1:
      lines.push_back("mul.wide." + type + " %y3, %x14, " + factor + ";");
      break;
    default: {
      const unsigned bits = scale == 8 ? 3 : scale / 2;
      lines.push_back("cvt." + std::string(type == "s32" ? "s64." : "u64.") + type + " %y3, %x14;");
      lines.push_back("shl.b64 %y3, %y3, " + std::to_string(bits) + ";");
    }
  }
  if (chance(30)) {
    const std::string more = one_of("", "-") + "16;";
    lines.push_back("add.s64 %y3, %y3, " + more);
    lines.push_back("sub.s64 %y4, %y4, " + more);
  }
  lines.push_back("add.s64 %y3, " + one_of("%y3, %y4;", "%y4, %y3;"));
}

/// An element of the input.
Statement Generator::element() {
  Statement statement;
  auto& lines = statement.before;
  // %x14 = an index from 0 to 127 of neighbouring threads that was shifted and clamped on the way,
  // near the ends of its range, where 32 bits wrap and only some lanes are clamped.
  const auto bend_index = [&] {
    lines.push_back("mad.lo.u32 %x14, " + one_of("%self", "%lane", "%r2", "%global") + ", " +
                    one_of("1", "2", "4", "1") + ", " +
                    one_of("%x9", "%r0", "0x7ffffff0", "-20", "100") + ";");
    for (unsigned steps = 1 + below(3); steps != 0; --steps) {
      const std::string type = one_of("s32", "u32");
      if (chance(50)) {
        lines.push_back("shr." + type + " %x14, %x14, " + one_of("1", "2", "1", "31") + ";");
      } else {
        const std::string bound = one_of("%x9", "%r0", "3", "60", "-5", "0x7ffffff8");
        lines.push_back(one_of("min.", "max.") + type + " %x14, %x14, " + bound + ";");
      }
      if (chance(30)) lines.push_back("mov.b32 " + reg('r') + ", %x14;");
    }
    if (chance(50)) lines.push_back("max.s32 %x14, %x14, 0;");
    lines.push_back("min.u32 %x14, %x14, 127;");
  };
  const unsigned scale = 1U << below(4);
  if (scale == 8 && chance(60)) {
    bend_index();
  } else {
    lines.push_back("and.b32 %x14, " + reg('r') + ", " + (scale == 8 ? "127;" : "120;"));
  }
  lines.push_back("mov.b64 %y4, %in;");
  add_place(lines, scale);
  const std::string space = one_of("global", "global.nc", "global", "global.cg");
  const std::string at = "[%y3" + one_of("", "+8", "+32", "") + "]";
  const std::string load = "ld." + space;
  switch (below(7)) {
    case 0:
      lines.push_back(load + ".v2.u32 {" + reg('r') + ", " + reg('r') + "}, " + at + ";");
      break;
    case 1:
      lines.push_back(guard() + load + ".f64 " + reg('d') + ", " + at + ";");
      break;
    case 2:
      lines.push_back(guard() + load + ".b64 " + reg('l') + ", " + at + ";");
      break;
    case 3:
      lines.push_back(guard() + load + ".u16 " + reg('h') + ", " + at + ";");
      break;
    case 4:
      lines.push_back(guard() + load + ".f32 " + reg('f') + ", " + at + ";");
      break;
    default:
      lines.push_back(guard() + load + ".u32 " + reg('r') + ", " + at + ";");
      break;
  }
  return statement;
}

/// The thread's own word of shared memory, by an index that looks like any.
Statement Generator::own_element() {
  Statement statement;
  auto& lines = statement.before;
  lines = {"shr.u32 %x14, " + reg('r') + ", 31;", "shr.u32 %x14, %x14, 1;",
           "add.u32 %x14, %x14, %self;"};
  std::string at = "[%y3]", space;
  if (chance(50)) {
    lines.push_back("mov.u32 %x13, mine;");
    lines.push_back("mad.lo.u32 %x14, %x14, 4, %x13;");
    at = "[%x14]";
    space = "shared.";
  } else {
    lines.push_back("mov.u64 %y4, mine;");
    lines.push_back("cvta.shared.u64 %y4, %y4;");
    add_place(lines, 4);
  }
  const char kind = chance(60) ? 'r' : 'f';
  const std::string type = kind == 'r' ? "b32" : "f32";
  const std::string store = "st." + space + type + " " + at + ", ";
  lines.push_back(store + reg(kind) + ";");
  lines.push_back(guard() + store + reg(kind) + ";");
  lines.push_back("ld." + space + type + " " + reg(kind) + ", " + at + ";");
  return statement;
}

/// The thread's own 64 bytes of global memory.
Statement Generator::scratch_access() {
  Statement statement;
  auto& lines = statement.before;
  lines.push_back("and.b32 %x14, " + reg('r') + ", 7;");
  lines.push_back("mad.wide.u32 %y3, %x14, 8, %out;");
  const std::string at = "[%y3+" + std::to_string(kScratchOffset) + "]";
  const std::string space = one_of("global.", "", "global.cg.", "global.");
  const char* const kinds = "rlhfd";
  const char kind = kinds[below(5)];
  const char* const types[] = {"b32", "b64", "u16", "f32", "f64"};
  const std::string type = types[std::string(kinds).find(kind)];
  if (chance(55)) {
    lines.push_back(guard() + "st." + space + type + " " + at + ", " + reg(kind) + ";");
  } else {
    const std::string load = space == "global." ? "global." : "";
    lines.push_back(guard() + "ld." + load + type + " " + reg(kind) + ", " + at + ";");
  }
  return statement;
}

Statement Generator::local_access() {
  Statement statement;
  auto& lines = statement.before;
  lines.push_back("and.b32 %x14, " + reg('r') + ", 3;");
  lines.push_back("mov.u64 %y3, own;");
  lines.push_back("mad.wide.u32 %y3, %x14, 8, %y3;");
  std::string space = "local.";
  if (chance(10)) {  // elements of kernels without it lie side by side
    lines.push_back("cvta.local.u64 %y3, %y3;");
    space = "";
  }
  const std::string at = chance(80) ? "[%y3]" : "[%y3+4]";
  const char kind = chance(50) ? 'r' : 'f';
  const std::string type = kind == 'r' ? "u32" : "f32";
  if (chance(50)) {
    lines.push_back(guard() + "st." + space + type + " " + at + ", " + reg(kind) + ";");
  } else {
    lines.push_back(guard() + "ld." + space + type + " " + reg(kind) + ", " + at + ";");
  }
  return statement;
}

/// A load, store or atomic in any of its forms.
Statement Generator::memory_access() {
  return memory_statement(instructions_.any_memory(random_), random_,
                          [this](char kind) { return reg(kind); });
}

/// Bits from one kind of register to another.
Statement Generator::packing() {
  switch (below(9)) {
    case 0:
      return {{guard() + "mov.b64 " + reg('l') + ", {" + reg('r') + ", " + reg('r') + "};"}, {}};
    case 1:
      return {{guard() + "mov.b64 {" + reg('r') + ", " + reg('r') + "}, " + reg('l') + ";"}, {}};
    case 2:
      return {{guard() + "mov.b32 " + reg('r') + ", {" + reg('h') + ", " + reg('h') + "};"}, {}};
    case 3:
      return {{"mov.b32 {" + reg('h') + ", _}, " + reg('r') + ";"}, {}};
    case 4:
      return {{guard() + "mov.b32 " + reg('f') + ", " + reg('r') + ";"}, {}};
    case 5:
      return {{guard() + "mov.b32 " + reg('r') + ", " + reg('f') + ";"}, {}};
    case 6:
      return {{guard() + "mov.b64 " + reg('d') + ", " + reg('l') + ";"}, {}};
    case 7:
      return {{guard() + "mov.b64 " + reg('l') + ", " + reg('d') + ";"}, {}};
    default:
      return {{guard() + "mov.u32 " + reg('r') + ", " +
               one_of("%self", "%lane", "%global", "%ntid.x", "%nctaid.x", "%lanemask_lt",
                      "%nwarpid", "%warpid") +
               ";"},
              {}};
  }
}

Statement Generator::call() {
  switch (below(10)) {
    case 0:
      return {{"call (" + reg('r') + "), tree, (" + reg('r') + ", " + reg('r') + ");"}, {}};
    case 1:
    case 2:
      return {
          {"F$: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);", "mov.u64 %y4, mix;",
           "mov.u64 %y5, swap;", "selp.b64 %y4, %y4, %y5, " + reg('p') + ";",
           "call (" + reg('r') + "), %y4, (" + reg('r') + ", " + reg('r') + "), F$;"},
          {}};
    case 3:
    case 4:
    case 5:
      return {{"call (" + reg('r') + "), mix, (" + reg('r') + ", " + reg('r') + ");"}, {}};
    default:
      return {{"{ .param .b64 given; .param .align 8 .b8 two[16]; .param .b64 back;",
               "st.param.b64 [given], " + reg('l') + ";", "st.param.b64 [two], " + reg('l') + ";",
               "st.param.b64 [two+8], " + reg('l') + ";", "call (back), sum, (given, two);",
               "ld.param.b64 " + reg('l') + ", [back]; }"},
              {}};
  }
}

/// Counters of global memory; each takes one operation only, so that no order matters.
Statement Generator::reduction() {
  constexpr const char* kOperations[] = {"add.u32", "min.u32", "max.u32", "and.b32",
                                         "or.b32",  "xor.b32", "min.s32", "max.s32",
                                         "add.u64", "min.u64", "max.s64", "xor.b64"};
  const uint64_t operation = below(12);
  const std::string name = kOperations[operation];
  Statement statement;
  auto& lines = statement.before;
  if (chance(40)) {
    lines.push_back("and.b32 %x14, " + reg('r') + ", 1;");
    lines.push_back("mad.wide.u32 %y3, %x14, 8, %counters;");
  } else {
    lines.push_back("mov.b64 %y3, %counters;");
  }
  const std::string at = "[%y3+" + std::to_string(16 * operation) + "]";
  const std::string source = reg(name.find("64") == std::string::npos ? 'r' : 'l');
  lines.push_back(guard() + "red." + one_of("global.", "relaxed.gpu.global.", "") + name + " " +
                  at + ", " + source + ";");
  return statement;
}

/// Says that some thread was here, by the same store for all; each place has its own content.
Statement Generator::mark() {
  const uint64_t place = below(kMarks);
  Statement statement;
  std::string content = std::to_string(place + 1);
  if (place % 2 != 0) {
    statement.before.push_back("ld.param.u32 %x14, [NAME_u1];");
    content = "%x14";
  }
  statement.before.push_back(guard() + "st." + one_of("global.", "global.", "") +
                             "b32 [%counters+" + std::to_string(8 * (kCounters + place)) + "], " +
                             content + ";");
  return statement;
}

}  // namespace km::fuzz
