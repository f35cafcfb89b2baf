#pragma once
// The buffers of a program that is being compiled: how large each is, while which of its operations it is in use, and
// where it stands at last. Lowerings ask for them; time is the index of the operation being lowered. Nothing here
// follows an address, so any machine's memory will do.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/program/layout.h"
#include "engine/program/program.h"

namespace loom {

// Where a buffer will stand once memory is laid out: read through one indirection.
template <class T>
struct Ref {
  std::byte* const* slot = nullptr;
  std::int64_t offset = 0;  // elements

  explicit operator bool() const { return slot != nullptr; }
  T* get() const { return slot == nullptr ? nullptr : reinterpret_cast<T*>(*slot) + offset; }
  template <class U>
  Ref<U> as() const {
    return {slot, offset};
  }
  Ref at(std::int64_t elements) const { return {slot, offset + elements}; }
};

class BufferPlan {
 public:
  // One form in which a tensor's numbers stand.
  struct Version {
    Layout layout;
    DataType type = DataType::f32;
    int buffer = -1;
    std::size_t offset = 0;  // bytes within the buffer
  };

  // `alignment`: every buffer begins at a multiple of it, wherever memory does; a power of two.
  BufferPlan(const Program& program, std::size_t alignment)
      : m_program(program), m_alignment(alignment), m_versions(program.tensors.size()) {}
  BufferPlan(const BufferPlan&) = delete;
  BufferPlan& operator=(const BufferPlan&) = delete;

  int now() const { return m_now; }
  void setNow(int operation) { m_now = operation; }

  int make(std::size_t bytes);
  int external(std::byte* at);                  // memory that others own
  void enlarge(int buffer, std::size_t bytes);  // to at least this
  Ref<std::byte> use(int buffer);
  std::size_t bytes(int buffer) const { return m_buffers[static_cast<std::size_t>(buffer)].bytes; }
  // Its content is there before the first operation and after the last.
  void keep(int buffer);
  // Its content is wanted after the last operation: it is nobody else's from its first use on.
  void keepBehind(int buffer) { m_buffers[static_cast<std::size_t>(buffer)].lasting = true; }

  // Of a tensor; the first is the one that was written.
  std::vector<Version>& versions(TensorId id) { return m_versions[static_cast<std::size_t>(id)]; }
  const std::vector<Version>& versions(TensorId id) const { return m_versions[static_cast<std::size_t>(id)]; }
  // Null where the tensor does not stand in this form.
  const Version* find(TensorId id, const Layout& layout, DataType type) const;
  // The layout in which it was written. Throws Error(internal) where it is not yet.
  const Layout& layoutOf(TensorId id) const;

  // The output may take the input's place, in whatever form the input stands in the output's layout and type, when the
  // operation being lowered is the last to read it.
  void mayOverwrite(TensorId output, TensorId input);
  // Memory that one operation leaves for another, found again under its name.
  int shared(const std::string& key, std::size_t bytes);
  bool hasShared(const std::string& key) const { return m_shared.count(key) != 0; }

  // All that was asked for so far. What is asked for afterwards can be taken back, as if nobody had.
  struct Mark {
    std::size_t buffers = 0, overwrites = 0;
    std::vector<std::vector<Version>> versions;
    std::map<std::string, int> shared;
  };
  Mark mark() const { return {m_buffers.size(), m_overwrites.size(), m_versions, m_shared}; }
  void takeBack(Mark mark);
  // Lends a buffer memory before it is placed; null ends that.
  void lend(std::byte* const* slot, std::byte* at);

  struct Extent {
    std::size_t shared = 0, lasting = 0;  // bytes: during a step alone, and from step to step
  };
  // How much that is, once everything has been asked for.
  Extent layOut();
  // Places everything: `allocate` answers where what lives during a step alone begins, and what stays. Refs hold from
  // now on, as long as the plan.
  using Allocate = std::function<std::pair<std::byte*, std::byte*>(const Extent&)>;
  Extent finish(const Allocate& allocate);

 private:
  struct Buffer {
    std::size_t bytes = 0;
    int first = -1, last = -1;
    std::byte* external = nullptr;
    bool lasting = false;
    int mergedInto = -1;
    std::size_t offset = 0;  // where it begins in what is shared or lasting
    std::byte* address = nullptr;
  };
  Buffer& at(int buffer) { return m_buffers[static_cast<std::size_t>(buffer)]; }
  int root(int buffer) const;
  void merge();
  bool isPlaced(const Buffer& buffer) const {
    return buffer.external == nullptr && buffer.mergedInto < 0 && buffer.bytes != 0 && buffer.first >= 0;
  }

  const Program& m_program;
  std::size_t m_alignment;
  int m_now = 0;
  std::deque<Buffer> m_buffers;
  std::vector<std::vector<Version>> m_versions;   // by tensor
  std::vector<std::pair<int, int>> m_overwrites;  // output buffer, input buffer
  std::map<std::string, int> m_shared;
};

}  // namespace loom
