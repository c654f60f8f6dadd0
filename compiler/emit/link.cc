#include "compiler/emit/link.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "compiler/emit/builtins.h"
#include "compiler/emit/code_check.h"
#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "runtime/format/bytes.h"

LLD_HAS_DRIVER(elf)

namespace aot::emit {
namespace {

// A directory of our own, removed with what is in it.
class TemporaryDirectory {
 public:
  absl::Status Create() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("aot-link", path_)) {
      return absl::UnavailableError(absl::StrCat("no temporary directory for the linker: ", error.message()));
    }
    return absl::OkStatus();
  }
  ~TemporaryDirectory() {
    if (!path_.empty()) llvm::sys::fs::remove_directories(path_);
  }
  std::string Path(absl::string_view name) const { return absl::StrCat(path_.str().str(), "/", name); }

 private:
  llvm::SmallString<128> path_;
};

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out.write(bytes.data(), bytes.size());
    out.close();
    error = out.error();
    out.clear_error();  // else the destructor ends the process
  }
  if (error) return absl::UnavailableError(absl::StrCat("can't write the linker's input: ", error.message()));
  return absl::OkStatus();
}

// Lays the object out by segments: read-only data with the headers first, then code, then the dynamic section under
// RELRO (the only thing that a dynamic linker writes), then, without taking file space, the weights. Sections not named
// here are errors (--orphan-handling=error).
std::string LinkerScript(uint64_t weights_size) {
  const bool weights = weights_size != 0;
  return absl::StrCat(R"(PHDRS {
  headers PT_PHDR PHDRS FLAGS(4);
  rodata PT_LOAD FILEHDR PHDRS FLAGS(4);
  text PT_LOAD FLAGS(5);
  dynamic_load PT_LOAD FLAGS(6);
)",
                      weights ? "  weights PT_LOAD FLAGS(4);\n" : "", R"(  dynamic PT_DYNAMIC FLAGS(6);
  relro PT_GNU_RELRO FLAGS(4);
  stack PT_GNU_STACK FLAGS(6);
  note PT_NOTE FLAGS(4);
}
SECTIONS {
  . = SIZEOF_HEADERS;
  .note.gnu.build-id : { *(.note.gnu.build-id) } :rodata :note
  .dynsym : { *(.dynsym) } :rodata
  .gnu.hash : { *(.gnu.hash) } :rodata
  .dynstr : { *(.dynstr) } :rodata
  .rela.dyn : { *(.rela.dyn .rela.plt) } :rodata
  .rodata : { *(.rodata .rodata.*) } :rodata
  . = ALIGN(CONSTANT(MAXPAGESIZE));
  .text : { *(.text .text.*) } :text
  . = ALIGN(CONSTANT(MAXPAGESIZE));
  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) } :dynamic_load :relro
  .got : { *(.got .got.plt) } :dynamic_load :relro
  .dynamic : { *(.dynamic) } :dynamic_load :relro :dynamic
)",
                      weights ? absl::StrCat("  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                                             "  .aot_weights (NOLOAD) : { . += ",
                                             weights_size, "; } :weights\n")
                              : "",
                      R"(  .symtab 0 : { *(.symtab) }
  .shstrtab 0 : { *(.shstrtab) }
  .strtab 0 : { *(.strtab) }
  /DISCARD/ : {
    *(.comment .comment.* .eh_frame .eh_frame_hdr .note.GNU-stack .note.gnu.property .debug_* .ARM.attributes)
  }
}
)");
}

constexpr absl::string_view kVersionScript = "{ global: " AOT_DESCRIPTOR_SYMBOL "; local: *; };\n";

// Whether LLD's globals are sound: a crash inside it leaves them in an unknown state.
absl::Mutex lld_mutex(absl::kConstInit);
bool lld_usable ABSL_GUARDED_BY(lld_mutex) = true;

