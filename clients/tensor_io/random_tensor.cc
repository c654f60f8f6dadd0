#include "clients/tensor_io/random_tensor.h"

#include <cmath>

namespace aot::clients {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
uint64_t Next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

reference::Tensor RandomTensor(const reference::TensorType& type, uint64_t seed) {
  reference::Tensor tensor(type);
  if (type.element == reference::ElementType::kString) return tensor;
  const bool narrow = reference::StorageBits(type.element) == 8 && type.element != reference::ElementType::kBool;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = Next(&seed);
    if (reference::IsFloat(type.element)) {
      tensor.SetFloat(i, std::ldexp(static_cast<double>(bits >> 11), -52) - 1.0);
    } else if (narrow && reference::IsSignedInteger(type.element)) {
      tensor.SetInt(i, static_cast<int8_t>(bits >> 56));
    } else if (narrow) {
      tensor.SetInt(i, static_cast<int64_t>(bits >> 56));
    } else {
      tensor.SetInt(i, static_cast<int64_t>(bits >> 63));
    }
  }
  return tensor;
}

}  // namespace aot::clients
