#include "tests/engine/cuda/module/device_code.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom::cuda {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  throwError(ErrorCode::badData, "the module's device code cannot be read: {}", why);
}

template <class Value>
Value valueAt(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || sizeof(Value) > bytes.size() - at) refuse("it ends too early");
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}
std::string_view part(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) refuse("it ends too early");
  return bytes.substr(at, size);
}

// A 64-bit ELF file: of the host, or of a GPU (a cubin).
class Elf {
 public:
  explicit Elf(std::string_view bytes) : m_bytes(bytes) {
    if (!bytes.starts_with(ELFMAG)) refuse("what should be an ELF file is none");
    const auto header = valueAt<Elf64_Ehdr>(bytes, 0);
    for (std::size_t i = 0; i < header.e_shnum; ++i)
      m_sections.push_back(valueAt<Elf64_Shdr>(bytes, header.e_shoff + i * header.e_shentsize));
    m_names = content(m_sections.at(header.e_shstrndx));
  }
  const std::vector<Elf64_Shdr>& sections() const { return m_sections; }
  std::string_view nameOf(const Elf64_Shdr& section) const { return m_names.data() + section.sh_name; }
  std::string_view content(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_NOBITS ? std::string_view() : part(m_bytes, section.sh_offset, section.sh_size);
  }
  const Elf64_Shdr* find(std::string_view name) const {
    const auto found =
        std::find_if(m_sections.begin(), m_sections.end(), [&](const auto& one) { return nameOf(one) == name; });
    return found == m_sections.end() ? nullptr : &*found;
  }
  std::string symbol(std::uint32_t index) const {
    const Elf64_Shdr* const table = find(".symtab");
    if (table == nullptr) refuse("there are no symbols");
    const auto symbol = valueAt<Elf64_Sym>(content(*table), index * sizeof(Elf64_Sym));
    return content(m_sections.at(table->sh_link)).data() + symbol.st_name;
  }

 private:
  std::string_view m_bytes, m_names;
  std::vector<Elf64_Shdr> m_sections;
};

// What ptxas notes of a kernel: (form, which, 16 bits), then, for the form 4, so many bytes.
enum Note : std::uint8_t { kMaxThreads = 0x05, kFrameSize = 0x11, kRegisters = 0x2f };
constexpr std::uint8_t kSized = 4;

template <class What>
void forNotes(std::string_view notes, const What& what) {
  for (std::size_t at = 0; at + 4 <= notes.size();) {
    const auto form = valueAt<std::uint8_t>(notes, at), which = valueAt<std::uint8_t>(notes, at + 1);
    const std::size_t size = form == kSized ? valueAt<std::uint16_t>(notes, at + 2) : 0;
    at += 4;
    if (form == kSized) what(which, part(notes, at, size));
    at += size;
  }
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

void readCubin(std::string_view bytes, int architecture, DeviceCode& to) {
  const Elf cubin(bytes);
  std::map<std::string, CompiledKernel> kernels;
  constexpr std::string_view kText = ".text.", kNotes = ".nv.info.", kShared = ".nv.shared.";
  for (const Elf64_Shdr& section : cubin.sections())
    if (cubin.nameOf(section).starts_with(kText)) {
      const std::string name(cubin.nameOf(section).substr(kText.size()));
      kernels[name] = {.name = demangled(name), .architecture = architecture};
    }
  const auto named = [&](std::string_view name) {
    const auto found = kernels.find(std::string(name));
    return found == kernels.end() ? nullptr : &found->second;
  };
  for (const Elf64_Shdr& section : cubin.sections()) {
    const std::string_view name = cubin.nameOf(section);
    if (name == ".nv.info")
      forNotes(cubin.content(section), [&](std::uint8_t which, std::string_view note) {
        if (which != kRegisters && which != kFrameSize) return;
        CompiledKernel* const kernel = named(cubin.symbol(valueAt<std::uint32_t>(note, 0)));
        if (kernel == nullptr) return;
        (which == kRegisters ? kernel->registers : kernel->stackBytes) = valueAt<std::int32_t>(note, 4);
      });
    else if (name.starts_with(kNotes)) {
      CompiledKernel* const kernel = named(name.substr(kNotes.size()));
      if (kernel == nullptr) continue;
      forNotes(cubin.content(section), [&](std::uint8_t which, std::string_view note) {
        if (which == kMaxThreads)
          kernel->mostThreads =
              valueAt<std::int32_t>(note, 0) * valueAt<std::int32_t>(note, 4) * valueAt<std::int32_t>(note, 8);
      });
    } else if (name.starts_with(kShared)) {
      if (CompiledKernel* const kernel = named(name.substr(kShared.size())))
        kernel->sharedBytes = static_cast<int>(section.sh_size);
    }
  }
  for (auto& [name, kernel] : kernels) to.kernels.push_back(std::move(kernel));
}

constexpr std::uint32_t kFatbin = 0xba55ed50;
constexpr std::uint16_t kPtx = 1, kCubin = 2;
constexpr std::uint64_t kCompressed = 0x2000 | 0x8000;  // by LZ4, by Zstandard

// One of the pieces that nvcc leaves behind each other, a source file each.
void readFatbin(std::string_view bytes, DeviceCode& to) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto kind = valueAt<std::uint16_t>(bytes, at);
    const std::size_t header = valueAt<std::uint32_t>(bytes, at + 4), size = valueAt<std::uint64_t>(bytes, at + 8);
    const int architecture = static_cast<int>(valueAt<std::uint32_t>(bytes, at + 28));
    if ((valueAt<std::uint64_t>(bytes, at + 40) & kCompressed) != 0)
      refuse("it is compressed; nvcc -no-compress leaves it as it is");
    if (kind == kPtx) to.ptx.insert(architecture);
    if (kind == kCubin) {
      to.machineCode.insert(architecture);
      readCubin(part(bytes, at + header, size), architecture, to);
    }
    at += header + size;
  }
}

}  // namespace

int CompiledKernel::threadsAtOnce(int threadsOfBlock) const {
  // A warp is given registers in lots of 256, and a quarter of the multiprocessor's warps live in a quarter of them.
  constexpr int kWarp = 32, kLot = 256, kRegisters = 16384, kQuarters = 4, kWarps = 64, kBlocks = 32;
  const int warpsOfBlock = (std::max(1, threadsOfBlock) + kWarp - 1) / kWarp;
  const int lots = std::max(1, (registers * kWarp + kLot - 1) / kLot);
  const int warps = std::min(kWarps, kRegisters / (lots * kLot) * kQuarters);
  return std::min(kBlocks, warps / warpsOfBlock) * warpsOfBlock * kWarp;
}

DeviceCode readDeviceCode(const std::filesystem::path& module) {
  const MappedFile file(module);
  const Elf host(file.text());
  const Elf64_Shdr* const section = host.find(".nv_fatbin");
  if (section == nullptr) refuse("there is none");
  const std::string_view all = host.content(*section);
  DeviceCode code;
  for (std::size_t at = 0; at + 16 <= all.size();) {
    if (valueAt<std::uint32_t>(all, at) != kFatbin) {
      at += 8;  // between two of them
      continue;
    }
    const std::size_t header = valueAt<std::uint16_t>(all, at + 6), size = valueAt<std::uint64_t>(all, at + 8);
    readFatbin(part(all, at + header, size), code);
    at += header + size;
  }
  return code;
}

}  // namespace loom::cuda
