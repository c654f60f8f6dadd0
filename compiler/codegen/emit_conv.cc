// Convolutions: the filter's taps are segments of one long reduction over an image that carries its halo.
#include "compiler/codegen/contraction.h"
#include "compiler/codegen/dot_product.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace {

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }

// Index of an element given in the order (n, spatial..., channel), for either layout.
Indices ImageIndex(bool channels_last, LaneIndex n, llvm::ArrayRef<LaneIndex> spatial, LaneIndex channel) {
  Indices index = {n};
  if (!channels_last) index.push_back(channel);
  index.append(spatial.begin(), spatial.end());
  if (channels_last) index.push_back(channel);
  return index;
}

// Copies image n into scratch as [spatial..., pitch] with its halo, which holds the zero point: what zero lies at.
void CopyImage(KernelContext& context, Value input, bool channels_last, Value n, llvm::ArrayRef<int64_t> pads,
               int64_t zero_point, const Buffer& image) {
  Emitter& e = context.emitter;
  llvm::ArrayRef<int64_t> padded = context.plan.padded_shape;
  auto shape = ShapeOf(input);
  size_t spatial = padded.size() - 1;
  int64_t channels = padded.back(), pitch = context.plan.input_pitch;
  bool widen = context.plan.dot && context.plan.dot->widen;
  mlir::Type computed = e.ComputeType(image.element), element_type = nn::TensorTypeOf(input).getElementType();
  Value zero = zero_point == 0 || widen ? e.Zero(computed, 1) : e.IntConstant(computed, zero_point, 1);
  llvm::SmallVector<Value> position;
  // Per dimension: the halo before, the inside, the halo behind. Negative pads crop.
  std::function<void(size_t, Value, int64_t)> level = [&](size_t d, Value start, int64_t size) {
    if (d == spatial) {
      e.Vectors(channels, e.Lanes(image.element), [&](Value channel, int lanes) {
        llvm::SmallVector<LaneIndex> at;
        for (Value p : position) at.push_back({p, 0});
        Value element = context.evaluator.Evaluate(input, ImageIndex(channels_last, {n, 0}, at, {channel, 1}), lanes);
        if (widen) element = EmitCentred(e, element, element_type, zero_point, lanes);
        e.Store(element, image, e.Add(start, channel), 1, lanes);
      });
      e.Fill(image, e.Add(start, channels), pitch - channels, zero);  // multiplied by zeros
      return;
    }
    int64_t step = size / padded[d], in = shape[channels_last ? d + 1 : d + 2];
    int64_t before = std::max<int64_t>(0, pads[d]), crop = std::max<int64_t>(0, -pads[d]);
    int64_t after = std::max<int64_t>(0, pads[d + spatial]);
    int64_t inside = std::min(in - crop, padded[d] - before - after);
    e.Fill(image, start, before * step, zero);
    e.Fill(image, e.Add(start, (before + inside) * step), (padded[d] - before - inside) * step, zero);
    e.For(inside, [&](Value i) {
      position.push_back(e.Add(i, crop));
      level(d + 1, e.Add(start, e.Mul(e.Add(i, before), step)), step);
      position.pop_back();
    });
  };
  int64_t elements = pitch;
  for (size_t d = 0; d < spatial; ++d) elements *= padded[d];
  level(0, e.Constant(0), elements);
}

}  // namespace

