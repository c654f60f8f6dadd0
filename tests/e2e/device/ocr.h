// Before and after a text recognition model of the PP-OCR family: an image of one line becomes its input, its output
// becomes text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aot/aot.h"

namespace aot::device {

// Reads an 8-bit binary PGM or PPM, scales it bilinearly to the input's height with its aspect ratio kept (no wider
// than the input), normalises to [-1, 1] and pads with 0 on the right. `input` is float32, 1x3xHxW; channels are blue,
// green, red. False, with a message, for another input or an image that can't be read.
bool ImageToInput(const std::string& image_path, const aot_tensor_info& input, std::vector<uint8_t>* bytes,
                  std::string* message);

// Greedy CTC decoding of `output`, float32, 1xTxC: the best class of each step, repetitions and blanks (class 0)
// dropped. Class i is line i of the key file, counted from 1; a class more than there are lines is the space.
bool OutputToText(const std::string& keys_path, const aot_tensor_info& output, const std::vector<uint8_t>& bytes,
                  std::string* text, std::string* message);

}  // namespace aot::device
