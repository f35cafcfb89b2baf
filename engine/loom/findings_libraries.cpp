// Libraries are asked through the system's loader, as a run would find them: the program is linked to none of them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "engine/loom/findings.h"

namespace loom {
namespace {

// Stays loaded to the end of the program: MPI and CUDA are not made to be unloaded. Open MPI 5 then loses what it keeps
// in its own variables, which a leak checker reports without being able to name the library.
class Library {
 public:
  Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      m_handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      if (!m_handle) continue;
      m_name = name;
      return;
    }
  }
  explicit operator bool() const { return m_handle != nullptr; }
  const std::string& name() const { return m_name; }
  template <class Function>
  Function* function(const char* symbol) const {
    return m_handle ? reinterpret_cast<Function*>(::dlsym(m_handle, symbol)) : nullptr;
  }

 private:
  void* m_handle = nullptr;
  std::string m_name;
};

// y[i] = 3 x[i] + 7 in whole numbers: any PTX from compute capability 5.0 on.
constexpr const char* kKernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry probe(.param .u64 values, .param .u32 count) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %a<4>;
  ld.param.u64 %a1, [values];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  cvta.to.global.u64 %a1, %a1;
  mul.wide.u32 %a2, %r5, 4;
  add.u64 %a3, %a1, %a2;
  ld.global.u32 %r6, [%a3];
  mad.lo.u32 %r7, %r6, 3, 7;
  st.global.u32 [%a3], %r7;
done:
  ret;
}
)";

// The driver's interface, as far as it is needed here (CUDA Driver API reference).
struct Driver {
  explicit Driver(const Library& library)
      : init(library.function<int(unsigned)>("cuInit")),
        version(library.function<int(int*)>("cuDriverGetVersion")),
        count(library.function<int(int*)>("cuDeviceGetCount")),
        name(library.function<int(char*, int, int)>("cuDeviceGetName")),
        totalMemory(library.function<int(std::size_t*, int)>("cuDeviceTotalMem_v2")),
        retain(library.function<int(void**, int)>("cuDevicePrimaryCtxRetain")),
        release(library.function<int(int)>("cuDevicePrimaryCtxRelease_v2")),
        setContext(library.function<int(void*)>("cuCtxSetCurrent")),
        load(library.function<int(void**, const void*)>("cuModuleLoadData")),
        unload(library.function<int(void*)>("cuModuleUnload")),
        find(library.function<int(void**, void*, const char*)>("cuModuleGetFunction")),
        allocate(library.function<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")),
        free(library.function<int(std::uint64_t)>("cuMemFree_v2")),
        toDevice(library.function<int(std::uint64_t, const void*, std::size_t)>("cuMemcpyHtoD_v2")),
        toHost(library.function<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2")),
        launch(library.function<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                                    void**, void**)>("cuLaunchKernel")) {}
  bool whole() const {
    return init && version && count && name && totalMemory && retain && release && setContext && load && unload &&
           find && allocate && free && toDevice && toHost && launch;
  }

  int (*init)(unsigned);
  int (*version)(int*);
  int (*count)(int*);
  int (*name)(char*, int, int);
  int (*totalMemory)(std::size_t*, int);
  int (*retain)(void**, int);
  int (*release)(int);
  int (*setContext)(void*);
  int (*load)(void**, const void*);
  int (*unload)(void*);
  int (*find)(void**, void*, const char*);
  int (*allocate)(std::uint64_t*, std::size_t);
  int (*free)(std::uint64_t);
  int (*toDevice)(std::uint64_t, const void*, std::size_t);
  int (*toHost)(void*, std::uint64_t, std::size_t);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
};

// What is wrong with what a GPU computes; empty where all of it is right.
std::string faultOf(const Driver& driver, int device) {
  constexpr std::uint32_t kCount = 1 << 20;
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  std::uint64_t memory = 0;
  std::vector<std::uint32_t> values(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) values[i] = i * 2654435761u;
  const auto right = [&] {
    std::uint32_t count = kCount;
    void* arguments[] = {&memory, &count};
    return driver.setContext(context) == 0 && driver.load(&module, kKernel) == 0 &&
           driver.find(&kernel, module, "probe") == 0 && driver.allocate(&memory, kCount * 4) == 0 &&
           driver.toDevice(memory, values.data(), kCount * 4) == 0 &&
           driver.launch(kernel, kCount / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr) == 0 &&
           driver.toHost(values.data(), memory, kCount * 4) == 0;
  };
  std::string fault;
  if (driver.retain(&context, device) != 0)
    return "it cannot be opened; `nvidia-smi` tells whether another process holds it";
  if (!right()) fault = "it does not compute; see `nvidia-smi` and `dmesg | grep -i xid`";
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; fault.empty() && i < kCount; ++i) wrong += values[i] != i * 2654435761u * 3 + 7;
  if (wrong > 0)
    fault = fmt::format("{} of {} sums are wrong: take it out of service; see `dmesg | grep -i xid`", wrong, kCount);
  if (memory) driver.free(memory);
  if (module) driver.unload(module);
  driver.release(device);
  return fault;
}

