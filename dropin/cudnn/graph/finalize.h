// Checks that descriptors of the graph API pass before they become final.
#pragma once

#include "dropin/cudnn/graph/descriptor.h"

namespace km::cudnn {

/// Makes a descriptor final, whose mutex is held.
cudnnStatus_t finalize(Descriptor& descriptor);
/// The plan of a final operation graph, which is made when it is first asked for.
cudnnStatus_t plan_of(Descriptor& graph, std::shared_ptr<const Plan>* out);
/// The operation graph that an engine, a configuration, a heuristic or an execution plan is for.
DescriptorPointer graph_of(const Descriptor& descriptor);

}  // namespace km::cudnn
