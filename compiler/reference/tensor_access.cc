#include "compiler/reference/tensor_access.h"

#include <algorithm>

namespace aot::reference {
namespace {

// Whether the bytes of a tensor of this type are an array of T.
template <class T>
bool IsStorageOf(ElementType type) {
  if constexpr (std::is_same_v<T, float>) return type == ElementType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return type == ElementType::kFloat64;
  return type == ElementType::kInt64 || type == ElementType::kUint64;
}

}  // namespace

template <class T>
Values<T>::Values(const Tensor& tensor) : data_(nullptr), size_(tensor.size()) {
  const uint8_t* bytes = tensor.bytes().data();
  bool same = IsStorageOf<T>(tensor.element());
  if (same && reinterpret_cast<uintptr_t>(bytes) % alignof(T) == 0) {
    data_ = reinterpret_cast<const T*>(bytes);
    return;
  }
  copy_.resize(static_cast<size_t>(size_));
  if (same) {
    if (size_ != 0) std::memcpy(copy_.data(), bytes, tensor.bytes().size());
  } else {
    for (int64_t i = 0; i < size_; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        copy_[static_cast<size_t>(i)] = static_cast<T>(tensor.GetFloat(i));
      } else {
        copy_[static_cast<size_t>(i)] = static_cast<T>(tensor.GetInt(i));
      }
    }
  }
  data_ = copy_.data();
}

template <class T>
Tensor FromValues(const TensorType& type, absl::Span<const T> values) {
  Tensor tensor(type);
  if (IsStorageOf<T>(type.element)) {
    if (!values.empty()) std::memcpy(tensor.mutable_bytes().data(), values.data(), values.size() * sizeof(T));
    return tensor;
  }
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      tensor.SetFloat(i, values[static_cast<size_t>(i)]);
    } else {
      tensor.SetInt(i, static_cast<int64_t>(values[static_cast<size_t>(i)]));
    }
  }
  return tensor;
}

template class Values<float>;
template class Values<double>;
template class Values<int64_t>;
template class Values<uint64_t>;
template Tensor FromValues(const TensorType&, absl::Span<const float>);
template Tensor FromValues(const TensorType&, absl::Span<const double>);
template Tensor FromValues(const TensorType&, absl::Span<const int64_t>);
template Tensor FromValues(const TensorType&, absl::Span<const uint64_t>);

void CopyElements(const Tensor& from, int64_t from_index, Tensor& to, int64_t to_index, int64_t count) {
  if (count == 0) return;
  if (from.element() == ElementType::kString) {
    std::copy_n(from.strings->begin() + from_index, count, to.strings->begin() + to_index);
    return;
  }
  int64_t size = StorageBits(from.element()) / 8;
  std::memcpy(to.mutable_bytes().data() + to_index * size, from.bytes().data() + from_index * size,
              static_cast<size_t>(count * size));
}

}  // namespace aot::reference
