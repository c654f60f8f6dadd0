#include "compiler/emit/code_check.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/Object/ELFObjectFile.h"
#include "runtime/format/code_object.h"

namespace aot::emit {
namespace {

using Elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

absl::Status Broken(absl::string_view what) { return absl::InternalError(absl::StrCat("code object: ", what)); }

std::string Text(llvm::Error error) { return llvm::toString(std::move(error)); }

// "symbol in section", as far as the object's tables tell.
std::string Place(const Elf& elf, uint64_t address) {
  std::string section_name = "no section", symbol_name = "unnamed data";
  for (const llvm::object::SectionRef& section : elf.sections()) {
    if (address < section.getAddress() || address - section.getAddress() >= section.getSize()) continue;
    if (llvm::Expected<llvm::StringRef> name = section.getName()) {
      section_name = name->str();
    } else {
      llvm::consumeError(name.takeError());
    }
  }
  for (const llvm::object::ELFSymbolRef symbol : elf.symbols()) {
    llvm::Expected<uint64_t> start = symbol.getAddress();
    if (!start) {
      llvm::consumeError(start.takeError());
      continue;
    }
    if (address < *start || address - *start >= symbol.getSize()) continue;
    if (llvm::Expected<llvm::StringRef> name = symbol.getName()) {
      symbol_name = name->str();
    } else {
      llvm::consumeError(name.takeError());
    }
  }
  return absl::StrCat(symbol_name, " in ", section_name);
}

absl::Status CheckRelocations(const Elf& elf) {
  const llvm::object::ObjectFile& object = elf;  // the ELF class hides the function
  for (const llvm::object::SectionRef& section : object.dynamic_relocation_sections()) {
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      llvm::SmallString<32> type;
      relocation.getTypeName(type);
      return Broken(absl::StrCat("relocation ", type.str().str(), " at address ", relocation.getOffset(), ", for ",
                                 Place(elf, relocation.getOffset()),
                                 "; generated code must refer to its own symbols relative to the program counter"));
    }
  }
  return absl::OkStatus();
}

// The descriptor's address, provided that it is the only dynamic symbol.
absl::StatusOr<uint64_t> CheckSymbols(const Elf& elf) {
  uint64_t descriptor = 0;
  bool found = false;
  for (const llvm::object::ELFSymbolRef symbol : elf.getDynamicSymbolIterators()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<uint64_t> address = symbol.getAddress();
    if (!name) return Broken(Text(name.takeError()));
    if (!flags) return Broken(Text(flags.takeError()));
    if (!address) return Broken(Text(address.takeError()));
    if (*flags & llvm::object::SymbolRef::SF_Undefined) {
      return Broken(absl::StrCat("imports symbol ", name->str(), "; code objects may import nothing"));
    }
    if (*name != AOT_DESCRIPTOR_SYMBOL) {
      return Broken(absl::StrCat("exports symbol ", name->str(), " beside " AOT_DESCRIPTOR_SYMBOL));
    }
    descriptor = *address;
    found = true;
  }
  if (!found) return Broken("doesn't export " AOT_DESCRIPTOR_SYMBOL ": no object defines it with default visibility");
  return descriptor;
}

absl::Status FromFault(const aot_fault& fault) {
  char text[256];
  aot_fault_text(&fault, text, sizeof text);
  return Broken(text);
}

}  // namespace

absl::StatusOr<CodeFacts> CheckCode(absl::string_view code) {
  llvm::Expected<Elf> elf = Elf::create(llvm::MemoryBufferRef({code.data(), code.size()}, "code object"));
  if (!elf) return Broken(Text(elf.takeError()));
  if (absl::Status status = CheckRelocations(*elf); !status.ok()) return status;
  absl::StatusOr<uint64_t> address = CheckSymbols(*elf);
  if (!address.ok()) return address.status();

  // Then exactly what a device will check.
  aot_fault fault;
  aot_code_object object;
  CodeFacts facts;
  facts.descriptor_address = *address;
  if (!aot_code_object_open(code.data(), code.size(), &object, &fault) ||
      !aot_code_object_descriptor(&object, facts.descriptor_address, &facts.descriptor, nullptr, &fault)) {
    return FromFault(fault);
  }
  facts.weights_offset = object.weights_offset;
  facts.weights_size = object.weights_size;
  return facts;
}

}  // namespace aot::emit
