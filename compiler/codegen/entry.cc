// The entry function: one call for each step, with the addresses that the arena plan fixed. Long programs are cut into
// parts, one function each, for LLVM takes more than linear time for one function of tens of thousands of calls; and
// the parts go into several objects, so that only a few thousand calls are in memory as IR.
#include "runtime/format/entry.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/generate.h"
#include "compiler/codegen/object.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"

namespace aot::codegen {
namespace {

using Kind = schedule::Location::Kind;

// Steps in one function, and such functions in one object.
constexpr size_t kStepsInPart = 256;
constexpr size_t kPartsInObject = 16;
constexpr size_t kStepsInObject = kStepsInPart * kPartsInObject;

bool IsInParts(const schedule::Program& program) { return program.steps.size() > kStepsInPart; }

// Members of aot_code_args by number (runtime/format/entry.h).
enum Member { kInputs = 1, kOutputs = 2, kArena = 3, kWeights = 4, kTrace = 7, kTraceContext = 8, kBucket = 9 };

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

// What all steps work with: base addresses, and the trace hook with its context (null: none).
struct Bases {
  llvm::Value *inputs, *outputs, *arena, *weights, *trace, *trace_context;
};

class EntryBuilder {
 public:
  // `suffix` sets the functions of one program of several apart.
  EntryBuilder(llvm::Module& module, const schedule::Program& program, std::string suffix)
      : module_(module), program_(program), suffix_(std::move(suffix)), builder_(module.getContext()) {}

  llvm::Function* Build() {
    auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy()}, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "aot_entry" + suffix_, module_);
    entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", entry));
    llvm::Value* args = entry->getArg(0);
    Bases bases = {LoadMember(args, kInputs),
                   LoadMember(args, kOutputs),
                   LoadMember(args, kArena),
                   LoadMember(args, kWeights),
                   nullptr,
                   nullptr};
    LoadTrace(args, bases);
    if (IsInParts(program_)) {
      for (size_t start = 0; start < program_.steps.size(); start += kStepsInPart) {
        builder_.CreateCall(DeclarePart(start), {bases.inputs, bases.outputs, bases.arena, bases.weights, bases.trace,
                                                 bases.trace_context});
      }
    } else {
      EmitSteps(bases, 0);
    }
    builder_.CreateRet(builder_.getInt32(0));
    return entry;
  }

  // The function for the steps from `start` on.
  void BuildPart(size_t start) {
    llvm::Function* part = DeclarePart(start);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", part));
    EmitSteps({part->getArg(0), part->getArg(1), part->getArg(2), part->getArg(3), part->getArg(4), part->getArg(5)},
              start);
    builder_.CreateRetVoid();
  }

 private:
  llvm::Value* LoadMember(llvm::Value* base, int64_t number) {
    llvm::Type* pointer = builder_.getPtrTy();
    return builder_.CreateLoad(pointer, builder_.CreateConstGEP1_64(pointer, base, number));
  }