void addGpus(std::vector<Finding>& findings) {
  const Library library{"libcuda.so.1"};
  if (!library) {
    findings.push_back({"cuda driver", "not found", {}});
    return;
  }
  const Driver driver(library);
  int version = 0, count = 0;
  if (!driver.whole() || driver.init(0) != 0 || driver.version(&version) != 0 || driver.count(&count) != 0) {
    findings.push_back({"cuda driver", "found, but it does not start",
                        "`nvidia-smi` says why; after an update of the driver the machine wants a restart"});
    return;
  }
  findings.push_back(
      {"cuda driver",
       fmt::format("CUDA {}.{}, {} GPU{}", version / 1000, version % 1000 / 10, count, count == 1 ? "" : "s"),
       {}});
  for (int device = 0; device < count; ++device) {
    std::array<char, 128> name{};
    std::size_t bytes = 0;
    driver.name(name.data(), static_cast<int>(name.size()) - 1, device);
    driver.totalMemory(&bytes, device);
    findings.push_back({fmt::format("gpu {}", device),
                        fmt::format("{}, {:.0f} GB", name.data(), static_cast<double>(bytes) / 1073741824.0),
                        faultOf(driver, device)});
  }
}

}  // namespace

std::vector<Finding> examineLibraries() {
  std::vector<Finding> findings;
  addGpus(findings);
  const Library cudnn{"libcudnn.so.9", "libcudnn.so.8"}, nccl{"libnccl.so.2"},
      mpi{"libmpi.so.40", "libmpi.so.12", "libmpi.so"};
  const auto add = [&findings](const char* key, const Library& library, const std::string& version) {
    findings.push_back({key, !library ? "not found" : version.empty() ? library.name() : version, {}});
  };
  auto* const cudnnVersion = cudnn.function<std::size_t()>("cudnnGetVersion");
  add("cudnn", cudnn, cudnnVersion ? fmt::format("{}", cudnnVersion()) : "");
  int version = 0;
  auto* const ncclVersion = nccl.function<int(int*)>("ncclGetVersion");
  const bool known = ncclVersion && ncclVersion(&version) == 0;
  add("nccl", nccl, known ? fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100) : "");
  // MPI may be asked for its version before it is begun (MPI 3.1, 8.7.1); MPICH answers with up to 8192 characters.
  std::string text(8192, '\0');
  int length = 0;
  auto* const mpiVersion = mpi.function<int(char*, int*)>("MPI_Get_library_version");
  if (!mpiVersion || mpiVersion(text.data(), &length) != 0) text.clear();
  add("mpi", mpi, text.substr(0, text.find_first_of(std::string_view(",\n\0", 3))));
  return findings;
}

}  // namespace loom
