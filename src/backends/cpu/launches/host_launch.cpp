// The entry that launches a kernel.
#include "backends/cpu/launches/host_launch.h"

#include <memory>
#include <new>
#include <utility>

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/launches/device_launches.h"
#include "backends/cpu/launches/launch.h"
#include "backends/cpu/module/module.h"
#include "backends/cpu/stream/stream.h"

namespace km::cpu {
namespace {

/// Prepares the launch of a kernel that launches others.
[[gnu::noinline]] Status prepare_parent(Command* command, const Function& function,
                                        const kmb_launch& launch, Context* context) {
  KM_TRY(prepare_device_launch(command, function, launch, context));
  command->has_more = true;
  auto launches = std::make_unique<DeviceLaunches>(context, &function.module());
  command->run.grid = &launches->root();
  command->launches = std::move(launches);
  return {};
}

}  // namespace

Status prepare_launch(Command* command, const Function& function, const kmb_launch& launch,
                      Context* context) {
  if (function.module().launches_kernels()) [[unlikely]]
    return prepare_parent(command, function, launch, context);
  return prepare_device_launch(command, function, launch, context);
}

km_status launch(kmb_stream* handle, kmb_function* function, const kmb_launch* launch,
                 uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    Context* context = stream->context();
    KM_TRY(context->check());
    struct Discard {
      Stream* stream;
      Command* command;
      ~Discard() {
        if (command != nullptr) stream->discard(command);
      }
    } pending = {stream, stream->allocate()};
    if (pending.command == nullptr) throw std::bad_alloc();
    KM_TRY(prepare_launch(pending.command, *from(function), *launch, context));
    *out_ticket = stream->submit(std::exchange(pending.command, nullptr));
    return {};
  });
}

}  // namespace km::cpu
