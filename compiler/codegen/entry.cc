// The entry function: one call for each step, with the addresses that the arena plan fixed.
#include "runtime/format/entry.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/generate.h"
#include "compiler/codegen/object.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"

namespace aot::codegen {
namespace {

using Kind = schedule::Location::Kind;

// Members of aot_code_args by number (runtime/format/entry.h).
enum Member { kInputs = 1, kOutputs = 2, kArena = 3, kWeights = 4, kTrace = 7, kTraceContext = 8, kMembers = 9 };

llvm::Function* DeclareKernel(llvm::Module& module, size_t number, size_t arguments) {
  llvm::LLVMContext& context = module.getContext();
  std::string name = absl::StrCat("kernel_", number);
  if (llvm::Function* known = module.getFunction(name)) return known;
  std::vector<llvm::Type*> types(arguments, llvm::PointerType::get(context, 0));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

}  // namespace

absl::StatusOr<std::string> EmitEntry(const schedule::Program& program, const target::Description& target,
                                      absl::string_view key) {
  llvm::LLVMContext context;
  llvm::Module module("entry", context);
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  auto* entry_type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false);
  auto* entry = llvm::Function::Create(entry_type, llvm::Function::ExternalLinkage, "aot_entry", module);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  llvm::Value* args = entry->getArg(0);
  auto load_member = [&](llvm::Value* base, int64_t number) {
    return builder.CreateLoad(pointer, builder.CreateConstGEP1_64(pointer, base, number));
  };
  llvm::Value* inputs = load_member(args, kInputs);
  llvm::Value* outputs = load_member(args, kOutputs);
  llvm::Value* arena = load_member(args, kArena);
  llvm::Value* weights = load_member(args, kWeights);
  auto address = [&](const schedule::Location& location) -> llvm::Value* {
    switch (location.kind) {
      case Kind::kInput:
        return load_member(inputs, location.position);
      case Kind::kOutput:
        return load_member(outputs, location.position);
      case Kind::kArena:
        return builder.CreateConstGEP1_64(builder.getInt8Ty(), arena, location.position);
      case Kind::kWeights:
        return builder.CreateConstGEP1_64(builder.getInt8Ty(), weights, location.position);
    }
    return nullptr;
  };
  // The trace hook, if the caller's structure has one.
  auto* hooked = llvm::BasicBlock::Create(context, "", entry);
  auto* begin = llvm::BasicBlock::Create(context, "", entry);
  llvm::BasicBlock* head = builder.GetInsertBlock();
  llvm::Value* size = builder.CreateLoad(builder.getInt64Ty(), args);
  builder.CreateCondBr(builder.CreateICmpUGE(size, builder.getInt64(kMembers * 8)), hooked, begin);
  builder.SetInsertPoint(hooked);
  llvm::Value* hook = load_member(args, kTrace);
  llvm::Value* hook_context = load_member(args, kTraceContext);
  builder.CreateBr(begin);
  builder.SetInsertPoint(begin);
  auto or_null = [&](llvm::Value* value) {
    llvm::PHINode* phi = builder.CreatePHI(pointer, 2);
    phi->addIncoming(value, hooked);
    phi->addIncoming(llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer)), head);
    return phi;
  };
  llvm::Value* trace = or_null(hook);
  llvm::Value* trace_context = or_null(hook_context);
  llvm::Value* has_trace =
      builder.CreateICmpNE(trace, llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer)));
  auto* trace_type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt32Ty()}, false);
  auto call_trace = [&](uint32_t number) {
    auto* tell = llvm::BasicBlock::Create(context, "", entry);
    auto* next = llvm::BasicBlock::Create(context, "", entry);
    builder.CreateCondBr(has_trace, tell, next);
    builder.SetInsertPoint(tell);
    builder.CreateCall(trace_type, trace, {trace_context, builder.getInt32(number)});
    builder.CreateBr(next);
    builder.SetInsertPoint(next);
  };
  uint32_t number = 0;
  for (const schedule::Step& step : program.steps) {
    llvm::BasicBlock* after = nullptr;
    if (step.guard) {
      auto* run = llvm::BasicBlock::Create(context, "", entry);
      after = llvm::BasicBlock::Create(context, "", entry);
      llvm::Value* truth = builder.CreateLoad(builder.getInt8Ty(), address(step.guard->condition));
      llvm::Value* holds = builder.CreateICmpNE(truth, builder.getInt8(0));
      builder.CreateCondBr(holds, step.guard->wanted ? run : after, step.guard->wanted ? after : run);
      builder.SetInsertPoint(run);
    }
    std::vector<llvm::Value*> values;
    for (const schedule::Location& argument : step.arguments) values.push_back(address(argument));
    builder.CreateCall(DeclareKernel(module, step.kernel, values.size()), values);
    if (after) {
      builder.CreateBr(after);
      builder.SetInsertPoint(after);
    }
    call_trace(number++);
  }
  builder.CreateRet(builder.getInt32(0));

  // The descriptor: offsets relative to itself, so no relocation is left at load time.
  auto* type = llvm::StructType::get(
      context, {builder.getInt32Ty(), builder.getInt32Ty(), builder.getInt32Ty(), builder.getInt32Ty(),
                builder.getInt64Ty(), builder.getInt64Ty(), llvm::ArrayType::get(builder.getInt8Ty(), 32)});
  auto* descriptor = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                              nullptr, AOT_DESCRIPTOR_SYMBOL);
  llvm::Constant* offset = llvm::ConstantExpr::getTrunc(
      llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(entry, builder.getInt64Ty()),
                                 llvm::ConstantExpr::getPtrToInt(descriptor, builder.getInt64Ty())),
      builder.getInt32Ty());
  descriptor->setInitializer(llvm::ConstantStruct::get(
      type, {builder.getInt32(AOT_DESCRIPTOR_MAGIC), builder.getInt32(sizeof(aot_descriptor)),
             builder.getInt32(AOT_CODE_ABI_VERSION), offset, builder.getInt64(program.arena_size),
             builder.getInt64(program.weights_size),
             llvm::ConstantDataArray::getString(context, llvm::StringRef(key.data(), key.size()), /*AddNull=*/false)}));
  descriptor->setAlignment(llvm::Align(8));
  descriptor->setDSOLocal(true);
  return EmitObject(module, target);
}

}  // namespace aot::codegen
