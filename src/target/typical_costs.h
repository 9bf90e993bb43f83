#pragma once

#include "wavegate/target/costs.h"
#include "wavegate/target/profile.h"

namespace wavegate::target {

/// What commands cost on devices of this kind, until `wavegate calibrate` or the page has measured it.
Costs typical_costs(const Profile& profile);

}  // namespace wavegate::target
