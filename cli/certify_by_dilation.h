// snapdp certify --by dilation: the privacy of a mechanism checked in interval arithmetic.
#pragma once

#include <string>

#include "mechanism_options.h"

namespace snapdp::cli {

// Prints the answer; throws ExitWith with exit code 1 when the claim is false. `tolerance` as typed; empty for the default.
void certify_by_dilation(const MechanismArguments& arguments, const std::string& tolerance);

}  // namespace snapdp::cli
