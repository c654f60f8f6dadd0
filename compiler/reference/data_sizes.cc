// nonzero, unique, non_max_suppression and pack: operations that find as many elements as the data has. Results have
// the size of the largest number, with zeros beyond.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/call.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

const TensorType kCountType = {ElementType::kInt64, {1}};

// The results from `first` on are int64 tensors of this shape, the last is the count.
void RequireResults(Call& call, int first, const Shape& shape) {
  for (int i = first; i < call.result_count(); ++i) {
    const bool is_count = i + 1 == call.result_count();
    call.RequireElement(absl::StrCat("result ", i), call.Result(i).element, ElementType::kInt64);
    call.RequireShape(absl::StrCat("result ", i), call.Result(i).shape, is_count ? kCountType.shape : shape);
  }
}

Results NonZero(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  call.RequireElement("operand 0 (input)", input.element(), ElementType::kBool);
  RequireResults(call, 0, {input.size()});
  if (!call.ok()) return call.status();
  std::vector<Tensor> results{Tensor(call.Result(0)), Tensor(kCountType)};
  int64_t count = 0;
  for (int64_t i = 0; i < input.size(); ++i) {
    if (input.GetInt(i) != 0) results[0].SetInt(count++, i);
  }
  results[1].SetInt(0, count);
  return results;
}

// -1, 0 or 1. NaN equals NaN and is above every number.
template <class T>
int Order(T a, T b) {
  const bool a_is_nan = a != a, b_is_nan = b != b;
  if (a_is_nan || b_is_nan) return int{a_is_nan} - int{b_is_nan};
  return a < b ? -1 : a > b ? 1 : 0;
}

Results Unique(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const bool sorted = call.Flag("sorted");
  call.RequireNumeric(input);
  call.Require(input.shape().size() == 2, "operand 0 (input) of shape ", ToString(input.shape()), " is no matrix");
  if (!call.ok()) return call.status();
  const int64_t rows = input.shape()[0], columns = input.shape()[1];
  RequireResults(call, 0, {rows});
  if (!call.ok()) return call.status();

  // The first row of those that equal each one: equal rows stay in order.
  std::vector<int64_t> order(static_cast<size_t>(rows)), first(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  WithComputeType(input.element(), [&](auto tag) {
    using T = decltype(tag);
    Values<T> data(input);
    auto compare = [&](int64_t a, int64_t b) {
      for (int64_t i = 0; i < columns; ++i) {
        if (int order = Order(data[a * columns + i], data[b * columns + i]); order != 0) return order;
      }
      return 0;
    };
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int by_value = compare(a, b);
      return by_value != 0 ? by_value < 0 : a < b;
    });
    for (size_t k = 0; k < order.size(); ++k) {
      const bool same = k > 0 && compare(order[k - 1], order[k]) == 0;
      first[static_cast<size_t>(order[k])] = same ? first[static_cast<size_t>(order[k - 1])] : order[k];
    }
  });
  if (!sorted) std::iota(order.begin(), order.end(), 0);

  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) results.emplace_back(call.Result(i));
  Tensor &positions = results[0], &inverse = results[1], &repeats = results[2];
  int64_t count = 0;
  for (int64_t row : order) {
    const int64_t representative = first[static_cast<size_t>(row)];
    if (representative == row) {
      positions.SetInt(count, row);
      inverse.SetInt(row, count++);
    }
    const int64_t number = inverse.GetInt(representative);
    inverse.SetInt(row, number);
    repeats.SetInt(number, repeats.GetInt(number) + 1);
  }
  results[3].SetInt(0, count);
  return results;
}

