// The composition root: the only file that names all backends of this build.
#include "backend/registry.h"
#include "backends/cuda/table/cuda.h"
#include "backends/null/null.h"
#include "base/env.h"
#include "base/log.h"

namespace km {

void register_backends(Registry& registry) {
  registry.add_builtin(cuda_backend());
  registry.add_plugin("cpu");
  registry.add_plugin("vulkan", true);  // drivers of a desktop: for those who name it
  registry.add_plugin("opengl", true);
  const Result<bool> with_null = env_flag(EnvVar::KM_ENABLE_NULL, false);
  if (!with_null) log(LogLevel::kWarn, "env", "%s", with_null.error().message.c_str());
  if (with_null && *with_null) registry.add_builtin(null_backend());
}

}  // namespace km
