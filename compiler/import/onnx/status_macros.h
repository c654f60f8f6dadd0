// Early returns for absl::Status and absl::StatusOr within the importer.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define AOT_IMPORT_CONCAT_(a, b) a##b
#define AOT_IMPORT_CONCAT(a, b) AOT_IMPORT_CONCAT_(a, b)

#define RETURN_IF_ERROR(expression)                              \
  do {                                                           \
    absl::Status status_of_expression = (expression);            \
    if (!status_of_expression.ok()) return status_of_expression; \
  } while (false)

// `target` may declare a variable. The expression is evaluated once.
#define ASSIGN_OR_RETURN(target, ...) ASSIGN_OR_RETURN_(AOT_IMPORT_CONCAT(status_or_, __LINE__), target, __VA_ARGS__)
#define ASSIGN_OR_RETURN_(holder, target, ...) \
  auto holder = (__VA_ARGS__);                 \
  if (!holder.ok()) return holder.status();    \
  target = *std::move(holder)
