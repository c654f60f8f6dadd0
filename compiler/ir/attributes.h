// Attributes that passes leave on operations for later ones, beside what the operations define.
#pragma once

namespace aot::nn {

// On nn.quantize: its input is a product that may go unrounded into the rounding to an integer.
inline constexpr char kRoundsOnce[] = "aot.rounds_once";

}  // namespace aot::nn
