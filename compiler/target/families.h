// The description tables that target.cc gathers: one function for each file of this folder.
#pragma once

#include <vector>

#include "compiler/target/target.h"

namespace aot::target {

std::vector<Description> Aarch64();
std::vector<Description> X86_64();

}  // namespace aot::target
