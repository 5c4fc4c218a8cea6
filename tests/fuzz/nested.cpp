// Statements around others: branches and loops, of a block as a whole or of each thread.
#include "generator.h"

namespace km::fuzz {

namespace {

/// Lines that keep a mask up to date are left out where it is not known.
void add_if(std::vector<std::string>& lines, bool condition, std::string line) {
  if (condition) lines.push_back(std::move(line));
}

}  // namespace

/// How often a thread is to go round: a few times, as its number or its data says.
std::string Generator::own_count() {
  return "and.b32 %c$, " + one_of("%self", "%lane", "%r4", "%r2", "%r5") + ", " +
         one_of("1", "3", "5") + ";";
}

/// A loop's counter is seen: inside all lanes may have the same, and each its own behind the loop.
void Generator::use_count(std::vector<std::string>& lines) {
  if (!chance(40)) return;
  const std::string target = reg('r');
  lines.push_back(one_of("add.u32 ", "xor.b32 ") + target + ", " + target + ", %c$;");
}

Statement Generator::divergent_if(const Place& place) {
  Statement statement;
  const std::string id = std::to_string(masks_++), yes = "%m" + id, no = "%n" + id;
  auto& lines = statement.before;
  set_predicate(lines, "%q$");
  const bool masks = !place.mask.empty() && chance(70);
  add_if(lines, masks, "vote.sync.ballot.b32 " + yes + ", %q$, " + place.mask + ";");
  add_if(lines, masks, "vote.sync.ballot.b32 " + no + ", !%q$, " + place.mask + ";");
  Place inner{false, masks ? yes : "", place.depth + 1};
  const bool has_else = chance(45);
  lines.push_back(has_else ? "@!%q$ bra ELSE$;" : "@!%q$ bra END$;");
  Statement::Body first{statements(inner, 5), {}};
  if (!has_else) {
    first.after = {"END$:"};
    statement.bodies = {std::move(first)};
    return statement;
  }
  first.after = {"bra END$;", "ELSE$:"};
  inner.mask = masks ? no : "";
  statement.bodies = {std::move(first), {statements(inner, 5), {"END$:"}}};
  return statement;
}

Statement Generator::uniform_if(const Place& place) {
  Statement statement;
  set_uniform(statement.before, "%c$", 3);
  statement.before.push_back("setp.ne.u32 %q$, %c$, " + one_of("0", "1") + ";");
  statement.before.push_back("@%q$ bra END$;");
  const Place inner{place.converged, place.mask, place.depth + 1};
  statement.bodies = {{statements(inner, 6), {"END$:"}}};
  return statement;
}

Statement Generator::uniform_loop(const Place& place) {
  Statement statement;
  set_uniform(statement.before, "%c$", 4);
  const bool test_first = chance(50);
  statement.before.push_back("LOOP$:");
  if (test_first) {
    statement.before.push_back("setp.eq.u32 %q$, %c$, 0;");
    statement.before.push_back("@%q$ bra END$;");
  }
  const Place inner{place.converged, place.mask, place.depth + 1};
  Statement::Body body{statements(inner, 6), {}};
  body.after.push_back("sub.s32 %c$, %c$, 1;");
  if (test_first) {
    body.after.push_back("bra LOOP$;");
    body.after.push_back("END$:");
  } else {
    body.after.push_back("setp.gt.s32 %q$, %c$, 0;");
    body.after.push_back("@%q$ bra LOOP$;");
  }
  statement.bodies = {std::move(body)};
  return statement;
}

/// Each thread goes round as often as its own number says.
Statement Generator::divergent_loop(const Place& place) {
  Statement statement;
  const std::string mask = "%m" + std::to_string(masks_++);
  auto& lines = statement.before;
  lines.push_back(own_count());
  const bool masks = !place.mask.empty() && chance(60);
  add_if(lines, masks, "setp.eq.u32 %q$, 0, 0;");
  add_if(lines, masks, "vote.sync.ballot.b32 " + mask + ", %q$, " + place.mask + ";");
  lines.push_back("LOOP$:");
  const Place inner{false, masks ? mask : "", place.depth + 1};
  Statement::Body body{statements(inner, 5), {}};
  body.after.push_back("sub.s32 %c$, %c$, 1;");
  body.after.push_back("setp.gt.s32 %q$, %c$, 0;");
  add_if(body.after, masks, "vote.sync.ballot.b32 " + mask + ", %q$, " + mask + ";");
  body.after.push_back("@%q$ bra LOOP$;");
  statement.bodies = {std::move(body)};
  use_count(statement.bodies.back().after);
  return statement;
}

/// From the thread's index on in steps of many: warps, and lanes of the last one, end early.
Statement Generator::strided_loop(const Place& place) {
  Statement statement;
  auto& lines = statement.before;
  const bool test_first = chance(50);
  lines.push_back("mov.u32 %c$, " + one_of("%self", "%tid.x", "%lane", "%global") + ";");
  const std::string bound = one_of("20", "64", "70", "100", "129");
  const std::string test = "setp." + one_of("ge.u32", "ge.s32") + " %q$, %c$, " + bound + ";";
  const bool masks = !place.mask.empty() && !test_first && chance(50);
  const std::string mask = "%m" + std::to_string(masks_++);
  add_if(lines, test_first, "LOOP$:");
  lines.push_back(test);
  add_if(lines, masks, "vote.sync.ballot.b32 " + mask + ", !%q$, " + place.mask + ";");
  lines.push_back("@%q$ bra END$;");
  add_if(lines, !test_first, "LOOP$:");
  if (chance(60)) {
    lines.push_back("mad.wide.u32 %y3, %c$, " + one_of("4", "8", "12") + ", %in;");
    lines.push_back("ld.global.b32 " + reg('r') + ", [%y3];");
  }
  use_count(lines);
  const Place inner{false, masks ? mask : "", place.depth + 1};
  Statement::Body body{statements(inner, 4), {}};
  body.after.push_back("add.u32 %c$, %c$, " + one_of("32", "40", "64", "48") + ";");
  if (test_first) {
    body.after.push_back("bra LOOP$;");
  } else {
    body.after.push_back(test);
    add_if(body.after, masks, "vote.sync.ballot.b32 " + mask + ", !%q$, " + mask + ";");
    body.after.push_back("@!%q$ bra LOOP$;");
  }
  body.after.push_back("END$:");
  statement.bodies = {std::move(body)};
  use_count(statement.bodies.back().after);
  return statement;
}

/// Warps as a whole go one way or the other.
Statement Generator::warp_if(const Place& place) {
  Statement statement;
  statement.before = {
      "shr.u32 %c$, %self, 5;",
      "setp." + one_of("eq", "ne", "lt", "gt") + ".u32 %q$, %c$, " + one_of("0", "1", "2") + ";",
      "@%q$ bra END$;"};
  const Place inner{false, place.mask, place.depth + 1};
  statement.bodies = {{statements(inner, 5), {"END$:"}}};
  return statement;
}

/// Each thread goes round as often as its own number says, and leaves at the beginning or inside.
Statement Generator::leaving_loop(const Place& place) {
  Statement statement;
  auto& lines = statement.before;
  const bool counts = chance(60);
  lines.push_back(own_count());
  lines.push_back("LOOP$:");
  use_count(lines);
  const Place inner{false, "", place.depth + 1};
  Statement::Body first{chance(50) ? statements(inner, 2) : std::vector<Statement>{}, {}};
  if (counts) {
    first.after.push_back("setp.eq.u32 %q$, %c$, 0;");
  } else {
    first.after = {"setp.gt.u32 %q$, %c$, 6;", "@%q$ bra END$;"};
    set_predicate(first.after, "%q$");
  }
  first.after.push_back("@%q$ bra END$;");
  first.after.push_back(counts ? "sub.u32 %c$, %c$, 1;" : "add.u32 %c$, %c$, 1;");
  Statement::Body second{statements(inner, 5), {"bra LOOP$;", "END$:"}};
  statement.bodies = {std::move(first), std::move(second)};
  use_count(statement.bodies.back().after);
  return statement;
}

/// A loop with two more ways out, one of them back to its start.
Statement Generator::breaking_loop(const Place& place) {
  Statement statement;
  statement.before = {"mov.u32 %c$, 0;", "LOOP$:", "add.u32 %c$, %c$, 1;",
                      "setp.gt.u32 %q$, %c$, " + one_of("2", "3", "5") + ";", "@%q$ bra END$;"};
  use_count(statement.before);
  const Place inner{false, "", place.depth + 1};
  Statement::Body first{statements(inner, 4), {}};
  set_predicate(first.after, "%q$");
  first.after.push_back("@%q$ bra END$;");
  Statement::Body second{statements(inner, 3), {}};
  set_predicate(second.after, "%q$");
  second.after.push_back("@%q$ bra LOOP$;");
  Statement::Body third{statements(inner, 3), {"bra LOOP$;", "END$:"}};
  statement.bodies = {std::move(first), std::move(second), std::move(third)};
  use_count(statement.bodies.back().after);
  return statement;
}

/// A loop without a way out but at its end, which iterations before the last may not come to.
Statement Generator::searching_loop(const Place& place) {
  Statement statement;
  statement.before = {"mov.u32 %c$, 0;", "LOOP$:", "add.u32 %c$, %c$, 1;"};
  use_count(statement.before);
  const std::string last = one_of("3", "4", "6");
  const Place inner{false, "", place.depth + 1};
  for (uint64_t parts = 1 + below(3); parts > 0; --parts) {
    Statement::Body body{statements(inner, 3), {}};
    set_predicate(body.after, "%q$");
    body.after.push_back("setp.lt.and.u32 %q$, %c$, " + last + ", %q$;");
    body.after.push_back("@%q$ bra LOOP$;");
    statement.bodies.push_back(std::move(body));
  }
  use_count(statement.bodies.back().after);
  return statement;
}

/// Two loops with nothing in between, each left at its beginning.
Statement Generator::loops_in_a_row(const Place& place) {
  Statement statement;
  statement.before = {"and.b32 %c$, " + reg('r') + ", 15;", "LOOP$:", "and.b32 %x14, %c$, 3;",
                      "setp.eq.u32 %q$, %x14, 0;", "@%q$ bra NEXT$;"};
  const Place inner{false, "", place.depth + 1};
  Statement::Body first{statements(inner, 3), {}}, second{statements(inner, 3), {}};
  first.after = {"sub.u32 %c$, %c$, 1;", "bra LOOP$;", "NEXT$:", "setp.lt.u32 %q$, %c$, 4;",
                 "@%q$ bra END$;"};
  second.after = {"sub.u32 %c$, %c$, 4;", "bra NEXT$;", "END$:"};
  statement.bodies = {std::move(first), std::move(second)};
  use_count(statement.bodies.back().after);
  return statement;
}

/// A loop that is entered at two places.
Statement Generator::irreducible_loop(const Place& place) {
  Statement statement;
  statement.before = {"mov.u32 %c$, 0;"};
  set_predicate(statement.before, "%q$");
  statement.before.push_back("@%q$ bra INSIDE$;");
  statement.before.push_back("LOOP$:");
  const Place inner{false, "", place.depth + 1};
  Statement::Body first{statements(inner, 3), {"INSIDE$:", "add.u32 %c$, %c$, 1;"}};
  Statement::Body second{statements(inner, 3), {}};
  second.after = {"setp.lt.u32 %q$, %c$, " + one_of("2", "3") + ";", "@%q$ bra LOOP$;"};
  statement.bodies = {std::move(first), std::move(second)};
  use_count(statement.bodies.back().after);
  return statement;
}

Statement Generator::select(const Place& place) {
  Statement statement;
  const bool uniform = chance(25);
  if (uniform) {
    set_uniform(statement.before, "%c$", 4);
  } else {
    statement.before.push_back("and.b32 %c$, " + reg('r') + ", 3;");
  }
  statement.before.push_back("T$: .branchtargets A$, B$, C$, A$;");
  statement.before.push_back("brx.idx %c$, T$;");
  statement.before.push_back("A$:");
  const Place inner{false, "", place.depth + 1};
  const bool falls_through = chance(30);
  Statement::Body first{statements(inner, 4), {}}, second{statements(inner, 4), {}};
  if (!falls_through) first.after.push_back("bra END$;");
  first.after.push_back("B$:");
  second.after = {"bra END$;", "C$:"};
  Statement::Body third{statements(inner, 4), {"END$:"}};
  statement.bodies = {std::move(first), std::move(second), std::move(third)};
  return statement;
}

Statement Generator::early_exit() {
  Statement statement;
  if (chance(50)) {
    set_by_index(statement.before, "%q$");
  } else {
    set_predicate(statement.before, "%q$");
  }
  // As a guard, or as the branch that compilers make of `if (...) return;`.
  if (chance(50)) {
    statement.before.push_back("@%q$ " + one_of("exit", "ret") + ";");
  } else {
    statement.before.push_back("@!%q$ bra GOES_ON$;");
    statement.before.push_back(one_of("exit;", "ret;"));
    statement.before.push_back("GOES_ON$:");
  }
  return statement;
}

}  // namespace km::fuzz
