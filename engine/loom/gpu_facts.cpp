// Asked through the system's loader, as a run would find it: the program is linked with none of it.
#include "engine/loom/gpu_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "engine/base/error.h"
#include "engine/cuda/module_device.h"
#include "engine/loom/near_cores.h"
#include "engine/loom/shared_library.h"

namespace loom {
namespace {

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
  explicit Driver(const SharedLibrary& library)
      : init(library.function<int(unsigned)>("cuInit")),
        version(library.function<int(int*)>("cuDriverGetVersion")),
        count(library.function<int(int*)>("cuDeviceGetCount")),
        name(library.function<int(char*, int, int)>("cuDeviceGetName")),
        busId(library.function<int(char*, int, int)>("cuDeviceGetPCIBusId")),
        attribute(library.function<int(int*, int, int)>("cuDeviceGetAttribute")),
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
                                    void**, void**)>("cuLaunchKernel")),
        errorName(library.function<int(int, const char**)>("cuGetErrorName")) {}
  bool whole() const {
    return init && version && count && name && busId && attribute && totalMemory && retain && release && setContext &&
           load && unload && find && allocate && free && toDevice && toHost && launch;
  }

  // " (CUDA_ERROR_OUT_OF_MEMORY)"; empty where the driver has no name for it.
  std::string nameOf(int code) const {
    const char* name = nullptr;
    return errorName != nullptr && errorName(code, &name) == 0 && name != nullptr ? fmt::format(" ({})", name) : "";
  }

  int (*init)(unsigned);
  int (*version)(int*);
  int (*count)(int*);
  int (*name)(char*, int, int);
  int (*busId)(char*, int, int);
  int (*attribute)(int*, int, int);
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
  int (*errorName)(int, const char**);
};

// What is wrong with what a GPU computes; empty where all of it is right.
std::string faultOf(const Driver& driver, int device) {
  constexpr std::uint32_t kCount = 1 << 20;
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  std::uint64_t memory = 0;
  std::vector<std::uint32_t> values(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) values[i] = i * 2654435761u;
  const char* failed = "";
  int answer = 0;
  const auto is = [&](const char* call, int code) {
    failed = call;
    answer = code;
    return code == 0;
  };
  const auto right = [&] {
    std::uint32_t count = kCount;
    void* arguments[] = {&memory, &count};
    return is("cuCtxSetCurrent", driver.setContext(context)) && is("cuModuleLoadData", driver.load(&module, kKernel)) &&
           is("cuModuleGetFunction", driver.find(&kernel, module, "probe")) &&
           is("cuMemAlloc of 4 MiB", driver.allocate(&memory, kCount * 4)) &&
           is("cuMemcpyHtoD", driver.toDevice(memory, values.data(), kCount * 4)) &&
           is("cuLaunchKernel", driver.launch(kernel, kCount / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr)) &&
           is("cuMemcpyDtoH", driver.toHost(values.data(), memory, kCount * 4));
  };
  std::string fault;
  if (driver.retain(&context, device) != 0)
    return "it cannot be opened; `nvidia-smi` tells whether another process holds it";
  if (!right())
    fault = fmt::format("it does not compute: {} answers {}{}; see `nvidia-smi` and `dmesg | grep -i xid`", failed,
                        answer, driver.nameOf(answer));
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; fault.empty() && i < kCount; ++i) wrong += values[i] != i * 2654435761u * 3 + 7;
  if (wrong > 0)
    fault = fmt::format("{} of {} sums are wrong: take it out of service; see `dmesg | grep -i xid`", wrong, kCount);
  if (memory) driver.free(memory);
  if (module) driver.unload(module);
  driver.setContext(nullptr);  // it is gone with the next line
  driver.release(device);
  return fault;
}

std::string firstWord(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

GpuFacts::Gpu gpuOf(const Driver& driver, int device) {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
  std::array<char, 128> name{}, bus{};
  std::size_t bytes = 0;
  int major = 0, minor = 0;
  driver.name(name.data(), static_cast<int>(name.size()) - 1, device);
  driver.busId(bus.data(), static_cast<int>(bus.size()) - 1, device);
  driver.totalMemory(&bytes, device);
  driver.attribute(&major, kMajor, device);
  driver.attribute(&minor, kMinor, device);
  const std::set<int> allowed = allowedCores();
  const NearCores near = coresNear(bus.data(), allowed);
  return {.name = name.data(),
          .bytes = static_cast<double>(bytes),
          .capability = 10 * major + minor,
          .pci = bus.data(),
          .cores = near.cores == allowed ? std::string() : listOfCores(near.cores),
          .fault = faultOf(driver, device)};
}

void lookAtDriver(GpuFacts& facts) {
  const SharedLibrary library{"libcuda.so.1"};
  facts.driver = static_cast<bool>(library);
  if (!library) return;
  const Driver driver(library);
  int count = 0;
  constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
  if (!driver.whole()) return;
  const int begun = driver.init(0);
  facts.driverStarts = (begun == 0 || begun == kNoDevice) && driver.version(&facts.driverVersion) == 0;
  if (begun != 0 || driver.count(&count) != 0) return;
  for (int device = 0; device < count; ++device) facts.gpus.push_back(gpuOf(driver, device));
}

void lookAtModule(GpuFacts& facts) {
  facts.modulePath = cuda::cudaModule().string();
  facts.moduleThere = std::filesystem::exists(facts.modulePath);
  if (!facts.moduleThere) return;
  if (::dlopen(facts.modulePath.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    facts.moduleFault = ::dlerror();
    return;
  }
  try {
    facts.moduleLibraries = cuda::cudaLibraries();
  } catch (const Error& error) {
    facts.moduleFault = error.message();
  }
}

void lookAtCudnn(GpuFacts& facts) {
  const SharedLibrary cudnn{"libcudnn.so.9", "libcudnn.so.8"};
  auto* const asked = cudnn.function<std::size_t()>("cudnnGetVersion");
  if (!asked) return;
  const std::size_t version = asked(), major = version >= 10000 ? 10000 : 1000;  // 91900, and 8907 before 9
  facts.cudnnMajor = static_cast<int>(version / major);
  facts.cudnnVersion = fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

}  // namespace

int gpusOnBus(const std::filesystem::path& sysfs) {
  int count = 0;
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator(sysfs / "bus/pci/devices", none))
    count += firstWord(device.path() / "vendor") == "0x10de" && firstWord(device.path() / "class").starts_with("0x03");
  return count;
}

GpuFacts gpuFacts() {
  GpuFacts facts;
  facts.onBus = gpusOnBus();
  facts.driverRelease = firstWord("/sys/module/nvidia/version");
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) facts.visible = *visible ? visible : "empty";
  lookAtDriver(facts);
  lookAtModule(facts);
  lookAtCudnn(facts);
  return facts;
}

}  // namespace loom
