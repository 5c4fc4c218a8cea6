// Checks the models: each has to hold with the orders that the code has, and to fail with one that
// is too weak. Arguments: how many schedules of each are tried.
#include <cstdio>
#include <cstdlib>

#include "commands.h"
#include "handle_slot.h"
#include "idle_workers.h"
#include "jobs.h"
#include "ready_list.h"

namespace km::relacy {
namespace {

template <template <Orders> class Model>
bool check(const char* name, unsigned iterations) {
  const bool right = holds<Model<Orders::as_they_are>>(iterations);
  const bool weak = holds<Model<Orders::too_weak>>(iterations);
  if (!right) std::printf("%s: a schedule breaks it\n", name);
  if (weak) std::printf("%s: no schedule breaks it with an order that is too weak\n", name);
  return right && !weak;
}

bool check_all(unsigned iterations) {
  bool good = check<ReadyList>("ready list", iterations);
  good = check<IdleWorkers>("idle workers", iterations) && good;
  good = check<Jobs>("jobs", iterations) && good;
  good = check<HandleSlot>("handle slot", iterations) && good;
  good = check<Commands>("commands", iterations) && good;
  return check<Tickets>("tickets", iterations) && good;
}

}  // namespace
}  // namespace km::relacy

int main(int argc, char** argv) {
  const int iterations = argc == 2 ? std::atoi(argv[1]) : 0;
  if (iterations > 0) return km::relacy::check_all(static_cast<unsigned>(iterations)) ? 0 : 1;
  std::fprintf(stderr, "usage: %s SCHEDULES\n", argv[0]);
  return 2;
}
