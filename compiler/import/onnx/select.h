// Values that are chosen at run time: what an If or a Loop gives where only its condition decides.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/import/onnx/builder.h"

namespace aot::import::onnx {

// `a` where the boolean scalar `truth` is set, else `b`. Sequences are chosen tensor by tensor. UNIMPLEMENTED if the
// two differ in what is fixed while compiling: kind, length, presence, element type or shape; the message says that
// `what` depends on `decider`.
absl::StatusOr<Value> Select(Builder& builder, const Value& truth, const Value& a, const Value& b,
                             absl::string_view what, absl::string_view decider);

// A value of the same form for a branch that can't run because of the error `why`: NaN, which shows where it should
// come to be used. Other element types have nothing like it: gives `why`.
absl::StatusOr<Value> Poison(Builder& builder, const Value& like, const absl::Status& why);

}  // namespace aot::import::onnx