absl::Status RunLld(const std::vector<std::string>& arguments, const TemporaryDirectory& directory) {
  absl::MutexLock lock(&lld_mutex);
  if (!lld_usable) return absl::InternalError("the linker crashed earlier in this process and can't run again");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  // So that a fatal error of LLD's comes back here instead of ending the process. Installs signal handlers, hence only
  // for this call.
  llvm::CrashRecoveryContext::Enable();
  const lld::Result result = lld::lldMain(argv, out, out, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  lld_usable = result.canRunAgain;
  if (result.retCode == 0) return absl::OkStatus();
  absl::StrReplaceAll({{directory.Path(""), ""}}, &messages);
  return absl::InternalError(absl::StrCat("linking failed: ", absl::StripTrailingAsciiWhitespace(messages)));
}

// Objects that are none would make LLD end in the middle (a fatal error), after which it can't run again in this
// process.
absl::Status CheckObject(absl::string_view object, const target::Description& target, size_t index) {
  const auto bad = [&](absl::string_view what) {
    return absl::InternalError(absl::StrCat("linking failed: object ", index, " of ", target.triple, ": ", what));
  };
  using Elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;
  llvm::Expected<Elf> elf = Elf::create(llvm::MemoryBufferRef({object.data(), object.size()}, "object"));
  if (!elf) return bad(llvm::toString(elf.takeError()));
  if (elf->getELFFile().getHeader().e_type != llvm::ELF::ET_REL) return bad("not a relocatable object");
  if (elf->getArch() != llvm::Triple(llvm::StringRef(target.triple)).getArch()) {
    return bad(absl::StrCat("an object for ", elf->getFileFormatName().str()));
  }
  llvm::Expected<llvm::ArrayRef<llvm::object::ELF64LE::Shdr>> sections = elf->getELFFile().sections();
  if (!sections) return bad(llvm::toString(sections.takeError()));
  for (const llvm::object::ELF64LE::Shdr& section : *sections) {
    if (section.sh_type == llvm::ELF::SHT_NOBITS || section.sh_type == llvm::ELF::SHT_NULL) continue;
    if (llvm::Expected<llvm::ArrayRef<uint8_t>> bytes = elf->getELFFile().getSectionContents(section); !bytes) {
      return bad(llvm::toString(bytes.takeError()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const char*> Emulation(absl::string_view triple) {
  if (absl::StartsWith(triple, "x86_64-")) return "elf_x86_64";
  if (absl::StartsWith(triple, "aarch64-")) return "aarch64linux";
  return absl::InternalError(absl::StrCat("no linker emulation for ", triple));
}

// Gives the weights segment, which LLD placed behind everything in memory, its place behind everything in the file.
absl::Status PlaceWeights(uint64_t weights_size, uint64_t page_size, std::string& code) {
  using Header = llvm::ELF::Elf64_Ehdr;
  using ProgramHeader = llvm::ELF::Elf64_Phdr;
  namespace le = llvm::support::endian;
  if (code.size() < sizeof(Header)) return absl::InternalError("the linker wrote no ELF file");
  const uint64_t table = le::read64le(code.data() + offsetof(Header, e_phoff));
  const uint64_t count = le::read16le(code.data() + offsetof(Header, e_phnum));
  if (!aot_range_fits(table, count * sizeof(ProgramHeader), code.size())) {
    return absl::InternalError("the linker's program headers lie outside its file");
  }
  uint64_t offset;
  if (!aot_round_up_u64(code.size(), page_size, &offset)) return absl::InternalError("the code object is too large");
  for (uint64_t i = 0; i < count; ++i) {
    char* header = code.data() + table + i * sizeof(ProgramHeader);
    if (le::read32le(header) != llvm::ELF::PT_LOAD || le::read64le(header + offsetof(ProgramHeader, p_filesz)) != 0) {
      continue;
    }
    le::write64le(header + offsetof(ProgramHeader, p_offset), offset);
    le::write64le(header + offsetof(ProgramHeader, p_filesz), weights_size);
    return absl::OkStatus();
  }
  return absl::InternalError("the linker made no segment for the weights");
}

}  // namespace

absl::StatusOr<std::string> LinkCode(std::vector<std::string> objects, const target::Description& target,
                                     uint64_t weights_size) {
  if (weights_size > UINT64_C(1) << 46) {
    return absl::InternalError(absl::StrCat("weights of ", weights_size, " bytes don't fit an address space"));
  }
  absl::StatusOr<const char*> emulation = Emulation(target.triple);
  if (!emulation.ok()) return emulation.status();
  for (size_t i = 0; i < objects.size(); ++i) {
    if (absl::Status status = CheckObject(objects[i], target, i); !status.ok()) return status;
  }
  TemporaryDirectory directory;
  if (absl::Status status = directory.Create(); !status.ok()) return status;

  const std::string output = directory.Path("code.so");
  // -z separate-code is what the script does by hand. One thread: many compiles share the machine.
  std::vector<std::string> arguments = {"ld.lld",
                                        "-m",
                                        *emulation,
                                        "-shared",
                                        "--gc-sections",
                                        "-z",
                                        "defs",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        absl::StrCat("max-page-size=", target.max_page_size),
                                        "--hash-style=gnu",
                                        "--build-id=sha1",
                                        "--threads=1",
                                        "--orphan-handling=error",
                                        "--script",
                                        directory.Path("layout.ld"),
                                        "--version-script",
                                        directory.Path("exports.map"),
                                        "-o",
                                        output};
  for (size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(directory.Path(absl::StrFormat("object-%06d.o", i)));
    if (absl::Status status = WriteFile(arguments.back(), objects[i]); !status.ok()) return status;
    objects[i] = std::string();  // LLD maps the file: the bytes would be in memory twice
  }
  arguments.insert(arguments.end(), {"--start-lib", directory.Path("builtins.o"), "--end-lib"});
  const std::string script = LinkerScript(weights_size);
  const std::pair<absl::string_view, absl::string_view> others[] = {
      {"builtins.o", EmbeddedBuiltins(target.triple)}, {"layout.ld", script}, {"exports.map", kVersionScript}};
  for (const auto& [name, bytes] : others) {
    if (absl::Status status = WriteFile(directory.Path(name), bytes); !status.ok()) return status;
  }
  if (absl::Status status = RunLld(arguments, directory); !status.ok()) return status;

  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> linked = llvm::MemoryBuffer::getFile(output);
  if (!linked) {
    return absl::UnavailableError(absl::StrCat("can't read the linker's output: ", linked.getError().message()));
  }
  std::string code((*linked)->getBuffer());
  if (weights_size != 0) {
    if (absl::Status status = PlaceWeights(weights_size, target.max_page_size, code); !status.ok()) return status;
  }
  absl::StatusOr<CodeFacts> facts = CheckCode(code);
  if (!facts.ok()) return facts.status();
  return code;
}

}  // namespace aot::emit
