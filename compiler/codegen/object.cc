#include "compiler/codegen/object.h"

#include <mutex>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

namespace aot::codegen {
namespace {

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const target::Description& target) {
  InitializeBackends();
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend) return absl::InternalError(absl::StrCat("no backend for ", target.triple, ": ", error));
  llvm::TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Default));
  if (!machine) return absl::InternalError(absl::StrCat("no target machine for ", target.triple));
  return machine;
}

}  // namespace

void InitializeBackends() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}

absl::StatusOr<std::string> EmitObject(llvm::Module& module, const target::Description& target) {
  auto machine = MakeTargetMachine(target);
  if (!machine.ok()) return machine.status();
  module.setTargetTriple(llvm::Triple(target.triple));
  module.setDataLayout((*machine)->createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty()) function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setDSOLocal(true);
  }
  // Scalar clean-up only: loops are generated as they shall be, LLVM's loop transforms would change them.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine->get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager emission;
  if ((*machine)->addPassesToEmitFile(emission, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return absl::InternalError(absl::StrCat("no object emission for ", target.triple));
  emission.run(module);
  return std::string(object.str());
}

absl::StatusOr<std::string> LowerToObject(mlir::ModuleOp module, const target::Description& target) {
  mlir::MLIRContext* context = module.getContext();
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
    absl::StrAppend(&errors, diagnostic.str(), "\n");
    return mlir::success();
  });
  mlir::PassManager passes(context);
  passes.addPass(mlir::createSCFToControlFlowPass());
  mlir::ConvertVectorToLLVMPassOptions vectors;
  passes.addPass(mlir::createConvertVectorToLLVMPass(vectors));
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  mlir::ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  passes.addPass(mlir::createConvertFuncToLLVMPass(functions));
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (mlir::failed(passes.run(module)))
    return absl::InternalError(absl::StrCat("lowering of a kernel failed: ", errors));

  mlir::registerBuiltinDialectTranslation(*context);
  mlir::registerLLVMDialectTranslation(*context);
  llvm::LLVMContext llvm_context;
  std::unique_ptr<llvm::Module> llvm_module = mlir::translateModuleToLLVMIR(module, llvm_context, "kernel");
  if (!llvm_module) return absl::InternalError(absl::StrCat("translation of a kernel failed: ", errors));
  return EmitObject(*llvm_module, target);
}

}  // namespace aot::codegen
