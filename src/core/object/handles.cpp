#include "core/object/handles.h"

namespace km {
namespace {

void release(Object* object) { object->handle_gone(); }

}  // namespace

constinit detail::HandleTables detail::handle_tables = {{
    {ObjectType::kNone, release},     {ObjectType::kDevice, release},
    {ObjectType::kContext, release},  {ObjectType::kStream, release},
    {ObjectType::kEvent, release},    {ObjectType::kHostMemory, release},
    {ObjectType::kSlice, release},    {ObjectType::kModule, release},
    {ObjectType::kFunction, release}, {ObjectType::kLaunch, release},
    {ObjectType::kProgram, release},  {ObjectType::kPool, release},
    {ObjectType::kGraph, release},    {ObjectType::kGraphExec, release},
    {ObjectType::kBlas, release},     {ObjectType::kTune, release},
    {ObjectType::kFft, release},      {ObjectType::kComm, release},
    {ObjectType::kMemory, release},
}};

}  // namespace km