absl::Status EmitConv(KernelContext& context, nn::ConvOp op) {
  Emitter& e = context.emitter;
  const schedule::KernelPlan& plan = context.plan;
  bool last = op.getChannelsLast();
  auto input = ShapeOf(op.getInput()), result = ShapeOf(op.getResult());
  size_t spatial = input.size() - 2;
  int64_t group = op.getGroup(), channels = last ? input.back() : input[1];
  int64_t features = last ? result.back() : result[1], per_group = channels / group;
  int64_t features_per_group = features / group;
  bool depthwise = group > 1 && per_group == 1 && features_per_group == 1;
  llvm::ArrayRef<int64_t> image = plan.padded_shape;  // what the contraction reads, channels last
  mlir::Type input_element = nn::TensorTypeOf(op.getInput()).getElementType();

  // Strides of the image's dimensions, in bytes for dot products.
  int64_t image_unit = plan.dot && plan.dot->widen ? 2 : 1;
  llvm::SmallVector<int64_t> image_strides(spatial, image_unit * plan.input_pitch);
  for (size_t d = spatial - 1; d-- > 0;) image_strides[d] = image_strides[d + 1] * image[d + 1];
  int64_t image_elements = image_strides[0] * image[0];

  Contraction c;
  c.tile = plan.tile;
  c.outer = {result[0], depthwise ? 1 : group};
  for (size_t d = 0; d + 1 < spatial; ++d) c.outer.push_back(result[last ? d + 1 : d + 2]);
  c.panel_depth = 2;
  c.rows = result[last ? spatial : spatial + 1];
  c.cols = depthwise ? features : features_per_group;
  c.accumulator = e.ComputeType(nn::TensorTypeOf(op.getResult()).getElementType());
  c.result = op.getResult();
  c.lhs_row_stride = op.getStrides()[spatial - 1] * image_strides[spatial - 1];
  c.lhs_col_stride = depthwise ? 1 : 0;
  for (size_t d = 0; d < spatial; ++d) {
    c.k_sizes.push_back(op.getChannelsLast() ? ShapeOf(op.getFilter())[d] : ShapeOf(op.getFilter())[d + 2]);
    c.lhs_k_strides.push_back(op.getDilations()[d] * image_strides[d]);
  }
  c.k_sizes.push_back(per_group);
  c.lhs_k_strides.push_back(1);
  // Neighbouring taps of a row whose channels lie side by side are one longer segment.
  if (last && group == 1 && plan.input_pitch == channels && op.getDilations().back() == 1) {
    c.k_sizes[spatial - 1] *= c.k_sizes[spatial];
    c.k_sizes.pop_back();
    c.lhs_k_strides.erase(c.lhs_k_strides.begin() + static_cast<ptrdiff_t>(spatial) - 1);
  }
  c.lhs_zero_point = op.getInputZeroPoint();
  c.dot = plan.dot;
  if (plan.dot) {
    c.k_sizes.back() = (c.k_sizes.back() + plan.packing.products - 1) / plan.packing.products;
    c.lhs_k_strides.back() = 4;
  }

  bool copy = plan.copy_input;
  mlir::Type copied = image_unit == 2 ? mlir::Type(e.builder().getI16Type()) : input_element;
  Buffer image_copy;
  if (copy) {
    image_copy = context.Scratch(plan.input_offset, image_elements / image_unit, copied);
    c.lhs = plan.dot ? context.Scratch(plan.input_offset, image_elements, e.builder().getI8Type()) : image_copy;
  } else {
    c.lhs = context.evaluator.BufferOf(op.getInput());
  }
  c.lhs_base = [&, copy](llvm::ArrayRef<Value> outer) {
    Value base = copy ? e.Constant(0) : e.Mul(outer[0], image_elements);
    base = e.Add(base, e.Mul(outer[1], per_group * image_unit));
    for (size_t d = 0; d + 1 < spatial; ++d)
      base = e.Add(base, e.Mul(outer[d + 2], op.getStrides()[d] * image_strides[d]));
    return base;
  };

  mlir::Type filter_element = nn::TensorTypeOf(op.getFilter()).getElementType();
  int64_t panel_elements = plan.packing.cols * (plan.dot ? 1 + plan.packing.words() : plan.packing.depth());
  c.rhs_packed = true;
  c.rhs = plan.pack_at_run_time ? context.Scratch(plan.pack_offset, panel_elements, filter_element)
                                : context.evaluator.BufferOf(op.getFilter());
  bool pack = plan.pack_at_run_time;
  if (!pack && c.tile.panel_outer) {
    c.rhs_ahead = plan.packing.width * (plan.dot ? 1 + plan.packing.words() : plan.packing.depth());
    c.rhs_ahead_depth = c.panel_depth;
  }
  c.rhs_base = [&, pack](llvm::ArrayRef<Value> outer) {
    return pack ? e.Constant(0) : e.Mul(outer[1], panel_elements);
  };
  auto pack_filter = [&](llvm::ArrayRef<Value> outer) {
    auto index = [&](llvm::ArrayRef<Value> k, Value col, int64_t lane_step) {
      LaneIndex feature{e.Add(e.Mul(outer[1], features_per_group), col), lane_step};
      Indices at;
      if (!last) at = {feature, {k[spatial], 0}};
      for (size_t d = 0; d < spatial; ++d) at.push_back({k[d], 0});
      if (last) at.append({{k[spatial], 0}, feature});
      return at;
    };
    EmitPacking(context.evaluator, plan.packing, op.getFilter(), c.rhs, index, plan.tile.lanes);
  };
  if (copy || pack) {
    // With run-time packing both happen for each image and group; an image alone is copied once.
    c.prepare_depth = pack ? 2 : 1;
    c.prepare = [&, copy, pack](llvm::ArrayRef<Value> outer) {
      if (copy) CopyImage(context, op.getInput(), last, outer[0], op.getPads(), op.getInputZeroPoint(), image_copy);
      if (pack) pack_filter(outer);
    };
  }
  // The bias is evaluated at the feature's number, which with groups is not the column.
  bool simple_bias = op.getBias() && (group == 1 || depthwise);
  if (simple_bias) c.bias = op.getBias();
  c.result_index = [&](llvm::ArrayRef<Value> outer, Value row, Value col, int64_t lane_step) {
    llvm::SmallVector<LaneIndex> at;
    for (size_t d = 0; d + 1 < spatial; ++d) at.push_back({outer[d + 2], 0});
    at.push_back({row, 0});
    return ImageIndex(last, {outer[0], 0}, at, {e.Add(e.Mul(outer[1], features_per_group), col), lane_step});
  };
  if (context.plan.prefetch) c.prefetch = [&](const Indices& index) { context.PrefetchResults(index); };
  EmitContraction(context.evaluator, c, [&](const Indices& index, int lanes) {
    if (op.getBias() && !simple_bias) {
      Value sum = context.evaluator.Evaluate(op.getResult(), index, lanes);
      Value bias = context.evaluator.Evaluate(op.getBias(), {last ? index.back() : index[1]}, lanes);
      context.evaluator.BindElement(op.getResult(), EmitAdd(e, sum, bias));
    }
    context.StoreResults(index, lanes);
  });
  return absl::OkStatus();
}