struct Box {
  float low_y, low_x, high_y, high_x;
  float area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box ReadBox(const Tensor& boxes, int64_t row, bool center) {
  float v[4];
  for (int64_t i = 0; i < 4; ++i) v[i] = static_cast<float>(boxes.GetFloat(row * 4 + i));
  if (center) {
    const float half_width = v[2] * 0.5f, half_height = v[3] * 0.5f;
    return {v[1] - half_height, v[0] - half_width, v[1] + half_height, v[0] + half_width};
  }
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

// Whether the intersection over union is above the threshold. Boxes without an area overlap nothing.
bool Overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (!(height > 0) || !(width > 0)) return false;
  const float intersection = height * width;
  const float area = a.area() + b.area() - intersection;
  return area > 0 && intersection / area > threshold;
}

Results NonMaxSuppression(Call& call) {
  const Tensor &boxes = call.Operand(0, "boxes"), &scores = call.Operand(1, "scores");
  const Tensor& limit = call.Operand(2, "limit");
  const Tensor *iou = call.OptionalOperand(3), *least = call.OptionalOperand(4);
  const bool center = call.Flag("center");
  for (const Tensor* tensor : {&boxes, &scores}) {
    call.RequireElement("boxes or scores", tensor->element(), ElementType::kFloat32);
    call.Require(tensor->shape().size() == 3, "boxes or scores of shape ", ToString(tensor->shape()), " need rank 3");
  }
  call.RequireElement("operand 2 (limit)", limit.element(), ElementType::kInt64);
  for (const Tensor* one : {&limit, iou, least}) {
    if (one) call.Require(one->size() == 1, "a limit or threshold has ", one->size(), " elements, needs 1");
  }
  if (!call.ok()) return call.status();
  const int64_t batches = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];
  call.RequireShape("operand 0 (boxes)", boxes.shape(), {batches, count, 4});
  call.Require(call.Result(0).shape.size() == 2, "result 0 (selected) needs rank 2");
  if (!call.ok()) return call.status();
  const int64_t room = call.Result(0).shape[0];
  RequireResults(call, 0, {room, 3});
  if (!call.ok()) return call.status();

  const float threshold = iou ? static_cast<float>(iou->GetFloat(0)) : 0.0f;
  std::vector<Tensor> results{Tensor(call.Result(0)), Tensor(kCountType)};
  int64_t selected = 0;
  for (int64_t line = 0; line < batches * classes; ++line) {
    const int64_t batch = line / classes;
    auto score = [&](int64_t i) { return scores.GetFloat(line * count + i); };
    std::vector<int64_t> candidates;
    for (int64_t i = 0; i < count; ++i) {
      if (least ? score(i) > least->GetFloat(0) : !std::isnan(score(i))) candidates.push_back(i);
    }
    std::sort(candidates.begin(), candidates.end(),
              [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
    std::vector<Box> taken;
    for (int64_t candidate : candidates) {
      if (static_cast<int64_t>(taken.size()) >= limit.GetInt(0) || selected >= room) break;
      const Box box = ReadBox(boxes, batch * count + candidate, center);
      if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return Overlap(box, other, threshold); }))
        continue;
      taken.push_back(box);
      results[0].SetInt(selected * 3, batch);
      results[0].SetInt(selected * 3 + 1, line % classes);
      results[0].SetInt(selected * 3 + 2, candidate);
      ++selected;
    }
  }
  results[1].SetInt(0, selected);
  return results;
}

Results Pack(Call& call) {
  const Tensor &input = call.Operand(0, "input"), &dims = call.Operand(1, "dims");
  call.RequireElement("operand 1 (dims)", dims.element(), ElementType::kInt64);
  call.RequireElement("the result", call.Result().element, input.element());
  call.RequireShape("the result", call.Result().shape, input.shape());
  const int64_t rank = static_cast<int64_t>(input.shape().size());
  call.RequireShape("operand 1 (dims)", dims.shape(), {rank});
  if (!call.ok()) return call.status();
  Tensor result(call.Result());
  int64_t next = 0;
  for (int64_t i = 0; i < input.size(); ++i) {
    bool inside = true;
    int64_t rest = i;
    for (int64_t d = rank - 1; d >= 0; --d) {
      const int64_t size = input.shape()[static_cast<size_t>(d)];
      inside = inside && rest % size < dims.GetInt(d);
      rest /= size;
    }
    if (inside) CopyElements(input, i, result, next++, 1);
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {
    {"nonzero", NonZero}, {"unique", Unique}, {"non_max_suppression", NonMaxSuppression}, {"pack", Pack}};

}  // namespace

absl::Span<const Kernel> DataSizeKernels() { return kKernels; }

}  // namespace aot::reference
