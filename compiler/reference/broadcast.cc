#include "compiler/reference/broadcast.h"

#include <algorithm>

namespace aot::reference {

Strides ContiguousStrides(const Shape& shape) {
  Strides strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

int64_t SizeOfDimensions(const Shape& shape, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t d = begin; d < end; ++d) size *= shape[d];
  return size;
}

std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    int64_t sa = i <= a.size() ? a[a.size() - i] : 1, sb = i <= b.size() ? b[b.size() - i] : 1;
    if (sa != sb && sa != 1 && sb != 1) return std::nullopt;
    result[result.size() - i] = sa == 1 ? sb : sa;
  }
  return result;
}

std::optional<Strides> BroadcastStrides(const Shape& shape, const Shape& result) {
  if (shape.size() > result.size()) return std::nullopt;
  Strides own = ContiguousStrides(shape), strides(result.size(), 0);
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t size = shape[shape.size() - i];
    if (size == 1) continue;
    if (size != result[result.size() - i]) return std::nullopt;
    strides[result.size() - i] = own[shape.size() - i];
  }
  return strides;
}

}  // namespace aot::reference