absl::Status EmitConvTranspose(KernelContext& context, nn::ConvTransposeOp op) {
  Emitter& e = context.emitter;
  const schedule::KernelPlan& plan = context.plan;
  if (plan.copy_input)
    return absl::UnimplementedError("conv_transpose: the input must not be computed in the same group");
  bool last = op.getChannelsLast();
  auto input = ShapeOf(op.getInput()), result = ShapeOf(op.getResult());
  size_t spatial = input.size() - 2;
  int64_t group = op.getGroup(), channels = last ? input.back() : input[1], per_group = channels / group;
  int64_t features_per_group = plan.packing.cols;
  llvm::SmallVector<int64_t> in(spatial), out(spatial), strides(spatial);
  int64_t channel_stride = 1, stride = last ? channels : 1;
  for (size_t d = spatial; d-- > 0;) {
    in[d] = input[last ? d + 1 : d + 2];
    out[d] = result[last ? d + 1 : d + 2];
    strides[d] = stride;
    stride *= in[d];
  }
  int64_t image_elements = last ? stride : stride * channels;
  if (!last) channel_stride = stride;

  Contraction c;
  c.tile = plan.tile;
  c.tile.rows = 1;
  c.tile.panel_outer = false;
  c.outer = {result[0], group};
  c.outer.append(out.begin(), out.end() - 1);
  c.rows = out.back();
  c.cols = features_per_group;
  c.accumulator = e.ComputeType(nn::TensorTypeOf(op.getResult()).getElementType());
  c.result = op.getResult();
  c.k_sizes.assign(plan.packing.k_sizes.begin(), plan.packing.k_sizes.end());
  c.lhs_k_strides.assign(spatial, 0);
  c.lhs_k_strides.push_back(channel_stride);
  c.lhs = context.evaluator.BufferOf(op.getInput());
  int64_t panel_elements = plan.packing.depth() * plan.packing.cols;
  bool pack = plan.pack_at_run_time;
  c.rhs_packed = true;
  c.rhs = pack ? context.Scratch(plan.pack_offset, panel_elements, nn::TensorTypeOf(op.getFilter()).getElementType())
               : context.evaluator.BufferOf(op.getFilter());
  c.rhs_base = [&, pack](llvm::ArrayRef<Value> outer) {
    return pack ? e.Constant(0) : e.Mul(outer[1], panel_elements);
  };
  if (pack) {
    c.prepare_depth = 2;
    c.prepare = [&](llvm::ArrayRef<Value> outer) {
      auto index = [&](llvm::ArrayRef<Value> k, Value col, int64_t lane_step) {
        LaneIndex channel{e.Add(e.Mul(outer[1], per_group), k[spatial]), 0}, feature{col, lane_step};
        Indices at;
        if (!last) at = {channel, feature};
        for (size_t d = 0; d < spatial; ++d) at.push_back({k[d], 0});
        if (last) at.append({channel, feature});
        return at;
      };
      EmitPacking(context.evaluator, plan.packing, op.getFilter(), c.rhs, index, plan.tile.lanes);
    };
  }
  // Output o meets input i through tap k where o + pad = i * stride + k * dilation.
  c.guarded_lhs = [&](llvm::ArrayRef<Value> outer, Value row, llvm::ArrayRef<Value> k) {
    Value base = e.Add(e.Mul(outer[0], image_elements), e.Mul(outer[1], per_group * channel_stride));
    Value guard;
    for (size_t d = 0; d < spatial; ++d) {
      Value o = d + 1 == spatial ? row : outer[d + 2];
      Value distance = e.Sub(e.Add(o, op.getPads()[d]), e.Mul(k[d], op.getDilations()[d]));
      Value positive = e.Max(distance, e.Constant(0));
      Value i = e.Div(positive, op.getStrides()[d]);
      // Holds only for a distance that is not negative and a multiple of the stride.
      Value here = e.And(e.Equal(e.Mul(i, op.getStrides()[d]), distance), e.Less(i, e.Constant(in[d])));
      guard = guard ? e.And(guard, here) : here;
      base = e.Add(base, e.Mul(i, strides[d]));
    }
    return std::pair(guard, base);
  };
  c.result_index = [&](llvm::ArrayRef<Value> outer, Value row, Value col, int64_t lane_step) {
    llvm::SmallVector<LaneIndex> at;
    for (size_t d = 0; d + 1 < spatial; ++d) at.push_back({outer[d + 2], 0});
    at.push_back({row, 0});
    return ImageIndex(last, {outer[0], 0}, at, {e.Add(e.Mul(outer[1], features_per_group), col), lane_step});
  };
  EmitContraction(context.evaluator, c, [&](const Indices& index, int lanes) {
    if (op.getBias()) {
      Value sum = context.evaluator.Evaluate(op.getResult(), index, lanes);
      Value bias = context.evaluator.Evaluate(op.getBias(), {last ? index.back() : index[1]}, lanes);
      context.evaluator.BindElement(op.getResult(), EmitAdd(e, sum, bias));
    }
    context.StoreResults(index, lanes);
  });
  return absl::OkStatus();
}

}  // namespace aot::codegen
