#include "dropin/cupti/activity/activity.h"

namespace km::cupti {

int cuda_major() noexcept { return KM_CUPTI_MAJOR; }

}  // namespace km::cupti