  // The trace hook, if the caller's structure has one.
  void LoadTrace(llvm::Value* args, Bases& bases) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::BasicBlock* head = builder_.GetInsertBlock();
    auto* hooked = llvm::BasicBlock::Create(context, "", head->getParent());
    auto* begin = llvm::BasicBlock::Create(context, "", head->getParent());
    llvm::Value* size = builder_.CreateLoad(builder_.getInt64Ty(), args);
    builder_.CreateCondBr(builder_.CreateICmpUGE(size, builder_.getInt64(kBucket * 8)), hooked, begin);
    builder_.SetInsertPoint(hooked);
    llvm::Value* hook = LoadMember(args, kTrace);
    llvm::Value* hook_context = LoadMember(args, kTraceContext);
    builder_.CreateBr(begin);
    builder_.SetInsertPoint(begin);
    auto or_null = [&](llvm::Value* value) {
      llvm::PHINode* phi = builder_.CreatePHI(builder_.getPtrTy(), 2);
      phi->addIncoming(value, hooked);
      phi->addIncoming(llvm::ConstantPointerNull::get(builder_.getPtrTy()), head);
      return phi;
    };
    bases.trace = or_null(hook);
    bases.trace_context = or_null(hook_context);
  }

  // Tells the hook, if there is one, that a step is done.
  void CallTrace(const Bases& bases, llvm::Value* has_trace, size_t step) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::Function* function = builder_.GetInsertBlock()->getParent();
    auto* tell = llvm::BasicBlock::Create(context, "", function);
    auto* next = llvm::BasicBlock::Create(context, "", function);
    builder_.CreateCondBr(has_trace, tell, next);
    builder_.SetInsertPoint(tell);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), builder_.getInt32Ty()}, false);
    builder_.CreateCall(type, bases.trace, {bases.trace_context, builder_.getInt32(static_cast<uint32_t>(step))});
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
  }

  llvm::Value* Address(const Bases& bases, const schedule::Location& location) {
    switch (location.kind) {
      case Kind::kInput:
        return LoadMember(bases.inputs, location.position);
      case Kind::kOutput:
        return LoadMember(bases.outputs, location.position);
      case Kind::kArena:
        return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), bases.arena, location.position);
      case Kind::kWeights:
        return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), bases.weights, location.position);
    }
    return nullptr;
  }

  llvm::Function* DeclarePart(size_t start) {
    const std::vector<llvm::Type*> parameters(6, builder_.getPtrTy());
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, false);
    auto* part = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                        absl::StrCat("steps", suffix_, "_", start), module_);
    part->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return part;
  }

  // The steps of the part that begins with step `start`, at the end of the block.
  void EmitSteps(const Bases& bases, size_t start) {
    llvm::LLVMContext& context = module_.getContext();
    const size_t end = std::min(program_.steps.size(), start + kStepsInPart);
    llvm::Value* has_trace = builder_.CreateICmpNE(bases.trace, llvm::ConstantPointerNull::get(builder_.getPtrTy()));
    for (size_t i = start; i < end; ++i) {
      const schedule::Step& step = program_.steps[i];
      llvm::BasicBlock* after = nullptr;
      if (step.guard) {
        llvm::Function* function = builder_.GetInsertBlock()->getParent();
        auto* run = llvm::BasicBlock::Create(context, "", function);
        after = llvm::BasicBlock::Create(context, "", function);
        llvm::Value* truth = builder_.CreateLoad(builder_.getInt8Ty(), Address(bases, step.guard->condition));
        llvm::Value* holds = builder_.CreateICmpNE(truth, builder_.getInt8(0));
        builder_.CreateCondBr(holds, step.guard->wanted ? run : after, step.guard->wanted ? after : run);
        builder_.SetInsertPoint(run);
      }
      std::vector<llvm::Value*> values;
      for (const schedule::Location& argument : step.arguments) values.push_back(Address(bases, argument));
      builder_.CreateCall(DeclareKernel(module_, step.kernel, values.size()), values);
      if (after) {
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
      }
      CallTrace(bases, has_trace, i);
    }
  }

  llvm::Module& module_;
  const schedule::Program& program_;
  const std::string suffix_;
  llvm::IRBuilder<> builder_;
};

// A program that is alone has names without a number.
std::string SuffixOf(absl::Span<const schedule::Program> programs, size_t number) {
  return programs.size() == 1 ? "" : absl::StrCat("_", number);
}

// The objects for the parts of one program.
size_t PartObjects(const schedule::Program& program) {
  return IsInParts(program) ? (program.steps.size() + kStepsInObject - 1) / kStepsInObject : 0;
}

