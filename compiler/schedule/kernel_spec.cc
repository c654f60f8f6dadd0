#include "compiler/schedule/kernel_spec.h"

#include "absl/strings/str_cat.h"
#include "compiler/schedule/group_shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

namespace aot::schedule {
namespace {
constexpr char kConstant[] = "aot.constant";
}

KernelSpec MakeKernelSpec(nn::GroupOp group, llvm::ArrayRef<bool> is_constant, const target::Description& target) {
  mlir::MLIRContext* context = group.getContext();
  mlir::Location loc = mlir::UnknownLoc::get(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  auto function =
      mlir::func::FuncOp::create(builder, loc, "kernel", builder.getFunctionType(group->getOperandTypes(), {}));
  mlir::Block* entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  auto copy = llvm::cast<nn::GroupOp>(builder.clone(*group));
  copy->setOperands(entry->getArguments());
  copy->setAttr(kConstant, builder.getDenseBoolArrayAttr(is_constant));
  mlir::func::ReturnOp::create(builder, loc);
  SimplifyShapes(copy);
  function.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), {}));

  KernelSpec spec;
  spec.results = copy->getNumResults();
  spec.plan = PlanKernel(copy, is_constant, target);
  llvm::raw_string_ostream out(spec.text);
  module->print(out, mlir::OpPrintingFlags().useLocalScope());
  return spec;
}

absl::StatusOr<ParsedSpec> ParseKernelSpec(llvm::StringRef text, mlir::MLIRContext& context,
                                           const target::Description& target) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    absl::StrAppend(&errors, diagnostic.str(), "\n");
    return mlir::success();
  });
  ParsedSpec parsed;
  parsed.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!parsed.module) return absl::InternalError(absl::StrCat("a kernel specification doesn't parse: ", errors));
  parsed.module->walk([&](nn::GroupOp group) { parsed.group = group; });
  auto is_constant = parsed.group->getAttrOfType<mlir::DenseBoolArrayAttr>(kConstant);
  parsed.plan = PlanKernel(parsed.group, is_constant.asArrayRef(), target);
  return parsed;
}

}  // namespace aot::schedule
