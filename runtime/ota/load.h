// From a slot to a model that runs.
#pragma once

#include "runtime/ota/slots.h"
#include "runtime/ota/state_directory.h"
#include "runtime/ota/status.h"

struct aot_model;

namespace aot::ota {

// Loads the slot's parts, each checked against its digest through the descriptor that is mapped, and runs the
// self-test. The caller owns *out. kDigest where a part is damaged or missing, kIncompatible or kMalformed where this
// runtime can't run the version, kFailedSelfTest where it computes something else than the reference.
Status LoadSlot(StateDirectory* state, const Slot& slot, aot_model** out);

}  // namespace aot::ota
