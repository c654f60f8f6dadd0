// Tensors in files: .npy (NumPy format 1.0 and 2.0, little-endian, C order) or, with any other name, their raw bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aot/aot.h"

namespace aot::device {

// Reads a tensor for `info`; element type and dims of a .npy must be those of the model, dims of size 1 at the front
// aside. False, with a message that names the file, where it doesn't fit.
bool ReadTensor(const std::string& path, const aot_tensor_info& info, std::vector<uint8_t>* bytes,
                std::string* message);

bool WriteTensor(const std::string& path, const aot_tensor_info& info, const std::vector<uint8_t>& bytes,
                 std::string* message);

// A whole file.
bool ReadFile(const std::string& path, std::string* out, std::string* message);

}  // namespace aot::device