// An entry that calls that of the bucket which the caller names, or of the first where it knows no buckets. A number
// beyond them ends in an error of the code's own.
llvm::Function* BuildDispatch(llvm::Module& module, llvm::ArrayRef<llvm::Function*> entries) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* dispatch =
      llvm::Function::Create(entries.front()->getFunctionType(), llvm::Function::ExternalLinkage, "aot_entry", module);
  dispatch->setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::Value* args = dispatch->getArg(0);
  auto* head = llvm::BasicBlock::Create(context, "", dispatch);
  auto* named = llvm::BasicBlock::Create(context, "", dispatch);
  auto* choose = llvm::BasicBlock::Create(context, "", dispatch);
  auto* unknown = llvm::BasicBlock::Create(context, "", dispatch);
  llvm::Type* word = builder.getInt64Ty();
  builder.SetInsertPoint(head);
  llvm::Value* size = builder.CreateLoad(word, args);
  builder.CreateCondBr(builder.CreateICmpUGE(size, builder.getInt64((kBucket + 1) * 8)), named, choose);
  builder.SetInsertPoint(named);
  llvm::Value* given = builder.CreateLoad(word, builder.CreateConstGEP1_64(word, args, kBucket));
  builder.CreateBr(choose);
  builder.SetInsertPoint(choose);
  llvm::PHINode* bucket = builder.CreatePHI(word, 2);
  bucket->addIncoming(given, named);
  bucket->addIncoming(builder.getInt64(0), head);
  llvm::SwitchInst* by_number = builder.CreateSwitch(bucket, unknown, static_cast<unsigned>(entries.size()));
  for (size_t i = 0; i < entries.size(); ++i) {
    auto* block = llvm::BasicBlock::Create(context, "", dispatch);
    by_number->addCase(builder.getInt64(i), block);
    builder.SetInsertPoint(block);
    builder.CreateRet(builder.CreateCall(entries[i], {args}));
  }
  builder.SetInsertPoint(unknown);
  builder.CreateRet(builder.getInt32(1));
  return dispatch;
}

absl::StatusOr<std::string> EmitMain(absl::Span<const schedule::Program> programs, int64_t weights_size,
                                     const target::Description& target, absl::string_view key) {
  llvm::LLVMContext context;
  llvm::Module module("entry", context);
  std::vector<llvm::Function*> entries;
  int64_t arena_size = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    entries.push_back(EntryBuilder(module, programs[i], SuffixOf(programs, i)).Build());
    arena_size = std::max(arena_size, programs[i].arena_size);
  }
  llvm::Function* entry = entries.size() == 1 ? entries.front() : BuildDispatch(module, entries);
  llvm::IRBuilder<> builder(context);

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
      type,
      {builder.getInt32(AOT_DESCRIPTOR_MAGIC), builder.getInt32(sizeof(aot_descriptor)),
       builder.getInt32(AOT_CODE_ABI_VERSION), offset, builder.getInt64(arena_size), builder.getInt64(weights_size),
       llvm::ConstantDataArray::getString(context, llvm::StringRef(key.data(), key.size()), /*AddNull=*/false)}));
  descriptor->setAlignment(llvm::Align(8));
  descriptor->setDSOLocal(true);
  return EmitObject(module, target);
}

}  // namespace

size_t EntryObjects(absl::Span<const schedule::Program> programs) {
  size_t count = 1;
  for (const schedule::Program& program : programs) count += PartObjects(program);
  return count;
}

absl::StatusOr<std::string> EmitEntry(absl::Span<const schedule::Program> programs, int64_t weights_size, size_t number,
                                      const target::Description& target, absl::string_view key) {
  if (number == 0) return EmitMain(programs, weights_size, target, key);
  --number;
  size_t which = 0;
  while (number >= PartObjects(programs[which])) number -= PartObjects(programs[which++]);
  const schedule::Program& program = programs[which];
  llvm::LLVMContext context;
  llvm::Module module("steps", context);
  EntryBuilder builder(module, program, SuffixOf(programs, which));
  const size_t first = number * kStepsInObject;
  const size_t end = std::min(program.steps.size(), first + kStepsInObject);
  for (size_t start = first; start < end; start += kStepsInPart) builder.BuildPart(start);
  return EmitObject(module, target);
}

}  // namespace aot::codegen
