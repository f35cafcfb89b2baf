#pragma once
#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace loom {

// A library as the system's loader finds it, the first of several names. Stays loaded to the end of the program: MPI
// and CUDA are not made to be unloaded. Open MPI 5 then loses what it keeps in its own variables, which a leak checker
// reports without being able to name the library.
class SharedLibrary {
 public:
  SharedLibrary(std::initializer_list<const char*> names) {
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

}  // namespace loom
