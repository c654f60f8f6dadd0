// What the compiler says, as messages of the API.
#pragma once

#include "compiler/pipeline.h"
#include "proto/aot/v1/compile.pb.h"

namespace aot::server {

aot::v1::Stage ToProto(compiler::Stage stage);
aot::v1::ModelInfo ToProto(const compiler::ModelInfo& info);

}  // namespace aot::server
