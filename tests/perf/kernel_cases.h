// The single operations that kernels are measured on: sizes of real networks, data in the layout that the compiler
// would choose inside one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "tests/perf/dnnl_kernel.h"

namespace aot::perf {

struct KernelCase {
  std::string name;
  compiler::Model model;
  compiler::OptimizeFor optimize_for = compiler::OptimizeFor::kLatency;
  Precision precision = Precision::kFloat;
  // Multiply-adds of the definition; 0: bound by something else than products, only held against oneDNN.
  double products = 0;
  // The least share of the peak that is wanted, or of the direct convolution's time; 0: none.
  double wanted_share = 0;
  std::string faster_than;   // name of a case that this one computes with fewer products
  double wanted_factor = 0;  // and by how much it should be faster
  std::function<std::unique_ptr<DnnlKernel>()> peer;
};

std::vector<KernelCase> KernelCases();

}  // namespace aot::perf
